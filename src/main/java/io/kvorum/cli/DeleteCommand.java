package io.kvorum.cli;

import java.net.http.HttpRequest.BodyPublishers;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "del", description = "Deletes a value. It is no error if there is none.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum del greeting", "  kvorum del lock --if-version 01a1fcc7d1e50000e3f1a867a1962ee5" })
final class DeleteCommand extends RemoteCommand {

	@Parameters(paramLabel = "<key>", description = "the key")
	private String key = "";

	@Mixin
	private WriteConditions conditions = new WriteConditions();

	@Override
	ExitCode run() {
		Target target = Target.entity(this.key).with("replicas", this.conditions.replicas());
		server().ofEntities()
			.send("DELETE", target.toString(), BodyPublishers.noBody(),
					this.conditions.headers().toArray(String[]::new));
		return ExitCode.DONE;
	}

}
