package io.kvorum.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "where", description = "Shows which nodes hold a key, and which version each of them has.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum where greeting", "  kvorum where greeting --management-url http://kvorum-0:8081" })
final class WhereCommand extends EndpointCommand {

	@Parameters(paramLabel = "<key>", description = "the key")
	private String key = "";

	WhereCommand() {
		super("topology");
	}

	@Override
	ExitCode run() {
		JsonNode found = read(Target.of("").with("id", this.key).toString());
		Table table = new Table("NODE", "REPLICA", "STATE", "VERSION", "WRITTEN", "EXPIRES");
		for (JsonNode holding : found.path("replicas")) {
			table.add(holding.path("node").asString(), holding.path("replica").asBoolean() ? "yes" : "no",
					holding.path("state").asString(), holding.path("version").asString(""),
					holding.path("written").asString(""), holding.path("expires").asString(""));
		}
		show(found, table);
		return ExitCode.DONE;
	}

}
