package io.kvorum.api;

import java.util.Arrays;
import java.util.regex.Pattern;

import io.kvorum.kv.KeyRange;
import io.kvorum.operation.RangeScope;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request to {@code /v0/entities}.
 *
 * @param range the keys
 * @param limit the most entries; {@link #NO_LIMIT} if there is none
 * @param scope the nodes to read
 */
record RangeRequest(KeyRange range, long limit, RangeScope scope) {

	static final long NO_LIMIT = Long.MAX_VALUE;

	private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

	/**
	 * Parses a raw query string.
	 * @throws ProblemException if a parameter is missing or not possible
	 */
	static RangeRequest parse(@Nullable String rawQuery) {
		QueryParameters query = new QueryParameters(rawQuery);
		byte[] start = query.bytes("start");
		if (start == null || start.length == 0) {
			throw ProblemException.badRequest("missing-start",
					"The parameter 'start' is missing or empty. Name the first key: /v0/entities?start=<key>.");
		}
		byte[] end = query.bytes("end");
		if (end != null && Arrays.compareUnsigned(end, start) < 0) {
			throw ProblemException.badRequest("bad-end",
					"The parameter 'end' comes before 'start', in the order of their bytes. Leave it out for a range without an end.");
		}
		requireBound("start", start);
		if (end != null) {
			requireBound("end", end);
		}
		return new RangeRequest(KeyRange.of(start, end), limit(query.text("limit")), scope(query.text("scope")));
	}

	private static void requireBound(String name, byte[] bytes) {
		if (bytes.length > KeyRange.MAX_BOUND_BYTES) {
			throw ProblemException.badRequest("bound-too-long",
					"The parameter '%s' has %d bytes, the limit is %d bytes after decoding.".formatted(name,
							bytes.length, KeyRange.MAX_BOUND_BYTES));
		}
	}

	private static long limit(@Nullable String text) {
		if (text == null) {
			return NO_LIMIT;
		}
		if (!NUMBER.matcher(text).matches() || Long.parseLong(text) == 0) {
			throw ProblemException.badRequest("bad-limit",
					"The parameter 'limit' is a whole number of entries, 1 or more, of at most 18 digits.");
		}
		return Long.parseLong(text);
	}

	private static RangeScope scope(@Nullable String text) {
		return switch (text) {
			case null -> RangeScope.CLUSTER;
			case "cluster" -> RangeScope.CLUSTER;
			case "node" -> RangeScope.NODE;
			default -> throw ProblemException.badRequest("bad-scope", "The parameter 'scope' is 'cluster' or 'node'.");
		};
	}

}
