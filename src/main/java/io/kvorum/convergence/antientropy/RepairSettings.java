package io.kvorum.convergence.antientropy;

import java.time.Duration;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;

/**
 * Settings of anti-entropy.
 *
 * @param interval the time between two comparisons of everything with every other member
 * @param concurrency the most members to repair with at the same time
 * @param bytesPerSecond the most bytes of entries, each second, to exchange with one
 * member; the same limit applies to all misplaced entries together
 * @param timeout how long a member may take to answer; longer for a large entry
 * @param settlingTime the age below which a difference does not count, because its write
 * may be under way
 * @param retryDelay the time after which a failed repair is tried again; doubles with
 * each failure in a row, up to about half a minute, unless the failure passes by itself
 */
public record RepairSettings(Duration interval, int concurrency, long bytesPerSecond, Duration timeout,
		Duration settlingTime, Duration retryDelay) {

	/** When a call to a member that moves an entry of this length is given up. */
	Deadline deadline(TimeSource time, long bytes) {
		return Deadline.ofTransfer(time, this.timeout, bytes);
	}

}
