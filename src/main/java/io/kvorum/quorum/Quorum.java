package io.kvorum.quorum;

import java.util.function.IntPredicate;

import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Tally.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The replicas that an operation needs: so many of all that it asks. While the topology
 * changes, so many of the replicas before the change, and so many of those after it. A
 * replica may be one of both. Immutable.
 * <p>
 * A replica is identified by its position in the replica set.
 */
public final class Quorum {

	private final int required;

	private final int replicas;

	/** Whether a replica counts, by position; null if all do. */
	private final boolean @Nullable [] counted;

	/** What is needed besides; null if nothing is. */
	private final @Nullable Quorum besides;

	private Quorum(int required, int replicas, boolean @Nullable [] counted, @Nullable Quorum besides) {
		this.required = required;
		this.replicas = replicas;
		this.counted = counted;
		this.besides = besides;
	}

	/**
	 * A number of all replicas.
	 * @param required number of replicas that must succeed
	 * @param replicas number of all replicas
	 */
	public static Quorum of(int required, int replicas) {
		if (required < 1 || required > replicas) {
			throw new IllegalArgumentException("%d of %d replicas cannot succeed".formatted(required, replicas));
		}
		return new Quorum(required, replicas, null, null);
	}

	/**
	 * A number of some replicas; all of these if there are fewer.
	 * @param required number of them that must succeed
	 * @param replicas number of all replicas
	 * @param counts whether the replica at a position is one of them
	 */
	public static Quorum of(int required, int replicas, IntPredicate counts) {
		boolean[] counted = new boolean[replicas];
		int size = 0;
		for (int position = 0; position < replicas; position++) {
			counted[position] = counts.test(position);
			size += counted[position] ? 1 : 0;
		}
		return new Quorum(Math.min(required, size), replicas, counted, null);
	}

	/** This quorum and another one of the same replicas. */
	public Quorum and(Quorum other) {
		if (this.besides != null || other.replicas != this.replicas) {
			throw new IllegalArgumentException("only two quorums of the same replicas");
		}
		return new Quorum(this.required, this.replicas, this.counted, other);
	}

	/** The number of all replicas. */
	int replicas() {
		return this.replicas;
	}

	/** Whether it is of two groups of replicas. */
	boolean isOfTwo() {
		return this.besides != null;
	}

	/** Whether the success of the replica at this position counts. */
	boolean counts(int position) {
		return this.counted == null || this.counted[position]
				|| (this.besides != null && this.besides.counts(position));
	}

	/** Whether it can be reached by the replicas at some positions. */
	public boolean isPossibleFor(IntPredicate positions) {
		int possible = 0;
		for (int position = 0; position < this.replicas; position++) {
			boolean isCounted = this.counted == null || this.counted[position];
			possible += (isCounted && positions.test(position)) ? 1 : 0;
		}
		return possible >= this.required && (this.besides == null || this.besides.isPossibleFor(positions));
	}

	/** The meaning of the replies so far, by position; null where there is none. */
	Decision decide(@Nullable Reply[] replies) {
		Decision own = decideOwn(replies);
		if (this.besides == null || own == Decision.UNREACHABLE) {
			return own;
		}
		Decision other = this.besides.decide(replies);
		return (own == Decision.REACHED || other == Decision.UNREACHABLE) ? other : Decision.PENDING;
	}

	private Decision decideOwn(@Nullable Reply[] replies) {
		int succeeded = 0;
		int possible = 0;
		for (int position = 0; position < replies.length; position++) {
			if (this.counted == null || this.counted[position]) {
				Reply reply = replies[position];
				boolean failed = reply instanceof Failed;
				succeeded += (reply != null && !failed) ? 1 : 0;
				possible += failed ? 0 : 1;
			}
		}
		return (succeeded >= this.required) ? Decision.REACHED
				: (possible < this.required) ? Decision.UNREACHABLE : Decision.PENDING;
	}

	/** The one that lacks more, of two groups. */
	Quorum worse(@Nullable Reply[] replies) {
		return (this.besides == null || lacks(replies) >= this.besides.lacks(replies)) ? this : this.besides;
	}

	private int lacks(@Nullable Reply[] replies) {
		return this.required - succeeded(replies);
	}

	/** The number of its replicas that must succeed. */
	int required() {
		return this.required;
	}

	/** The number of its replicas that have succeeded. */
	int succeeded(@Nullable Reply[] replies) {
		int succeeded = 0;
		for (int position = 0; position < replies.length; position++) {
			Reply reply = replies[position];
			boolean isCounted = this.counted == null || this.counted[position];
			succeeded += (isCounted && reply != null && !(reply instanceof Failed)) ? 1 : 0;
		}
		return succeeded;
	}

}
