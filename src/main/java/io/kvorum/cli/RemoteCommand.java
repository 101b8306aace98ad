package io.kvorum.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** A command that asks nodes. */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
abstract class RemoteCommand implements Callable<Integer> {

	private static final long PAUSE_MILLIS = 1000;

	@ParentCommand
	private Kvorum kvorum = new Kvorum();

	@Spec
	private CommandSpec spec = CommandSpec.create();

	ServerOptions options() {
		return this.kvorum.options();
	}

	Server server() {
		return options().server();
	}

	PrintWriter out() {
		return this.spec.commandLine().getOut();
	}

	@Override
	public Integer call() throws Exception {
		try {
			ExitCode code = run();
			requireOutput();
			return code.code();
		}
		catch (Error error) {
			// The JVM would end with 1, which is an answer.
			throw new CommandFailedException(ExitCode.UNKNOWN,
					"internal error, the operation may have been carried out: " + error);
		}
	}

	/**
	 * Writes out what was printed.
	 * @throws CommandFailedException if it cannot be written
	 */
	void requireOutput() {
		requireTaken(out(), mayHaveWritten() ? ExitCode.UNKNOWN : ExitCode.NOT_DONE);
	}

	/** The writer does not know what System.out keeps to itself. */
	static void requireTaken(PrintWriter out, ExitCode otherwise) {
		if (out.checkError() || System.out.checkError()) {
			throw new CommandFailedException(otherwise, "cannot write to the standard output");
		}
	}

	/** Whether it may have changed something when it comes to print what. */
	boolean mayHaveWritten() {
		return false;
	}

	/** Tries again, for this time, what was certainly not done. */
	static <T> T patiently(Duration patience, Request<T> request) throws IOException, InterruptedException {
		long end = System.nanoTime() + patience.toNanos();
		while (true) {
			try {
				return request.send();
			}
			catch (CommandFailedException ex) {
				if (!ex.mayPass() || System.nanoTime() - end >= 0) {
					throw ex;
				}
				// A node that restarts, or a limited rate, has no event to wait for.
				Thread.sleep(PAUSE_MILLIS);
			}
		}
	}

	abstract ExitCode run() throws Exception;

	/** A request of nodes, and what is made of its answer. */
	@FunctionalInterface
	interface Request<T> {

		T send() throws IOException;

	}

}
