package io.kvorum.test;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** Finds a {@code java} that is new enough for a node. */
final class NodeJava {

	/** Of a program that is asked for its version. */
	private static final Duration TELL_TIMEOUT = Duration.ofSeconds(20);

	static final int NEEDED = 25;

	static final String PROPERTY = "kvorum.test.java";

	static final String VARIABLE = "KVORUM_TEST_JAVA_HOME";

	private static final Path INSTALLED = Path.of("/usr/lib/jvm");

	/**
	 * {@code JAVA_HOME_25_X64} is what GitHub's runners call the home of their JDK 25.
	 */
	private static final Pattern VERSIONED_HOME = Pattern.compile("JAVA_HOME_(\\d{1,3})(_\\w+)?");

	/** Of the file {@code release} in a JDK, and of what {@code java -version} prints. */
	private static final Pattern VERSION = Pattern.compile("(?:JAVA_VERSION=| version )\"(\\d{1,3})");

	private final Map<String, String> environment;

	private final Path installed;

	private final List<String> tried = new ArrayList<>();

	private NodeJava(Map<String, String> environment, Path installed) {
		this.environment = environment;
		this.installed = installed;
	}

	/**
	 * Returns the first {@code java} of version 25 or later. One that is named for the
	 * tests and does not fit is an error.
	 * @param chosen by the builder: an executable or the home of a JDK
	 */
	static Path find(@Nullable Path chosen) {
		return find(chosen, System.getenv(), INSTALLED);
	}

	static Path find(@Nullable Path chosen, Map<String, String> environment, Path installed) {
		return new NodeJava(environment, installed).find(chosen, System.getProperty(PROPERTY));
	}

	private Path find(@Nullable Path chosen, @Nullable String property) {
		if (chosen != null) {
			return fitting(chosen, "java(…)");
		}
		if (property != null && !property.isBlank()) {
			return fitting(Path.of(property), "the system property " + PROPERTY);
		}
		String home = this.environment.get(VARIABLE);
		if (home != null && !home.isBlank()) {
			return fitting(Path.of(home), "the environment variable " + VARIABLE);
		}
		for (Candidate candidate : candidates()) {
			Path java = tryOut(candidate);
			if (java != null) {
				return java;
			}
		}
		throw new IllegalStateException(
				"There is no Java %d or later, which a Kvorum node needs. Tried: %s. Install a JDK %d, or name one with java(…), the system property %s or the environment variable %s"
					.formatted(NEEDED, String.join(", ", this.tried), NEEDED, PROPERTY, VARIABLE));
	}

	private Path fitting(Path named, String source) {
		Path java = tryOut(new Candidate(source, named));
		if (java == null) {
			throw new IllegalStateException("A Kvorum node needs Java %d or later, and %s names none: %s"
				.formatted(NEEDED, source, String.join(", ", this.tried)));
		}
		return java;
	}

	/** Where a {@code java} may be; the best places first. */
	private List<Candidate> candidates() {
		List<Candidate> candidates = new ArrayList<>();
		new TreeMap<>(this.environment).forEach((name, home) -> {
			Matcher matcher = VERSIONED_HOME.matcher(name);
			if (matcher.matches() && Integer.parseInt(matcher.group(1)) >= NEEDED) {
				candidates.add(new Candidate(name, Path.of(home)));
			}
		});
		candidates.add(new Candidate("the JVM of the tests", Path.of(System.getProperty("java.home"))));
		String home = this.environment.getOrDefault("JAVA_HOME", "");
		if (!home.isBlank()) {
			candidates.add(new Candidate("JAVA_HOME", Path.of(home)));
		}
		for (String directory : this.environment.getOrDefault("PATH", "")
			.split(Pattern.quote(File.pathSeparator), -1)) {
			Path java = Path.of(directory, executableName());
			if (!directory.isBlank() && Files.isExecutable(java)) {
				candidates.add(new Candidate("the PATH", java));
			}
		}
		candidates.addAll(installed());
		return candidates;
	}

	private List<Candidate> installed() {
		if (!Files.isDirectory(this.installed)) {
			return List.of();
		}
		try (Stream<Path> homes = Files.list(this.installed)) {
			return homes.sorted().map((home) -> new Candidate(this.installed.toString(), home)).toList();
		}
		catch (IOException ex) {
			this.tried.add("%s (%s)".formatted(this.installed, ex));
			return List.of();
		}
	}

	private @Nullable Path tryOut(Candidate candidate) {
		Path java = Files.isDirectory(candidate.path) ? candidate.path.resolve("bin").resolve(executableName())
				: candidate.path;
		if (!Files.isExecutable(java)) {
			this.tried.add("%s (%s: no executable)".formatted(candidate.source, java));
			return null;
		}
		String misfit;
		try {
			int version = versionOf(java);
			if (version >= NEEDED) {
				return java.toAbsolutePath();
			}
			misfit = (version == 0) ? "does not say its version" : "version " + version;
		}
		catch (IOException ex) {
			misfit = "cannot be asked for its version: " + ex.getMessage();
		}
		this.tried.add("%s (%s: %s)".formatted(candidate.source, java, misfit));
		return null;
	}

	/** The version, or 0 if it is not said. */
	private static int versionOf(Path java) throws IOException {
		Path release = java.toRealPath().resolveSibling("../release").normalize();
		// Reading a file is much faster than starting a JVM, and most JDKs have this
		// file.
		int version = Files.isRegularFile(release) ? versionIn(Files.readString(release)) : 0;
		return (version != 0) ? version : toldBy(java);
	}

	private static int toldBy(Path java) throws IOException {
		Process process = new ProcessBuilder(java.toString(), "-version").redirectErrorStream(true).start();
		// What is no java may wait for input, or do something else for ever.
		process.getOutputStream().close();
		// Not if it has ended: to destroy a process also closes its output, which may not
		// be read yet.
		CompletableFuture<Process> unused = process.onExit()
			.orTimeout(TELL_TIMEOUT.toSeconds(), TimeUnit.SECONDS)
			.exceptionally((late) -> process.destroyForcibly());
		return versionIn(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
	}

	private static int versionIn(String text) {
		Matcher matcher = VERSION.matcher(text);
		return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
	}

	private static String executableName() {
		return Child.isWindows() ? "java.exe" : "java";
	}

	/**
	 * A place to look at.
	 *
	 * @param path an executable, or the home of a JDK
	 */
	private record Candidate(String source, Path path) {
	}

}
