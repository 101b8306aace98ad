package io.kvorum.storage;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

import io.kvorum.clock.TimeSource;

/**
 * The instant up to which expired entries may be removed for good. It is the least that
 * the wall clock has shown within a margin of elapsed time. Elapsed time does not jump.
 * <p>
 * An expired entry is invisible at once. With other replicas, its removal leaves a
 * tombstone of the same version. No comparison of replicas can tell that tombstone from
 * the value. A wall clock that is ahead for less than the margin, however far, removes
 * nothing early.
 * <p>
 * Used by one thread.
 */
public final class ExpiryHorizon {

	/**
	 * The least time for which an expired entry stays on disk. A longer one costs only
	 * space.
	 */
	public static final Duration MARGIN = Duration.ofHours(1);

	/** The horizon before which nothing expires, so nothing may be removed yet. */
	public static final long NOTHING = 0;

	/** The parts of the margin, each with one reading, so that readings are few. */
	private static final int PARTS = 64;

	private final TimeSource time;

	private final long marginNanos;

	/** The readings, the oldest first. */
	private final Deque<Reading> readings = new ArrayDeque<>();

	public ExpiryHorizon(TimeSource time, Duration margin) {
		this.time = time;
		this.marginNanos = margin.toNanos();
	}

	/**
	 * Reads the clocks. Call it regularly from the start on.
	 * @return milliseconds since 1970; {@link #NOTHING} if the first call was less than
	 * the margin ago
	 */
	public long millis() {
		long nanos = this.time.nanos();
		read(nanos, this.time.millis());
		Reading first = this.readings.removeFirst();
		while (!this.readings.isEmpty() && nanos - this.readings.getFirst().nanos >= this.marginNanos) {
			first = this.readings.removeFirst();
		}
		this.readings.addFirst(first);
		boolean isCovered = nanos - first.nanos >= this.marginNanos;
		return isCovered ? this.readings.stream().mapToLong(reading -> reading.leastMillis).min().orElseThrow()
				: NOTHING;
	}

	private void read(long nanos, long millis) {
		Reading last = this.readings.peekLast();
		if (last == null || nanos - last.nanos >= this.marginNanos / PARTS) {
			this.readings.addLast(new Reading(nanos, millis));
		}
		else {
			this.readings.removeLast();
			this.readings.addLast(new Reading(last.nanos, Math.min(last.leastMillis, millis)));
		}
	}

	/** The least time that the wall clock has shown from an instant on. */
	private record Reading(long nanos, long leastMillis) {
	}

}
