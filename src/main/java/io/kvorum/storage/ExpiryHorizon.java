package io.kvorum.storage;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

import io.kvorum.clock.TimeSource;

/**
 * The instant up to which what has expired may be removed for good: the least that the
 * wall clock has shown within a margin of elapsed time, which does not jump.
 * <p>
 * What has expired is invisible at once. Its removal is another matter: it leaves a
 * tombstone of the same version, which no comparison of replicas tells from the value. A
 * wall clock that is ahead for less than the margin, however far, removes nothing early.
 * <p>
 * Used by one thread.
 */
public final class ExpiryHorizon {

	/**
	 * The time that an entry stays on disk after it has expired. More costs only space.
	 */
	public static final Duration MARGIN = Duration.ofHours(1);

	/** The instant before everything that expires: nothing may be removed yet. */
	public static final long NOTHING = 0;

	/** Readings are kept for this part of the margin each, so that they are few. */
	private static final int PARTS = 64;

	private final TimeSource time;

	private final long marginNanos;

	/** The oldest first. */
	private final Deque<Reading> readings = new ArrayDeque<>();

	public ExpiryHorizon(TimeSource time, Duration margin) {
		this.time = time;
		this.marginNanos = margin.toNanos();
	}

	/**
	 * Reads the clocks. To be called every now and then, from a start on.
	 * @return milliseconds since 1970; {@link #NOTHING} where the first call was less
	 * than the margin ago
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

	/** The least that the wall clock has shown from an instant on. */
	private record Reading(long nanos, long leastMillis) {
	}

}
