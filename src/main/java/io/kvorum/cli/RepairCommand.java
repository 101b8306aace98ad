package io.kvorum.cli;

import picocli.CommandLine.Command;

@Command(name = "repair",
		description = "Has the first of the nodes that are named compare all that it holds with the other nodes, and does not wait for it.",
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
