package io.kvorum.client;

import org.jspecify.annotations.Nullable;

/**
 * Which keys are read, in the order of their bytes in UTF-8. Immutable: each method
 * returns another range.
 */
public final class Range {

	private static final Range ALL = new Range(null, null, null, null, Long.MAX_VALUE);

	private final @Nullable String prefix;

	private final @Nullable String start;

	private final @Nullable String end;

	private final @Nullable String separator;

	private final long limit;

	private Range(@Nullable String prefix, @Nullable String start, @Nullable String end, @Nullable String separator,
			long limit) {
		this.prefix = prefix;
		this.start = start;
		this.end = end;
		this.separator = separator;
		this.limit = limit;
	}

	/**
	 * All keys.
	 * @return the range
	 */
	public static Range all() {
		return ALL;
	}

	/**
	 * The keys that begin with a text.
	 * @param prefix the text
	 * @return the range
	 */
	public static Range prefix(String prefix) {
		return new Range(prefix.isEmpty() ? null : prefix, null, null, null, Long.MAX_VALUE);
	}

	/**
	 * The keys from one on.
	 * @param start the first key, or what is less than it
	 * @return the range
	 */
	public static Range from(String start) {
		return ALL.startingAt(start);
	}

	/**
	 * Leaves out the keys before one.
	 * @param start the first key, or what is less than it
	 * @return the keys of this range that are not less
	 */
	public Range startingAt(String start) {
		checkNotEmpty(start);
		return new Range(this.prefix, start, this.end, this.separator, this.limit);
	}

	/**
	 * Leaves out a key and those behind it.
	 * @param end the key
	 * @return the keys of this range that are less
	 */
	public Range before(String end) {
		checkNotEmpty(end);
		return new Range(this.prefix, this.start, end, this.separator, this.limit);
	}

	/**
	 * In a listing, folds keys that are equal up to the first separator behind the prefix
	 * into one folder. Ignored where values are read.
	 * @param separator {@code "/"} for instance
	 * @return this range, with folders
	 */
	public Range folders(String separator) {
		checkNotEmpty(separator);
		return new Range(this.prefix, this.start, this.end, separator, this.limit);
	}

	/**
	 * Ends after a number of keys.
	 * @param keys the number, at least 1
	 * @return the first keys of this range
	 */
	public Range limit(long keys) {
		if (keys < 1) {
			throw new IllegalArgumentException("a limit is at least 1, not " + keys);
		}
		return new Range(this.prefix, this.start, this.end, this.separator, keys);
	}

	private static void checkNotEmpty(String key) {
		if (key.isEmpty()) {
			throw new IllegalArgumentException("a key is not empty");
		}
	}

	@Nullable String prefix() {
		return this.prefix;
	}

	@Nullable String start() {
		return this.start;
	}

	@Nullable String end() {
		return this.end;
	}

	@Nullable String separator() {
		return this.separator;
	}

	long limit() {
		return this.limit;
	}

}
