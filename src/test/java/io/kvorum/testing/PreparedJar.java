package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.springframework.util.FileSystemUtils;

/**
 * The jar as most nodes of tests run it: extracted, with an AOT cache of the JVM, as
 * {@code src/main/scripts/aot-cache} makes it, which takes more than half of the work off
 * a start. The first test that starts a node has it made, in {@code target/it-jar}; it is
 * made again for another jar or JDK. Where it cannot be made, or the JVM does not take
 * it, nodes run the jar itself, and one line says so. Who has one of the same classes
 * already names its directory: {@code -Dkvorum.it.prepared=<directory>}.
 */
final class PreparedJar {

	private static final Path JAR = Path.of("target", "kvorum.jar").toAbsolutePath();

	private static final Path HOME = Path.of("target", "it-jar").toAbsolutePath();

	/** It is the JVM that makes the cache, when the node ends. */
	private static final Duration DEADLINE = Duration.ofMinutes(5);

	/** Nodes of tests run without the compiler that would use profiles. */
	private static final int REQUESTS = 200;

	/** Made by whoever asks first. */
	private static final class Made {

		static final List<String> OPTIONS = optionsOrThoseOfTheJar();

	}

	private PreparedJar() {
	}

	/** Options of a JVM that runs the prepared jar. */
	static List<String> options() {
		return Made.OPTIONS;
	}

	/** Options of a JVM that runs the jar as users do. */
	static List<String> optionsOfTheJar() {
		return List.of("-jar", JAR.toString());
	}

	private static List<String> optionsOrThoseOfTheJar() {
		try {
			return prepare();
		}
		catch (IOException | UncheckedIOException ex) {
			System.out.printf("Nodes run %s itself, which takes twice the time, since it could not be prepared: %s%n",
					JAR, ex);
			return optionsOfTheJar();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static List<String> prepare() throws IOException, InterruptedException {
		String given = System.getProperty("kvorum.it.prepared");
		if (given == null) {
			return options(make(), "-jar");
		}
		Path prepared = Path.of(given).toAbsolutePath();
		requireTaken(prepared);
		return options(prepared, "-jar");
	}

	private static Path make() throws IOException, InterruptedException {
		Files.createDirectories(HOME.getParent());
		try (FileChannel file = FileChannel.open(HOME.resolveSibling("it-jar.lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock _ = file.lock()) {
			Path prepared = HOME.resolve("%s-%x-%x".formatted(Runtime.version(), Files.size(JAR),
					Files.getLastModifiedTime(JAR).toMillis()));
			if (!Files.exists(prepared)) {
				FileSystemUtils.deleteRecursively(HOME);
				run(Map.of("JAVA_HOME", System.getProperty("java.home"), "JAVA_OPTIONS", String.join(" ", NodeSpec.JVM),
						"AOT_REQUESTS", String.valueOf(REQUESTS)),
						List.of("src/main/scripts/aot-cache", prepared.toString()));
			}
			try {
				requireTaken(prepared);
			}
			catch (IOException ex) {
				FileSystemUtils.deleteRecursively(prepared);
				throw ex;
			}
			return prepared;
		}
	}

	private static List<String> options(Path prepared, String jarOption) {
		return List.of("-XX:AOTCache=" + prepared.resolve("kvorum.aot"), jarOption,
				prepared.resolve(JAR.getFileName()).toString());
	}

	/**
	 * A JVM that is not told to insist goes on without a cache that it does not like;
	 * such a one is of another JVM or machine, or was made with other options.
	 */
	private static void requireTaken(Path prepared) throws IOException, InterruptedException {
		List<String> trial = new ArrayList<>(List.of(NodeSpec.JAVA, "-XX:AOTMode=on"));
		trial.addAll(NodeSpec.JVM);
		trial.addAll(options(prepared, "-cp"));
		trial.add("-version");
		run(Map.of(), trial);
	}

	private static void run(Map<String, String> environment, List<String> command)
			throws IOException, InterruptedException {
		Path output = HOME.resolveSibling("it-jar.log");
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
		builder.environment().putAll(environment);
		Process process = builder.start();
		if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
			process.descendants().forEach(ProcessHandle::destroyForcibly);
			process.destroyForcibly();
			throw new IOException("%s has not ended after %s".formatted(command, DEADLINE));
		}
		if (process.exitValue() != 0) {
			throw new IOException(
					"%s ended with %d: %s".formatted(command, process.exitValue(), Files.readString(output)));
		}
	}

}
