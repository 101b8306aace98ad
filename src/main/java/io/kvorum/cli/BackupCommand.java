package io.kvorum.cli;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "backup",
		description = "Makes a backup of the first named node, or lists its backups. Returns once it is verified.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum backup", "  kvorum backup --name before-upgrade", "  kvorum backup --list" })
final class BackupCommand extends EndpointCommand {

	private static final Duration LONGEST = Duration.ofDays(1);

	@Option(names = "--name", paramLabel = "<name>", description = "its name. Default: the time")
	private @Nullable String name;

	@Option(names = "--list", description = "list backups, and make none")
	private boolean isList;

	BackupCommand() {
		super("backup");
	}

	/** One node alone; the answer to a backup comes when it was verified. */
	@Override
	Server serverOf(Server given) {
		return this.isList ? given.first() : given.first().within(LONGEST);
	}

	@Override
	boolean mayHaveWritten() {
		return !this.isList;
	}

	@Override
	ExitCode run() {
		JsonNode answer = this.isList ? read("") : send((this.name != null) ? "/" + this.name : "", "{}");
		out().println(answer.toPrettyString());
		return ExitCode.DONE;
	}

}
