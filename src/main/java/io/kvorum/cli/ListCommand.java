package io.kvorum.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import io.kvorum.cli.Server.Mark;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Command(name = "ls", description = "Lists keys, in the order of their bytes.", footerHeading = "%nExamples:%n",
		footer = { "  kvorum ls                  # all keys",
				"  kvorum ls fruit/           # those that begin with fruit/",
				"  kvorum ls fruit/ -s /      # folders and keys, as in a directory",
				"  kvorum ls fruit/ -l        # with version, size and expiry", "  kvorum ls -o json | jq -r .id" })
final class ListCommand extends ShownCommand {

	/** Lines after which to look whether anybody takes them, such as head. */
	private static final int LINES_AT_ONCE = 256;

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
	ExitCode run() throws IOException {
		Target target = Target.of("/v0/entities")
			.with("prefix", this.prefix)
			.with("values", false)
			.with("separator", this.separator)
			.with("start", this.start)
			.with("limit", this.limit);
		boolean isWhole = false;
		try (InputStream body = server().marked(LIST).get(target.toString(), "Accept", "application/x-ndjson").body();
				BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
			int count = 0;
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				if (++count % LINES_AT_ONCE == 0) {
					requireOutput();
				}
				if (isJson()) {
					out().println(line);
					isWhole = line.startsWith("{\"end\":true");
				}
				else {
					JsonNode entry = JSON.readTree(line);
					isWhole = entry.has("end");
					print(entry);
				}
			}
		}
		if (!isWhole) {
			throw new CommandFailedException(ExitCode.NOT_DONE, "the list broke off: what is above is not all of it");
		}
		return ExitCode.DONE;
	}

	private void print(JsonNode entry) {
		if (entry.has("end")) {
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
