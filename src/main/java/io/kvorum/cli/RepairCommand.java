package io.kvorum.cli;

import picocli.CommandLine.Command;

@Command(name = "repair",
		description = "Starts a comparison of all data on the first named node with its peers, and returns at once.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum repair", "  kvorum status    # says when it has converged" })
final class RepairCommand extends EndpointCommand {

	RepairCommand() {
		super("convergence");
	}

	@Override
	Server serverOf(Server given) {
		return given.first();
	}

	@Override
	boolean mayHaveWritten() {
		return true;
	}

	@Override
	ExitCode run() {
		out().println(send("", "{}").toPrettyString());
		return ExitCode.DONE;
	}

}
