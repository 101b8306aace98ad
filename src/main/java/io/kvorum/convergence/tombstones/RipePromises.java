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
 * Remembers promises by a hash, at most {@value #MAX_REMEMBERED}, until they may go, or
 * were not looked at for long: those begin anew. Used by one thread.
 */
final class RipePromises {

	private static final int MAX_REMEMBERED = 100_000;

	/** The least time after which a promise that was not looked at counts as gone. */
	private static final Duration LEAST_REMEMBERED = Duration.ofDays(1);

	private static final int ROUNDS_REMEMBERED = 3;

	private final KeyHash hash;

	private final long marginNanos;

	private final long rememberedNanos;

	private final Map<Long, Seen> seen = new HashMap<>();

	/**
	 * Remembers nothing yet.
	 * @param margin the time for which a promise has to be old; more than the longest
	 * time limit of a write
	 * @param interval the time between two looks at a promise
	 */
	RipePromises(KeyHash hash, Duration margin, Duration interval) {
		this.hash = hash;
		this.marginNanos = margin.toNanos();
		this.rememberedNanos = Math.max(LEAST_REMEMBERED.toNanos(), ROUNDS_REMEMBERED * interval.toNanos());
	}

	/**
	 * Whether a promise that is older than the grace time may go. To be asked for each of
	 * them in each round. One that may is forgotten here.
	 * @param now in nanoseconds
	 */
	boolean isRipe(PromiseRecord promise, long now) {
		long id = 31 * (31 * this.hash.of(promise.key()) + promise.ballot().timestamp()) + promise.ballot().node();
		Seen before = this.seen.get(id);
		if (before == null && this.seen.size() >= MAX_REMEMBERED) {
			return false;
		}
		long first = (before != null) ? before.firstNanos : now;
		if (now - first >= this.marginNanos) {
			this.seen.remove(id);
			return true;
		}
		this.seen.put(id, new Seen(first, now));
		return false;
	}

	/** Forgets promises that were not looked at for long. To be called in each round. */
	void forgetGone(long now) {
		this.seen.values().removeIf(promise -> now - promise.lastNanos > this.rememberedNanos);
	}

	private record Seen(long firstNanos, long lastNanos) {
	}

}
