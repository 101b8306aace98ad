package io.kvorum.cli;

import java.net.URI;
import java.util.List;
import java.util.function.Function;

import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** A command that uses a management endpoint. */
abstract class EndpointCommand extends ShownCommand {

	private static final int NOT_FOUND = 404;

	@Option(names = "--management-url", paramLabel = "<url>", split = ",",
			description = "management ports of nodes, with commas between them. Default: --url, or else KVORUM_MANAGEMENT_URL or KVORUM_URL")
	private List<URI> urls = List.of();

	private final String endpoint;

	EndpointCommand(String endpoint) {
		this.endpoint = endpoint;
	}

	/** Reads the endpoint, or what lies behind it. */
	JsonNode read(String more) {
		return use(server -> server.json("/actuator/" + this.endpoint + more));
	}

	/** Sends an object to the endpoint. */
	JsonNode send(String more, String object) {
		return use(server -> server.post("/actuator/" + this.endpoint + more, object));
	}

	/** The node or the nodes to ask, of those that were given. */
	Server serverOf(Server given) {
		return given;
	}

	private JsonNode use(Function<Server, JsonNode> use) {
		try {
			return use.apply(serverOf(options().management(this.urls)));
		}
		catch (CommandFailedException ex) {
			if (ex.status() == NOT_FOUND) {
				throw new CommandFailedException(ExitCode.WRONG,
						"the endpoint '%s' is not exposed: add it to management.endpoints.web.exposure.include, or give its port by --management-url"
							.formatted(this.endpoint));
			}
			throw ex;
		}
	}

}
