package io.kvorum.convergence.antientropy;

import java.time.Duration;

/**
 * Settings of anti-entropy.
 *
 * @param interval how often everything is compared with every other member
 * @param concurrency the most members to repair with at the same time
 * @param bytesPerSecond the most bytes of entries to exchange with one member
 * @param timeout how long a member may take to answer
 * @param settlingTime the age below which a difference does not count, because its write
 * may be under way
 * @param retryDelay the time after which a failed repair is tried again; doubles with
 * each failure, up to about half a minute
 */
public record RepairSettings(Duration interval, int concurrency, long bytesPerSecond, Duration timeout,
		Duration settlingTime, Duration retryDelay) {
}
