package io.kvorum.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The options of all commands, before a command or behind it: which nodes to ask, and
 * how.
 */
final class ServerOptions {

	private static final String DEFAULT_URL = "http://localhost:8080";

	private static final Pattern API_KEY = Pattern.compile("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+");

	@Option(names = "--url", scope = ScopeType.INHERIT, paramLabel = "<url>", split = ",",
			description = "nodes to ask, with commas between them: the next one if one does not answer. "
					+ "Default: KVORUM_URL, or else " + DEFAULT_URL)
	private List<URI> urls = List.of();

	@Option(names = "--api-key-file", scope = ScopeType.INHERIT, paramLabel = "<file>",
			description = "file with the API key, <id>.<secret>. Default: KVORUM_API_KEY_FILE; KVORUM_API_KEY has the key itself")
	private @Nullable Path keyFile;

	@Option(names = "--ca", scope = ScopeType.INHERIT, paramLabel = "<file>",
			description = "certificates of the authorities to trust, in PEM. Default: those of the JDK")
	private @Nullable Path authorities;

	@Option(names = "--timeout", scope = ScopeType.INHERIT, paramLabel = "<seconds>", defaultValue = "10",
			description = "time for an answer to begin or to go on, in seconds. Default: ${DEFAULT-VALUE}")
	private int timeoutSeconds;

	private final Map<String, String> environment;

	/** The options beside this environment. */
	ServerOptions(Map<String, String> environment) {
		this.environment = environment;
	}

	/** Connects to the nodes of the options. */
	Server server() {
		return server(this.urls, "KVORUM_URL");
	}

	/** Connects to nodes that another option has named. */
	Server server(List<URI> named) {
		return server(named, "KVORUM_URL");
	}

	/**
	 * Connects to management ports. Nodes that the command names are not passed over for
	 * others of the environment.
	 * @param given those of an option; those of the API if there are none
	 */
	Server management(List<URI> given) {
		boolean isNamed = !given.isEmpty()
				|| (this.urls.isEmpty() && this.environment.containsKey("KVORUM_MANAGEMENT_URL"));
		return isNamed ? server(given, "KVORUM_MANAGEMENT_URL") : server();
	}

	private Server server(List<URI> given, String variable) {
		List<URI> nodes = new ArrayList<>(given);
		if (nodes.isEmpty()) {
			for (String url : this.environment.getOrDefault(variable, DEFAULT_URL).split(",", -1)) {
				nodes.add(URI.create(url.strip()));
			}
		}
		for (URI node : nodes) {
			if (node.getHost() == null || !List.of("http", "https").contains(String.valueOf(node.getScheme()))) {
				throw new CommandFailedException(ExitCode.WRONG,
						"'%s' is no URL of a node, such as %s".formatted(node, DEFAULT_URL));
			}
		}
		if (this.timeoutSeconds < 1) {
			throw new CommandFailedException(ExitCode.WRONG, "--timeout is 1 or more seconds");
		}
		return Server.of(nodes, apiKey(), this.authorities, Duration.ofSeconds(this.timeoutSeconds));
	}

	/** The API key; it is in no message. */
	private @Nullable String apiKey() {
		String key = givenKey();
		if (key != null && !API_KEY.matcher(key).matches()) {
			throw new CommandFailedException(ExitCode.WRONG,
					"the API key is invalid: it has the form <id>.<secret>, and its file has nothing else");
		}
		return key;
	}

	private @Nullable String givenKey() {
		String inFile = this.environment.get("KVORUM_API_KEY_FILE");
		Path file = (this.keyFile != null) ? this.keyFile : (inFile != null) ? Path.of(inFile) : null;
		if (file == null) {
			String key = this.environment.get("KVORUM_API_KEY");
			return (key != null) ? key.strip() : null;
		}
		try {
			return Files.readString(file).strip();
		}
		catch (IOException ex) {
			throw new CommandFailedException(ExitCode.WRONG, "cannot read the API key from " + file + ": " + ex);
		}
	}

}
