package io.kvorum.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "put", description = "Writes a value, and prints its version.", footerHeading = "%nExamples:%n",
		footer = { "  kvorum put greeting hello", "  tar c dir | kvorum put backup/dir.tar",
				"  kvorum put session/7 --file state.json --content-type application/json --ttl 30m",
				"  kvorum put lock me --if-absent --ttl 30s",
				"  kvorum put greeting hi --if-version $(kvorum stat greeting --version-only)" })
final class PutCommand extends RemoteCommand {

	@Parameters(index = "0", paramLabel = "<key>", description = "the key")
	private String key = "";

	@Parameters(index = "1", arity = "0..1", paramLabel = "<value>",
			description = "the value. Default: --file, or else what comes from the standard input")
	private @Nullable String value;

	@Option(names = { "-f", "--file" }, paramLabel = "<file>", description = "file with the value")
	private @Nullable Path file;

	@Option(names = "--content-type", paramLabel = "<type>", description = "media type, kept with the value")
	private @Nullable String contentType;

	@Option(names = "--ttl", paramLabel = "<time>",
			description = "time after which the value is gone: 30s, 15m, 12h, 7d")
	private @Nullable String ttl;

	@Option(names = "--if-absent", description = "only if there is no value")
	private boolean ifAbsent;

	@Mixin
	private WriteConditions conditions = new WriteConditions();

	@Override
	ExitCode run() throws Exception {
		List<String> headers = this.conditions.headers();
		if (this.ifAbsent) {
			headers.addAll(List.of("If-None-Match", "*"));
		}
		if (this.contentType != null) {
			headers.addAll(List.of("Content-Type", this.contentType));
		}
		Target target = Target.entity(this.key).with("replicas", this.conditions.replicas()).with("ttl", this.ttl);
		HttpResponse<InputStream> answer = server().send("PUT", target.toString(), BodyPublishers.ofByteArray(bytes()),
				headers.toArray(String[]::new));
		out().println(StatCommand.version(answer));
		return ExitCode.DONE;
	}

	private byte[] bytes() throws IOException {
		if (this.value != null) {
			return this.value.getBytes(StandardCharsets.UTF_8);
		}
		return (this.file != null) ? Files.readAllBytes(this.file) : System.in.readAllBytes();
	}

}
