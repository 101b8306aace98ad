package io.kvorum.operation;

import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * A piece of the answer to a range.
 *
 * @param lines in the order of their keys; perhaps none
 * @param last whether the answer ends with it
 * @param next in the last piece, the first key beyond the limit; null if the range ends
 * here
 */
public record RangePiece(List<Line> lines, boolean last, @Nullable Key next) {

	/** A line of the answer. */
	public sealed interface Line {

		Key key();

	}

	/** An entry. */
	public record Item(Key key, Live live) implements Line {
	}

	/**
	 * An entry without its value.
	 *
	 * @param identity as in {@link Live#identity()}
	 * @param valueBytes the length of its value
	 * @param expiresAtMillis as in {@link Live#expiresAtMillis()}
	 */
	public record Head(Key key, Version identity, String contentType, int valueBytes,
			long expiresAtMillis) implements Line {

		/** Of an entry, whose value has this length. */
		public static Head of(Key key, Live live, int valueBytes) {
			return new Head(key, live.identity(), live.contentType(), valueBytes, live.expiresAtMillis());
		}

	}

	/**
	 * Entries that are folded into one line.
	 *
	 * @param key with which their keys begin
	 */
	public record Folder(Key key) implements Line {
	}

}
