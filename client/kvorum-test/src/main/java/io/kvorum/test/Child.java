package io.kvorum.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A child process that does not outlive this JVM. A shutdown hook kills it. Where there
 * is a shell, a guard also kills it after a SIGKILL of this JVM: the guard reads from a
 * pipe that the kernel closes with this JVM.
 */
final class Child {

	/**
	 * Prefixes of the variables that Spring Boot would read as properties of the node, or
	 * its JVM as options: one with a port serves a single process.
	 */
	private static final List<String> FOREIGN = List.of("KVORUM_", "SPRING_", "SERVER_", "MANAGEMENT_", "LOGGING_",
			"DEBUG", "TRACE", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

	private static final Duration SIGNAL_DEADLINE = Duration.ofSeconds(10);

	/** Guarded by itself. */
	private static final Set<Process> ALIVE = new HashSet<>();

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(Child::killAll, "kvorum-test-shutdown"));
	}

	private final Process process;

	private Child(Process process) {
		this.process = process;
	}

	/**
	 * Starts a process.
	 * @param directory where it runs
	 * @param log to which its output is appended
	 */
	static Child start(List<String> command, Path directory, Path log) {
		ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(Redirect.appendTo(log.toFile()));
		builder.environment().keySet().removeIf((name) -> FOREIGN.stream().anyMatch(name::startsWith));
		try {
			Process process = builder.start();
			synchronized (ALIVE) {
				ALIVE.add(process);
			}
			CompletableFuture<Process> unused = process.onExit().whenComplete((ended, failure) -> forget(process));
			guard(process);
			return new Child(process);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot start " + command, ex);
		}
	}

	private static void guard(Process process) {
		if (isWindows()) {
			return;
		}
		try {
			Process guard = new ProcessBuilder("sh", "-c", "read -r line; kill -KILL \"$1\"", "sh",
					Long.toString(process.pid()))
				.redirectOutput(Redirect.DISCARD)
				.redirectError(Redirect.DISCARD)
				.start();
			// The process id may soon be that of another process.
			CompletableFuture<Process> unused = process.onExit()
				.whenComplete((ended, failure) -> guard.destroyForcibly());
		}
		catch (IOException ex) {
			// Without a shell the shutdown hook alone has to do.
			System.err.println("kvorum-test: nodes may outlive a SIGKILL of this JVM: " + ex);
		}
	}

	private static void forget(Process process) {
		synchronized (ALIVE) {
			ALIVE.remove(process);
		}
	}

	private static void killAll() {
		synchronized (ALIVE) {
			ALIVE.forEach(Process::destroyForcibly);
		}
	}

	/**
	 * Runs once the process has ended, on a thread of its own: the action may wait, and
	 * must not keep a thread of the common pool from others.
	 */
	void onEnd(Runnable action) {
		CompletableFuture<Void> unused = this.process.onExit().thenRunAsync(action, (work) -> {
			Thread thread = new Thread(work, "kvorum-test-end-of-" + this.process.pid());
			thread.setDaemon(true);
			thread.start();
		});
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	int exitCode() {
		return this.process.exitValue();
	}

	/**
	 * SIGKILL; returns when the process is gone. An interrupt does not end that wait: a
	 * test that has run into its timeout has to leave no node behind.
	 */
	void kill() {
		this.process.destroyForcibly();
		boolean isInterrupted = false;
		while (this.process.isAlive()) {
			try {
				this.process.waitFor();
			}
			catch (InterruptedException ex) {
				isInterrupted = true;
			}
		}
		if (isInterrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/** SIGTERM. Windows has none, and ends the process at once. */
	void terminate() {
		this.process.destroy();
	}

	/** Waits for the end of the process, for this long at most. */
	boolean endsWithin(Duration time) {
		return endsWithin(this.process, time);
	}

	private static boolean endsWithin(Process process, Duration time) {
		try {
			return process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for process " + process.pid(), ex);
		}
	}

	/**
	 * Sends a signal.
	 * @param name of the signal, without {@code SIG}
	 */
	void signal(String name) {
		if (isWindows()) {
			throw new UnsupportedOperationException("Windows has no SIG" + name + ": a node cannot be paused there");
		}
		List<String> kill = List.of("kill", "-" + name, Long.toString(this.process.pid()));
		try {
			Process sent = new ProcessBuilder(kill).redirectOutput(Redirect.DISCARD)
				.redirectError(Redirect.DISCARD)
				.start();
			if (!endsWithin(sent, SIGNAL_DEADLINE) || sent.exitValue() != 0) {
				throw new IllegalStateException("\"%s\" has failed".formatted(String.join(" ", kill)));
			}
		}
		catch (IOException ex) {
			throw new UnsupportedOperationException(
					"This machine has no command \"kill\", by which a node is paused and resumed", ex);
		}
	}

	static boolean isWindows() {
		return System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows");
	}

}
