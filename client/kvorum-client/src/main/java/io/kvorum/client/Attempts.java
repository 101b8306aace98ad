package io.kvorum.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.Contention;
import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.RequestUnderWay;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one operation, and whether there may be another. A write that may have
 * happened is repeated only if that is harmless.
 */
final class Attempts {

	private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

	private static final int MAX_DOUBLINGS = 6;

	/**
	 * The least time that is left for a repeat. The deadline would cut off a shorter one,
	 * and a write that certainly did not happen would become one that may have.
	 */
	static final long LEAST_NANOS = Duration.ofMillis(20).toNanos();

	/**
	 * The time for which a repeat counts as one. Nodes remember an idempotency key for
	 * ten minutes, if they are not set to less.
	 */
	private static final long NAMED_NANOS = Duration.ofMinutes(9).toNanos();

	private final boolean repeatsUnknown;

	private final boolean isNamed;

	private final int most;

	private final long deadlineNanos;

	/** When the first request began. */
	private long begunNanos;

	private final List<Node> tried = new ArrayList<>();

	/** The node of the request under way; null before the first. */
	private volatile @Nullable Node asked;

	private int failures;

	/** The last failure that a node has told of. */
	private @Nullable KvorumException told;

	private boolean mayHaveHappened;

	/** Whether the nodes that are asked now may not know the idempotency key. */
	private boolean isNameLost;

	/**
	 * No attempt yet.
	 * @param repeatsUnknown whether a request that may have happened may be repeated
	 * @param isNamed whether all requests have one idempotency key
	 * @param most the most requests
	 */
	Attempts(boolean repeatsUnknown, boolean isNamed, int most, long deadlineNanos) {
		this.repeatsUnknown = repeatsUnknown;
		this.isNamed = isNamed;
		this.most = most;
		this.deadlineNanos = deadlineNanos;
	}

	/** The nodes that have failed. */
	List<Node> tried() {
		return this.tried;
	}

	/**
	 * The keys are at other nodes now. Those do not know what the idempotency keys of the
	 * requests before stand for.
	 */
	void keysAreMoved() {
		this.isNameLost = true;
	}

	/** A request begins. */
	void begin(Node node, long nowNanos) {
		if (this.asked == null) {
			this.begunNanos = nowNanos;
		}
		this.asked = node;
	}

	/** The node of the request under way, if there is one. Any thread may ask. */
	List<Node> asked() {
		Node node = this.asked;
		return (node != null) ? List.of(node) : List.of();
	}

	long remainingNanos(long nowNanos) {
		return this.deadlineNanos - nowNanos;
	}

	/** The time in which a repeat must begin. */
	long remainingForRepeatNanos(long nowNanos) {
		return remainingNanos(nowNanos) - LEAST_NANOS;
	}

	/**
	 * A request has failed; returns whether there may be another one. The first one to a
	 * node that has left its keys to others does not count.
	 */
	boolean mayRepeat(Node node, KvorumException failure, long nowNanos) {
		this.failures += (failure.isOfRetired() && !this.tried.contains(node)) ? 0 : 1;
		this.tried.add(node);
		this.told = (failure instanceof NoAnswer) ? this.told : failure;
		this.mayHaveHappened |= failure.outcome() == Outcome.UNKNOWN;
		this.isNameLost |= nowNanos - this.begunNanos > NAMED_NANOS;
		boolean isHarmless = !this.mayHaveHappened || (this.repeatsUnknown && !(this.isNamed && this.isNameLost));
		return failure.isRetryable() && isHarmless && this.failures < this.most
				&& remainingForRepeatNanos(nowNanos) > 0;
	}

	/**
	 * The time before the next request. Other nodes are asked at once; when all have
	 * failed it doubles, up to a second, and is drawn so that clients that failed
	 * together come back apart.
	 * @param nodes the number of nodes
	 * @param random from 0 to 1
	 */
	long pauseNanos(KvorumException failure, int nodes, double random) {
		boolean isTheKeys = failure instanceof Contention || failure instanceof RequestUnderWay;
		int doublings = isTheKeys ? this.failures - 1 : this.failures - nodes;
		return (doublings < 0) ? 0 : (long) (random
				* Math.min(FIRST_PAUSE_NANOS << Math.min(doublings, MAX_DOUBLINGS), LONGEST_PAUSE_NANOS));
	}

	/**
	 * The end of the operation: what all requests together have done. A repeat by its
	 * idempotency key reports the outcome of the first request, and a failed condition is
	 * such an outcome. If nothing can have happened and the time has run out in a repeat,
	 * the result is what a node reported before.
	 */
	KvorumException end(KvorumException last, long nowNanos) {
		if (this.mayHaveHappened) {
			boolean isOfAll = this.isNamed && !this.isNameLost && last instanceof ConditionNotMet;
			return isOfAll ? last : last.unknown();
		}
		boolean isCutOff = last instanceof NoAnswer && remainingForRepeatNanos(nowNanos) <= 0;
		return (isCutOff && this.told != null) ? this.told : last;
	}

	/** The end of the operation by an error of this client, before a request was sent. */
	Throwable end(Node node, Throwable error) {
		return this.mayHaveHappened ? new NoAnswer("%s was not asked, and an earlier request may have happened: %s"
			.formatted(node.url(), error.getMessage()), Outcome.UNKNOWN, node.url(), error, false) : error;
	}

}
