package io.kvorum.operation;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a range.
 *
 * @param scope the nodes to read
 * @param range the keys
 * @param limit the most lines to return, 1 or more; {@link #NO_LIMIT} if there is none
 * @param hasValues whether lines have the values of their entries
 * @param folding which keys are folded into one line; null for none
 */
public record RangeQuery(RangeScope scope, KeyRange range, long limit, boolean hasValues,
		@Nullable KeyFolding folding) {

	public static final long NO_LIMIT = Long.MAX_VALUE;

	/** The folder that stands for a key in the answer; null if the key stands there. */
	public @Nullable Key folderOf(Key key) {
		return (this.folding != null) ? this.folding.folderOf(key) : null;
	}

	/** The entries of a range with their values. */
	public static RangeQuery of(RangeScope scope, KeyRange range, long limit) {
		return new RangeQuery(scope, range, limit, true, null);
	}

	/** The same of the rest of the keys, with another limit. */
	public RangeQuery ofRest(KeyRange rest, long limit) {
		return new RangeQuery(this.scope, rest, limit, this.hasValues, this.folding);
	}

}
