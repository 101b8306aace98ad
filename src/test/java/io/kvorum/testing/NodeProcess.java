package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One node: a process of its own, started as a user may start it. Whatever waits here
 * waits for an event (a line, an answer, an exit) and has a deadline that is far beyond
 * what a healthy node needs.
 */
public final class NodeProcess implements AutoCloseable {

	private static final Duration START_DEADLINE = Duration.ofMinutes(2);

	private static final Duration STOPPED_DEADLINE = Duration.ofSeconds(30);

	private static final Duration EXIT_DEADLINE = Duration.ofMinutes(1);

	private static final Pattern PORT = Pattern.compile("Netty started on port (\\d+)");

	private final NodeSpec spec;

	private final Process process;

	private final NodeLog log;

	private int port;

	private NodeProcess(NodeSpec spec, Process process, NodeLog log) {
		this.spec = spec;
		this.process = process;
		this.log = log;
	}

	/** Starts the process and does not wait: for nodes that are expected to refuse. */
	static NodeProcess launch(NodeSpec spec, Path logFile) {
		try {
			Process process = new ProcessBuilder(spec.command()).redirectErrorStream(true).start();
			return new NodeProcess(spec, process, NodeLog.of(process.getInputStream(), logFile));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits until readiness is UP; a process that ends before that fails at once. */
	public NodeProcess awaitReady() throws InterruptedException {
		if (!becomesReady()) {
			throw new AssertionError("The node did not become ready. " + this.log.tail());
		}
		return this;
	}

	/** Waits until it answers, ready or not. */
	NodeProcess awaitAnswers() throws InterruptedException {
		if (!answers()) {
			throw new AssertionError("The node does not answer. " + this.log.tail());
		}
		return this;
	}

	/** Waits until it answers, ready or not, or the process ends before that. */
	public boolean answers() throws InterruptedException {
		return becomes(KvorumClient::isAnswering);
	}

	/** Waits until readiness is UP, or the process ends before that. */
	public boolean becomesReady() throws InterruptedException {
		return becomes(KvorumClient::isReady);
	}

	private boolean becomes(Predicate<KvorumClient> state) throws InterruptedException {
		long deadline = System.nanoTime() + START_DEADLINE.toNanos();
		Matcher line = this.log.await(PORT, START_DEADLINE);
		if (line == null) {
			return false;
		}
		this.port = Integer.parseInt(line.group(1));
		while (!state.test(client())) {
			if (this.process.waitFor(50, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
				return false;
			}
		}
		return true;
	}

	public KvorumClient client() {
		return new KvorumClient(this.port);
	}

	public int port() {
		return this.port;
	}

	public NodeSpec spec() {
		return this.spec;
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/** SIGKILL, and waits until the process is gone. */
	public void kill9() {
		this.process.descendants().forEach(ProcessHandle::destroyForcibly);
		this.process.toHandle().destroyForcibly();
		this.process.onExit().join();
	}

	/** SIGTERM. */
	public Exit stop() throws InterruptedException {
		long start = System.nanoTime();
		terminate();
		int code = awaitExit();
		return new Exit(code, Duration.ofNanos(System.nanoTime() - start));
	}

	/** SIGTERM, and waits until the log says what is waited for. */
	public void terminateAndAwait(String words) {
		terminate();
		try {
			if (this.log.await(Pattern.compile(Pattern.quote(words)), EXIT_DEADLINE) == null) {
				throw new AssertionError("The node did not say \"" + words + "\". " + this.log.tail());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * By its handle, since a {@link Process} that is destroyed closes its output before
	 * its last words are read.
	 */
	private void terminate() {
		this.process.toHandle().destroy();
	}

	/** Whether the process ends within the time; it does what it does meanwhile. */
	public boolean exitsWithin(Duration time) throws InterruptedException {
		return this.process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS);
	}

	/** Waits for the process to end by itself, or by what was asked of it. */
	public int awaitExit() throws InterruptedException {
		if (!this.process.waitFor(EXIT_DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
			throw new AssertionError("The node still runs. " + this.log.tail());
		}
		return this.process.exitValue();
	}

	/**
	 * SIGSTOP: connections stay open, nothing answers. Returns when each thread has
	 * stopped: on a busy machine one has answered a request after the signal.
	 */
	public void pause() throws InterruptedException {
		signal("STOP");
		Path tasks = Path.of("/proc", Long.toString(this.process.pid()), "task");
		Poll.until(() -> "all of " + tasks + " are stopped", STOPPED_DEADLINE, () -> areStopped(tasks));
	}

	/** In {@code stat} the state follows the name, which is in brackets. */
	private static boolean areStopped(Path tasks) {
		try (Stream<Path> all = Files.list(tasks)) {
			for (Path task : all.toList()) {
				String stat = Files.readString(task.resolve("stat"));
				if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
					return false;
				}
			}
			return true;
		}
		catch (IOException _) {
			// A thread has ended since it was listed.
			return false;
		}
	}

	/** SIGCONT. */
	public void resume() throws InterruptedException {
		signal("CONT");
	}

	private void signal(String name) throws InterruptedException {
		try {
			List<String> kill = List.of("kill", "-" + name, Long.toString(this.process.pid()));
			int code = new ProcessBuilder(kill).inheritIO().start().waitFor();
			if (code != 0) {
				throw new AssertionError(kill + " ended with " + code);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** What the node printed so far; all of it where it has ended. */
	public String log() throws InterruptedException {
		return this.process.isAlive() ? this.log.soFar() : this.log.whole(EXIT_DEADLINE);
	}

	String logTail() {
		return this.log.tail();
	}

	@Override
	public void close() {
		kill9();
	}

	/**
	 * The end of a process.
	 *
	 * @param code 143 is the shell's and the JVM's word for "ended by SIGTERM"
	 * @param after since the signal
	 */
	public record Exit(int code, Duration after) {
	}

}
