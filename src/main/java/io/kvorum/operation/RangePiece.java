package io.kvorum.operation;

import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a range, to be told to a client.
 *
 * @param entries in the order of their keys; perhaps none
 * @param last whether the answer ends with it
 * @param next of the last piece: the first key that was not told because of the limit;
 * null where the range is told to its end
 */
public record RangePiece(List<Item> entries, boolean last, @Nullable Key next) {

	/** An entry of a range. */
	public record Item(Key key, Live live) {
	}

}
