package io.kvorum.operation;

import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import org.jspecify.annotations.Nullable;

/**
 * A piece of the answer to a range.
 *
 * @param entries in the order of their keys; perhaps none
 * @param last whether the answer ends with it
 * @param next in the last piece, the first key beyond the limit; null if the range ends
 * here
 */
public record RangePiece(List<Item> entries, boolean last, @Nullable Key next) {

	/** An entry of a range. */
	public record Item(Key key, Live live) {
	}

}
