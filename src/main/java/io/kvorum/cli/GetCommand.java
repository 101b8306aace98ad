package io.kvorum.cli;

import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "get", description = "Prints the value of a key, byte for byte.", footerHeading = "%nExamples:%n",
		footer = { "  kvorum get greeting", "  kvorum get backup/dir.tar | tar t",
				"  kvorum get greeting --replicas 1/3    # whatever one of three replicas has" })
final class GetCommand extends RemoteCommand {

	@Parameters(paramLabel = "<key>", description = "the key")
	private String key = "";

	@Option(names = { "-O", "--file" }, paramLabel = "<file>",
			description = "file to write to. Default: standard output")
	private @Nullable Path file;

	@Option(names = "--replicas", paramLabel = "<ack>/<from>",
			description = "how many replicas to wait for, and of how many")
	private @Nullable String replicas;

	@Override
	ExitCode run() throws Exception {
		HttpResponse<InputStream> answer = server()
			.get(Target.entity(this.key).with("replicas", this.replicas).toString());
		try (InputStream value = answer.body()) {
			if (this.file != null) {
				Files.copy(value, this.file, StandardCopyOption.REPLACE_EXISTING);
			}
			else {
				value.transferTo(System.out);
				System.out.flush();
			}
		}
		return ExitCode.DONE;
	}

}
