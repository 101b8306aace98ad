package io.kvorum.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a write that may depend on the value that is there. */
final class WriteConditions {

	/** The server's rule. The client would send other characters as question marks. */
	private static final Pattern NAME = Pattern.compile("[\\x21-\\x7e]{1,128}");

	@Option(names = "--if-version", paramLabel = "<version>", description = "only if the value still has this version")
	private @Nullable String version;

	@Option(names = "--idempotency-key", paramLabel = "<name>",
			description = "idempotency key of this write: repeated with the same key, it happens once")
	private @Nullable String name;

	@Option(names = "--replicas", paramLabel = "<ack>/<from>",
			description = "how many replicas to wait for, and of how many")
	private @Nullable String replicas;

	@Nullable String replicas() {
		return this.replicas;
	}

	/**
	 * The headers that say this, names and values in turn.
	 * @throws IllegalArgumentException if the name of the write is not allowed
	 */
	List<String> headers() {
		List<String> headers = new ArrayList<>();
		if (this.version != null) {
			// With or without the quotes of an ETag.
			headers.addAll(List.of("If-Match", "\"" + this.version.replace("\"", "") + "\""));
		}
		if (this.name != null) {
			if (!NAME.matcher(this.name).matches()) {
				throw new IllegalArgumentException(
						"--idempotency-key is 1 to 128 visible ASCII characters, without spaces");
			}
			headers.addAll(List.of("Idempotency-Key", this.name));
		}
		return headers;
	}

}
