package io.kvorum.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "backup", description = "Makes a backup of the asked node, or lists those that there are.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum backup", "  kvorum backup --name before-upgrade", "  kvorum backup --list" })
final class BackupCommand extends EndpointCommand {

	@Option(names = "--name", paramLabel = "<name>", description = "its name. Default: the time")
	private @Nullable String name;

	@Option(names = "--list", description = "list backups, and make none")
	private boolean isList;

	BackupCommand() {
		super("backup");
	}

	@Override
	ExitCode run() {
		JsonNode answer = this.isList ? read("") : send((this.name != null) ? "/" + this.name : "", "{}");
		out().println(answer.toPrettyString());
		return ExitCode.DONE;
	}

}
