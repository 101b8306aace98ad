package io.kvorum.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.cli.Server.Mark;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "ls", description = "Lists keys, in the order of their bytes.", footerHeading = "%nExamples:%n",
		footer = { "  kvorum ls                  # all keys",
				"  kvorum ls fruit/           # those that begin with fruit/",
				"  kvorum ls fruit/ -s /      # folders and keys, as in a directory",
				"  kvorum ls fruit/ -l        # with version, size and expiry",
				"  kvorum ls -o json | jq -r '.id // empty'" })
final class ListCommand extends ShownCommand {

	/**
	 * The lines of one request. They are kept until they are printed, which may take as
	 * long as it will, as with a pager: a node gives up who does not read on.
	 */
	private static final int PAGE = 10_000;

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final Mark LIST = new Mark("Content-Type", "application/x-ndjson", "a node");

	private static final JsonMapper JSON = new JsonMapper();

	@Parameters(arity = "0..1", paramLabel = "<prefix>", description = "only keys that begin with this")
	private String prefix = "";

	@Option(names = { "-s", "--separator" }, paramLabel = "<text>",
			description = "fold the keys behind it into one line")
	private @Nullable String separator;

	@Option(names = { "-l", "--long" }, description = "with version, size, expiry and media type")
	private boolean isLong;

	@Option(names = "--start", paramLabel = "<key>", description = "the key to begin with")
	private @Nullable String start;

	@Option(names = "--limit", paramLabel = "<n>", description = "the most lines")
	private @Nullable Long limit;

	@Override
	ExitCode run() throws IOException, InterruptedException {
		Server server = server().marked(LIST);
		String next = this.start;
		long count = 0;
		do {
			String first = next;
			long before = count;
			// What has begun goes on though nodes have no room for a range, or limit the
			// rate.
			List<JsonNode> page = patiently((count > 0) ? PATIENCE : Duration.ZERO, () -> page(server, first, before));
			JsonNode last = page.isEmpty() ? JSON.createObjectNode() : page.getLast();
			boolean isWhole = last.has("end");
			List<JsonNode> entries = isWhole ? page.subList(0, page.size() - 1) : page;
			entries.forEach(this::print);
			requireOutput();
			if (!isWhole) {
				throw new CommandFailedException(ExitCode.NOT_DONE, "the listing is incomplete: the connection broke");
			}
			count += entries.size();
			next = last.has("next") ? last.path("next").asString() : null;
		}
		while (next != null && (this.limit == null || count < this.limit));
		if (isJson()) {
			ObjectNode end = JSON.createObjectNode().put("end", true).put("count", count);
			out().println((next != null) ? end.put("next", next) : end);
		}
		return ExitCode.DONE;
	}

	private List<JsonNode> page(Server server, @Nullable String first, long before) throws IOException {
		Target target = Target.of("/v0/entities")
			.with("prefix", this.prefix)
			.with("values", false)
			.with("separator", this.separator)
			.with("start", first)
			.with("limit", (this.limit != null) ? Math.min(PAGE, this.limit - before) : PAGE);
		List<JsonNode> page = new ArrayList<>();
		try (InputStream body = server.get(target.toString(), "Accept", "application/x-ndjson").body();
				BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				page.add(JSON.readTree(line));
			}
		}
		return page;
	}

	private void print(JsonNode entry) {
		if (isJson()) {
			out().println(entry);
			return;
		}
		String key = Table.printable(entry.path(entry.has("prefix") ? "prefix" : "id").asString());
		if (!this.isLong) {
			out().println(key);
		}
		else if (entry.has("prefix")) {
			out().printf("%-32s %10s %-24s %s%n", "", "", "", key);
		}
		else {
			out().printf("%s %10s %-24s %s  %s%n", entry.path("version").asString(),
					Units.size(entry.path("size").asLong()), entry.path("expires").asString(""), key,
					Table.printable(entry.path("contentType").asString()));
		}
	}

}
