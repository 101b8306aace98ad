package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.util.FileSystemUtils;

/**
 * The jar as most nodes of tests run it: extracted, with an AOT cache of the JVM (JEP
 * 483, 514, 515), which takes more than half of the work off a start. The first test that
 * starts a node makes it, in {@code target/it-jar}, from a node that works together with
 * another one for a moment. It is made again for another jar or JDK. Where it cannot be
 * made, or the JVM does not take it, nodes run the jar itself, and one line says so.
 */
final class PreparedJar {

	private static final Path JAR = Path.of(System.getProperty("kvorum.it.jar", "target/kvorum.jar"));

	private static final Path HOME = Path.of("target", "it-jar").toAbsolutePath();

	private static final Duration SERVES_DEADLINE = Duration.ofMinutes(1);

	/** It is the JVM that makes the cache, when the node ends. */
	private static final Duration END_DEADLINE = Duration.ofMinutes(5);

	private static final int REQUESTS = 100;

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
		catch (IOException | UncheckedIOException | AssertionError ex) {
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
		Files.createDirectories(HOME.getParent());
		Path lockFile = HOME.resolveSibling("it-jar.lock");
		try (FileChannel file = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				FileLock _ = file.lock()) {
			Path prepared = HOME.resolve("%s-%x-%x".formatted(Runtime.version(), Files.size(JAR),
					Files.getLastModifiedTime(JAR).toMillis()));
			if (!Files.exists(prepared)) {
				FileSystemUtils.deleteRecursively(HOME);
				Path unfinished = HOME.resolve("unfinished");
				make(unfinished);
				Files.move(unfinished, prepared, StandardCopyOption.ATOMIC_MOVE);
			}
			removeUnlessTaken(prepared);
			return Stream.concat(Stream.of(cacheOption("AOTCache", prepared)), jarOptions(prepared).stream()).toList();
		}
	}

	private static void make(Path directory) throws IOException, InterruptedException {
		run(NodeSpec.JAVA, "-Djarmode=tools", "-jar", JAR.toString(), "extract", "--destination", directory.toString());
		Path training = HOME.resolve("training");
		train(directory, training);
		FileSystemUtils.deleteRecursively(training);
	}

	private static void train(Path directory, Path training) throws InterruptedException {
		List<String> addresses = Stream.generate(() -> "http://127.0.0.1:" + Ports.free()).limit(2).toList();
		try (NodeProcess node = launch("node", addresses.getFirst(), addresses, training,
				Stream.concat(Stream.of(cacheOption("AOTCacheOutput", directory)), jarOptions(directory).stream())
					.toList());
				NodeProcess peer = launch("peer", addresses.getLast(), addresses, training, jarOptions(directory))) {
			node.awaitReady();
			peer.awaitReady();
			work(node);
			node.terminate();
			if (!node.exitsWithin(END_DEADLINE) || !Files.exists(cacheOf(directory))) {
				throw new AssertionError("The JVM has made no cache. " + node.logTail());
			}
		}
	}

	private static NodeProcess launch(String name, String self, List<String> addresses, Path training,
			List<String> program) {
		NodeSpec spec = NodeSpec.running(program, training.resolve(name))
			.with("kvorum.cluster.self=" + self, "kvorum.cluster.nodes=" + String.join(",", addresses));
		return NodeProcess.launch(spec, NodeLog.createFile(training, name + ".log"));
	}

	private static void work(NodeProcess node) throws InterruptedException {
		KvorumClient client = node.client();
		Poll.until(() -> "two nodes serve", SERVES_DEADLINE, () -> client.put("key", "value").status() == 201);
		for (int i = 0; i < REQUESTS; i++) {
			client.put("key " + i, "value");
			client.get("key " + i);
			client.get("absent " + i);
			client.delete("key " + i);
		}
		RangeRequest.below("key").read(node.port());
		client.exchange("GET", "/actuator/health");
		client.exchange("GET", "/actuator/prometheus");
	}

	/**
	 * A JVM that is not told to insist goes on without a cache that it does not like;
	 * such a one is of another JVM or machine, and made again by the next tests.
	 */
	private static void removeUnlessTaken(Path directory) throws IOException, InterruptedException {
		List<String> trial = new ArrayList<>(List.of(NodeSpec.JAVA));
		trial.addAll(NodeSpec.JVM);
		trial.addAll(List.of("-XX:AOTMode=on", cacheOption("AOTCache", directory), "-cp", jarIn(directory).toString(),
				"-version"));
		try {
			run(trial.toArray(String[]::new));
		}
		catch (IOException ex) {
			FileSystemUtils.deleteRecursively(directory);
			throw ex;
		}
	}

	private static void run(String... command) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		int code = process.waitFor();
		if (code != 0) {
			throw new IOException("%s ended with %d: %s".formatted(List.of(command), code, said));
		}
	}

	private static String cacheOption(String name, Path directory) {
		return "-XX:" + name + "=" + cacheOf(directory);
	}

	private static Path cacheOf(Path directory) {
		return directory.resolve("kvorum.aot");
	}

	private static List<String> jarOptions(Path directory) {
		return List.of("-jar", jarIn(directory).toString());
	}

	private static Path jarIn(Path directory) {
		return directory.resolve(JAR.getFileName());
	}

}
