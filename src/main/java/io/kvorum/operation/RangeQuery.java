package io.kvorum.operation;

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

	/** The entries of a range with their values. */
	public static RangeQuery of(RangeScope scope, KeyRange range, long limit) {
		return new RangeQuery(scope, range, limit, true, null);
	}

	/** The same of other keys, with another limit. */
	public RangeQuery of(KeyRange range, long limit) {
		return new RangeQuery(this.scope, range, limit, this.hasValues, this.folding);
	}

}
