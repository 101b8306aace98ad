package io.kvorum.cli;

import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

@Command(name = "status",
		description = "Shows all nodes of the cluster. Exit code 1 if one of them is away or no full member.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum status", "  kvorum status -o json | jq '.nodes[] | {address, state, converged}'" })
final class StatusCommand extends ShownCommand {

	@Override
	ExitCode run() {
		JsonNode cluster = cluster();
		Table table = new Table("NODE", "STATE", "ZONE", "VERSION", "CONVERGED", "KEYS", "FREE", "REQ/S", "P99",
				"HINTS", "BACKUP");
		// A gateway that has not reached Cassandra yet knows of none.
		boolean areAllMembers = !cluster.path("nodes").isEmpty();
		for (JsonNode node : cluster.path("nodes")) {
			String state = node.path("state").asString();
			areAllMembers &= state.equals("member");
			table.add(node.path("address").asString(), state, text(node, "zone"), text(node, "version"),
					node.has("converged") ? (node.path("converged").asBoolean() ? "yes" : "not yet") : "",
					text(node, "keys"), node.has("freeBytes") ? Units.size(node.path("freeBytes").asLong()) : "",
					node.path("requests").path("perSecond").asString(""),
					node.path("requests").has("p99Millis") ? node.path("requests").path("p99Millis").asString() + " ms"
							: "",
					text(node, "hints"), node.has("newestBackupAgeSeconds")
							? Units.age(node.path("newestBackupAgeSeconds").asLong()) + " old" : "");
		}
		show(cluster, table);
		if (!isJson()) {
			JsonNode layout = cluster.path("layout");
			out().printf("%nLayout %s is %s; keys have %s.%n", layout.path("version").asString(),
					layout.path("state").asString(), LayoutCommand.copies(layout));
			for (JsonNode away : cluster.path("unreachable")) {
				out().printf("%s is away: %s%n", away.path("address").asString(),
						Table.printable(away.path("why").asString()));
			}
		}
		return areAllMembers ? ExitCode.DONE : ExitCode.NO;
	}

	/** The exit code 1 is the answer of a node: others know 404, or any JSON, too. */
	private JsonNode cluster() {
		Server server = server();
		try {
			JsonNode cluster = server.json("/v0/cluster");
			if (cluster.path("nodes").isArray()) {
				return cluster;
			}
		}
		catch (CommandFailedException ex) {
			if (ex.exitCode() != ExitCode.NO) {
				throw ex;
			}
		}
		throw new CommandFailedException(ExitCode.NOT_DONE, server.nodes().getFirst() + " is not a node");
	}

	private static String text(JsonNode node, String name) {
		return node.path(name).asString("");
	}

}
