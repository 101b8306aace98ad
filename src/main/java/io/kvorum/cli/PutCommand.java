package io.kvorum.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

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

	private static final int PART_BYTES = 64 << 10;

	private static final int SLOW_BYTES_A_SECOND = 16 << 10;

	private static final int MAX_BODY_SECONDS = 60;

	/** The client would send other characters as question marks. */
	private static final Pattern PRINTABLE = Pattern.compile("[\\x20-\\x7e]*");

	@Parameters(index = "0", paramLabel = "<key>", description = "the key")
	private String key = "";

	@Parameters(index = "1", arity = "0..1", paramLabel = "<value>",
			description = "the value. Default: --file, or else what comes from the standard input, as for -")
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
			if (!PRINTABLE.matcher(this.contentType).matches()) {
				throw new IllegalArgumentException("--content-type has ASCII characters only");
			}
			headers.addAll(List.of("Content-Type", this.contentType));
		}
		Target target = Target.entity(this.key).with("replicas", this.conditions.replicas()).with("ttl", this.ttl);
		BodyPublisher body = body();
		HttpResponse<InputStream> answer = server().ofEntities()
			.slowerBy(timeOf(body.contentLength()))
			.send("PUT", target.toString(), body, headers.toArray(String[]::new));
		out().println(StatCommand.version(answer));
		return ExitCode.DONE;
	}

	@Override
	boolean mayHaveWritten() {
		return true;
	}

	/** The time for a body: nodes take slow ones for a minute. */
	private static Duration timeOf(long bytes) {
		return Duration.ofSeconds(Math.min(bytes / SLOW_BYTES_A_SECOND, MAX_BODY_SECONDS));
	}

	private BodyPublisher body() throws IOException {
		if (this.value != null && this.file != null) {
			throw new IllegalArgumentException("the value comes from the command or from --file, not from both");
		}
		if (this.value != null && !this.value.equals("-")) {
			return BodyPublishers.ofString(this.value);
		}
		return BodyPublishers.ofFile((this.file != null) ? whole(this.file) : kept(System.in));
	}

	/** A pipe has no size, and is read once. */
	private static Path whole(Path file) throws IOException {
		if (Files.isDirectory(file)) {
			throw new FileSystemException(file.toString(), null, "it is a directory");
		}
		try (InputStream in = Files.newInputStream(file)) {
			return (Files.isRegularFile(file) && Files.size(file) > 0) ? file : kept(in);
		}
	}

	/** Keeps what comes in a file, since the next node may have to get it again. */
	private static Path kept(InputStream in) throws IOException {
		Path kept = Files.createTempFile("kvorum", null);
		kept.toFile().deleteOnExit();
		try (OutputStream out = Files.newOutputStream(kept)) {
			byte[] part = in.readNBytes(PART_BYTES);
			for (int length = part.length; part.length > 0; length += part.length) {
				if (length > Server.MAX_VALUE_BYTES) {
					throw new CommandFailedException(ExitCode.WRONG,
							"a value has at most %d bytes, the input has more".formatted(Server.MAX_VALUE_BYTES));
				}
				out.write(part);
				part = in.readNBytes(PART_BYTES);
			}
		}
		return kept;
	}

}
