package io.kvorum.api;

import java.util.Arrays;
import java.util.regex.Pattern;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import org.jspecify.annotations.Nullable;

/** Reads the parameters of a request to {@code /v0/entities}. */
final class RangeRequest {

	private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

	private RangeRequest() {
	}

	/**
	 * Parses a raw query string.
	 * @throws ProblemException if a parameter is missing or not possible
	 */
	static RangeQuery parse(@Nullable String rawQuery) {
		QueryParameters query = new QueryParameters(rawQuery);
		byte[] prefix = query.bytes("prefix");
		byte[] separator = query.bytes("separator");
		String values = query.text("values");
		boolean isListing = prefix != null || separator != null || values != null;
		KeyRange range = range(query.bytes("start"), query.bytes("end"), isListing);
		if (prefix != null) {
			requireBound("prefix", prefix);
			range = range.and(KeyRange.ofPrefix(prefix));
		}
		KeyFolding folding = (separator != null) ? folding((prefix != null) ? prefix : new byte[0], separator) : null;
		return new RangeQuery(scope(query.text("scope")),
				(folding != null) ? behindFolder(range, folding, query.bytes("start")) : range,
				limit(query.text("limit")), hasValues(values), folding);
	}

	/**
	 * Goes on behind a folder where the line before is followed by a zero, as one does
	 * behind a key: what is in that folder was told by that line.
	 */
	private static KeyRange behindFolder(KeyRange range, KeyFolding folding, byte @Nullable [] start) {
		if (start == null || start.length < 2 || start[start.length - 1] != 0) {
			return range;
		}
		byte[] line = Arrays.copyOf(start, start.length - 1);
		return folding.isFolder(line) ? range.afterAll(line) : range;
	}

	private static KeyRange range(byte @Nullable [] start, byte @Nullable [] end, boolean isListing) {
		if ((start == null && !isListing) || (start != null && start.length == 0)) {
			throw ProblemException.badRequest(ProblemType.MISSING_START,
					"The parameter 'start' is missing or empty. Name the first key: /v0/entities?start=<key>, or list keys: /v0/entities?prefix=<key>&values=false.");
		}
		byte[] first = (start != null) ? start : new byte[0];
		if (end != null && Arrays.compareUnsigned(end, first) < 0) {
			throw ProblemException.badRequest(ProblemType.BAD_END,
					"The parameter 'end' comes before 'start', in the order of their bytes. Leave it out for a range without an end.");
		}
		requireBound("start", first);
		if (end != null) {
			requireBound("end", end);
		}
		return KeyRange.of(first, end);
	}

	private static void requireBound(String name, byte[] bytes) {
		if (bytes.length > KeyRange.MAX_BOUND_BYTES) {
			throw ProblemException.badRequest(ProblemType.BOUND_TOO_LONG,
					"The parameter '%s' has %d bytes, the limit is %d bytes after decoding.".formatted(name,
							bytes.length, KeyRange.MAX_BOUND_BYTES));
		}
	}

	private static KeyFolding folding(byte[] prefix, byte[] separator) {
		if (separator.length == 0 || separator.length > Key.MAX_LENGTH_BYTES) {
			throw ProblemException.badRequest(ProblemType.BAD_SEPARATOR,
					"The parameter 'separator' has 1 to %d bytes after decoding, such as 'separator=/'. Leave it out if no keys are to be folded."
						.formatted(Key.MAX_LENGTH_BYTES));
		}
		return new KeyFolding(prefix, separator);
	}

	private static boolean hasValues(@Nullable String text) {
		return switch (text) {
			case null -> true;
			case "true" -> true;
			case "false" -> false;
			default -> throw ProblemException.badRequest(ProblemType.BAD_VALUES,
					"The parameter 'values' is 'true' or 'false'.");
		};
	}

	private static long limit(@Nullable String text) {
		if (text == null) {
			return RangeQuery.NO_LIMIT;
		}
		if (!NUMBER.matcher(text).matches() || Long.parseLong(text) == 0) {
			throw ProblemException.badRequest(ProblemType.BAD_LIMIT,
					"The parameter 'limit' is a whole number of entries, 1 or more, of at most 18 digits.");
		}
		return Long.parseLong(text);
	}

	private static RangeScope scope(@Nullable String text) {
		return switch (text) {
			case null -> RangeScope.CLUSTER;
			case "cluster" -> RangeScope.CLUSTER;
			case "node" -> RangeScope.NODE;
			default -> throw ProblemException.badRequest(ProblemType.BAD_SCOPE,
					"The parameter 'scope' is 'cluster' or 'node'.");
		};
	}

}
