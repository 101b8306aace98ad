package io.kvorum.cli;

import picocli.CommandLine.Command;

@Command(name = "repair",
		description = "Has the asked node compare all that it holds with the other nodes, and does not wait for it.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum repair", "  kvorum status    # says when it has converged" })
final class RepairCommand extends EndpointCommand {

	RepairCommand() {
		super("convergence");
	}

	@Override
	ExitCode run() {
		out().println(send("", "{}").toPrettyString());
		return ExitCode.DONE;
	}

}
