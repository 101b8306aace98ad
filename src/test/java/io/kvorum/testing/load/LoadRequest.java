package io.kvorum.testing.load;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import org.jspecify.annotations.Nullable;

/**
 * One request.
 *
 * @param phase that accounts for it
 * @param dueNanos when it was to be sent
 * @param value of a PUT, which no other has; {@link Operation#ABSENT} of a GET
 */
record LoadRequest(Phase phase, long dueNanos, Kind kind, String key, int value) {

	private static final int VALUE_BYTES = 100;

	byte[] toBytes() {
		String target = "/v0/entity?id=" + URLEncoder.encode(this.key, StandardCharsets.UTF_8);
		String text = (this.kind == Kind.GET) ? "GET " + target + " HTTP/1.1\r\nHost: kvorum\r\n\r\n"
				: "PUT " + target + " HTTP/1.1\r\nHost: kvorum\r\nContent-Length: " + VALUE_BYTES + "\r\n\r\n" + body();
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	private String body() {
		String text = this.key + " " + this.value + " ";
		return text + ".".repeat(VALUE_BYTES - text.length());
	}

	/** The value in the body of an answer; null where that is no value of this key. */
	@Nullable Integer valueIn(String body) {
		String[] words = body.split(" ", -1);
		boolean isWhole = words.length == 3 && words[0].equals(this.key) && body.length() == VALUE_BYTES
				&& words[2].chars().allMatch(c -> c == '.') && words[1].matches("\\d{1,9}");
		return isWhole ? Integer.valueOf(words[1]) : null;
	}

}
