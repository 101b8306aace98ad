package io.kvorum.test;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class NodeJarTests {

	private final @Nullable String before = System.getProperty(NodeJar.PROPERTY);

	@TempDir
	private Path directory = Path.of("");

	@BeforeEach
	void forgetProperty() {
		System.clearProperty(NodeJar.PROPERTY);
	}

	@AfterEach
	void restoreProperty() {
		if (this.before != null) {
			System.setProperty(NodeJar.PROPERTY, this.before);
		}
		else {
			System.clearProperty(NodeJar.PROPERTY);
		}
	}

	@Test
	void theBuilderWinsThenThePropertyThenTheVariableThenTheClassPath() throws IOException {
		Path chosen = jar("chosen.jar", "any.Class");
		Path ofProperty = jar("property.jar", "any.Class");
		Path ofVariable = jar("variable.jar", "any.Class");
		Path onClassPath = jar("a name with spaces.jar", "io.kvorum.app.KvorumApplication");
		Map<String, String> environment = Map.of(NodeJar.VARIABLE, ofVariable.toString());
		try (URLClassLoader classPath = classPath(jar("other.jar", "com.example.Application"), onClassPath)) {
			System.setProperty(NodeJar.PROPERTY, ofProperty.toString());
			assertThat(NodeJar.find(chosen, environment::get, classPath)).isEqualTo(chosen);
			assertThat(NodeJar.find(null, environment::get, classPath)).isEqualTo(ofProperty);
			System.clearProperty(NodeJar.PROPERTY);
			assertThat(NodeJar.find(null, environment::get, classPath)).isEqualTo(ofVariable);
			assertThat(NodeJar.find(null, (name) -> null, classPath)).isEqualTo(onClassPath);
		}
	}

	@Test
	void aNamedJarThatIsMissingIsAnErrorThoughAnotherOneIsThere() throws IOException {
		try (URLClassLoader classPath = classPath(jar("kvorum.jar", "io.kvorum.app.KvorumApplication"))) {
			System.setProperty(NodeJar.PROPERTY, this.directory.resolve("missing.jar").toString());
			assertThatIllegalStateException().isThrownBy(() -> NodeJar.find(null, (name) -> null, classPath))
				.withMessageContaining("missing.jar")
				.withMessageContaining("system property " + NodeJar.PROPERTY);
		}
	}

	@Test
	void withoutAJarTheErrorSaysWhatWasTriedAndWhatToDo() throws IOException {
		try (URLClassLoader classPath = classPath(jar("other.jar", "com.example.Application"))) {
			assertThatIllegalStateException().isThrownBy(() -> NodeJar.find(null, (name) -> null, classPath))
				.withMessageContainingAll("jar(…)", NodeJar.PROPERTY, NodeJar.VARIABLE, "1 jars", "io.kvorum:kvorum");
		}
	}

	private Path jar(String name, String startClass) throws IOException {
		Manifest manifest = new Manifest();
		manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
		manifest.getMainAttributes().putValue("Start-Class", startClass);
		Path jar = this.directory.resolve(name).toAbsolutePath().normalize();
		new JarOutputStream(Files.newOutputStream(jar), manifest).close();
		return jar;
	}

	private static URLClassLoader classPath(Path... jars) throws IOException {
		URL[] urls = new URL[jars.length];
		for (int i = 0; i < jars.length; i++) {
			urls[i] = jars[i].toUri().toURL();
		}
		return new URLClassLoader(urls, null);
	}

}
