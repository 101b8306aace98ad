package io.kvorum.cli;

import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "stat", description = "Shows what is known of a value, without the value.",
		footerHeading = "%nExamples:%n", footer = { "  kvorum stat greeting", "  kvorum stat greeting -o json",
				"  kvorum stat greeting --version-only    # for --if-version" })
final class StatCommand extends ShownCommand {

	@Parameters(paramLabel = "<key>", description = "the key")
	private String key = "";

	@Option(names = "--version-only", description = "only the version")
	private boolean isVersionOnly;

	@Override
	ExitCode run() {
		HttpResponse<InputStream> answer = server().ofEntities()
			.send("HEAD", Target.entity(this.key).toString(), BodyPublishers.noBody());
		if (this.isVersionOnly) {
			out().println(version(answer));
			return ExitCode.DONE;
		}
		ObjectNode described = new JsonMapper().createObjectNode();
		described.put("id", this.key);
		described.put("version", version(answer));
		answer.headers().firstValueAsLong("Content-Length").ifPresent(size -> described.put("size", size));
		header("contentType", "Content-Type", answer, described);
		header("modified", "Last-Modified", answer, described);
		header("expires", "Expires", answer, described);
		header("consistency", "Kvorum-Consistency", answer, described);
		Table table = new Table("WHAT", "VALUE");
		described.properties().forEach(part -> table.add(part.getKey(), part.getValue().asString()));
		show(described, table);
		return ExitCode.DONE;
	}

	private static void header(String name, String header, HttpResponse<?> answer, ObjectNode described) {
		answer.headers().firstValue(header).ifPresent(value -> described.put(name, value));
	}

	/** The version in an answer: its ETag without the quotes. */
	static String version(HttpResponse<?> answer) {
		return answer.headers().firstValue("ETag").orElse("").replace("\"", "");
	}

}
