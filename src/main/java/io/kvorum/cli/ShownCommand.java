package io.kvorum.cli;

import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** A command that prints what nodes tell in JSON, or a table of that. */
abstract class ShownCommand extends RemoteCommand {

	@Option(names = { "-o", "--output" }, paramLabel = "<form>", defaultValue = "table",
			description = "${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}")
	private Format format = Format.TABLE;

	boolean isJson() {
		return this.format == Format.JSON;
	}

	/** Prints the object, or its table. */
	void show(JsonNode object, Table table) {
		if (isJson()) {
			out().println(object.toPrettyString());
		}
		else {
			table.print(out());
		}
	}

}
