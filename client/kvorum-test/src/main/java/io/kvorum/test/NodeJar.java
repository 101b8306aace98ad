package io.kvorum.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.jar.Manifest;

import org.jspecify.annotations.Nullable;

/** Finds the executable jar of Kvorum. */
final class NodeJar {

	static final String PROPERTY = "kvorum.test.jar";

	static final String VARIABLE = "KVORUM_TEST_JAR";

	private static final String START_CLASS = "io.kvorum.app.KvorumApplication";

	private NodeJar() {
	}

	/**
	 * Returns the first jar that is named. A jar that is named and missing is an error:
	 * the tests must not run with another one unnoticed.
	 * @param chosen by the builder
	 * @param environment returns null for a variable that is not set
	 */
	static Path find(@Nullable Path chosen, UnaryOperator<@Nullable String> environment, ClassLoader classPath) {
		if (chosen != null) {
			return existing(chosen, "jar(…)");
		}
		String property = System.getProperty(PROPERTY);
		if (property != null && !property.isBlank()) {
			return existing(Path.of(property), "the system property " + PROPERTY);
		}
		String variable = environment.apply(VARIABLE);
		if (variable != null && !variable.isBlank()) {
			return existing(Path.of(variable), "the environment variable " + VARIABLE);
		}
		return onClassPath(classPath);
	}

	private static Path existing(Path jar, String source) {
		if (!Files.isRegularFile(jar)) {
			throw new IllegalStateException("""
					There is no jar %s, which %s names. \
					Build it with "mvn package -DskipTests" in the repository of Kvorum, or name another one."""
				.formatted(jar.toAbsolutePath().normalize(), source));
		}
		return jar.toAbsolutePath().normalize();
	}

	private static Path onClassPath(ClassLoader classPath) {
		try {
			List<URL> manifests = Collections.list(classPath.getResources("META-INF/MANIFEST.MF"));
			for (URL manifest : manifests) {
				Path jar = executable(manifest);
				if (jar != null) {
					return jar;
				}
			}
			throw new IllegalStateException("""
					There is no executable jar of Kvorum. These were tried, in this order: \
					jar(…) of the builder (not called), \
					the system property %s (not set), \
					the environment variable %s (not set), \
					the class path (none of its %d jars has "Start-Class: %s" in its manifest). \
					Name the jar in one of the first three ways, or add io.kvorum:kvorum to the dependencies with the \
					scope "test".""".formatted(PROPERTY, VARIABLE, manifests.size(), START_CLASS));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static @Nullable Path executable(URL manifest) throws IOException {
		URLConnection connection = manifest.openConnection();
		// A cached jar stays open in this JVM, and on Windows it could not be replaced.
		connection.setUseCaches(false);
		if (!(connection instanceof JarURLConnection jar)) {
			return null;
		}
		try (InputStream content = jar.getInputStream()) {
			String startClass = new Manifest(content).getMainAttributes().getValue("Start-Class");
			return START_CLASS.equals(startClass) ? Path.of(jar.getJarFileURL().toURI()) : null;
		}
		catch (URISyntaxException ex) {
			throw new IOException(ex);
		}
	}

}
