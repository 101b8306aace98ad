package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.PromiseRecord;

/**
 * Finds promises that have been older than the grace time for a margin of elapsed time. A
 * wall clock that is ahead, however far and for however long, makes a promise old at
 * once, and writes that it has to refuse may still be under way. Elapsed time does not
 * jump.
 * <p>
 * Remembers promises by a hash, at most {@value #MAX_REMEMBERED}, and those that it looks
 * at again within {@link #FORGOTTEN_AFTER}. Others begin anew. Used by one thread.
 */
final class RipePromises {

	private static final int MAX_REMEMBERED = 100_000;

	/** The time after which a promise that was not looked at counts as gone. */
	private static final Duration FORGOTTEN_AFTER = Duration.ofDays(1);

	private final KeyHash hash;

	private final long marginNanos;

	private final Map<Long, Seen> seen = new HashMap<>();

	/**
	 * Remembers nothing yet.
	 * @param margin the time for which a promise has to be old; more than the longest
	 * time limit of a write
	 */
	RipePromises(KeyHash hash, Duration margin) {
		this.hash = hash;
		this.marginNanos = margin.toNanos();
	}

	/**
	 * Whether a promise that is older than the grace time may go. To be asked for each of
	 * them in each round.
	 * @param now in nanoseconds
	 */
	boolean isRipe(PromiseRecord promise, long now) {
		long id = 31 * (31 * this.hash.of(promise.key()) + promise.ballot().timestamp()) + promise.ballot().node();
		Seen before = this.seen.get(id);
		if (before == null && this.seen.size() >= MAX_REMEMBERED) {
			return false;
		}
		Seen next = new Seen((before != null) ? before.firstNanos : now, now);
		this.seen.put(id, next);
		return now - next.firstNanos >= this.marginNanos;
	}

	/** Forgets promises that were not looked at for long. To be called in each round. */
	void forgetGone(long now) {
		this.seen.values().removeIf(promise -> now - promise.lastNanos > FORGOTTEN_AFTER.toNanos());
	}

	private record Seen(long firstNanos, long lastNanos) {
	}

}
