package io.kvorum.layout;

import java.time.Duration;

import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * The time for which a node that was removed goes on to serve clients, which may not have
 * noticed yet. The others collect no tombstones for as long after they have taken the
 * layout without it, and refuse it from then on: it may lack some of those, and would
 * bring back what it holds.
 */
public final class LeavingTime {

	static final Duration LONGEST = Duration.ofHours(1);

	private static final int PART_OF_GRACE = 4;

	private final Duration limit;

	private final TimeSource time;

	private boolean hasLooked;

	/** When the time ends; null for a node that was not removed. */
	private @Nullable Long endNanos;

	/**
	 * A time that has not begun.
	 * @param gcGrace the time for which others keep tombstones
	 */
	public LeavingTime(Duration gcGrace, TimeSource time) {
		Duration part = gcGrace.dividedBy(PART_OF_GRACE);
		this.limit = (part.compareTo(LONGEST) < 0) ? part : LONGEST;
		this.time = time;
	}

	/** How long it is. Others wait for as long before they collect tombstones. */
	public Duration limit() {
		return this.limit;
	}

	/**
	 * Whether it is over. Asked again and again, at first when the node has heard of the
	 * newest layout after its start: one that is removed by then has had its time, maybe
	 * long ago.
	 * @param isRemoved whether the node is none of the newest layout
	 */
	public boolean isOver(boolean isRemoved) {
		long now = this.time.nanos();
		if (!isRemoved) {
			this.endNanos = null;
		}
		else if (this.endNanos == null) {
			this.endNanos = this.hasLooked ? now + this.limit.toNanos() : now;
		}
		this.hasLooked = true;
		Long end = this.endNanos;
		return end != null && now - end >= 0;
	}

}
