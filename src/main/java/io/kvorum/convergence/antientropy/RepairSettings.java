package io.kvorum.convergence.antientropy;

import java.time.Duration;

/**
 * How replicas are compared and repaired.
 *
 * @param interval how often everything is compared with every other member
 * @param concurrency members that this one compares itself with at the same time
 * @param bytesPerSecond what it exchanges with one of them at most, beside comparing
 * @param timeout how long a member may take for an answer
 * @param settlingTime differences that are younger than this are none: their write is
 * still under way
 * @param retryDelay after which a repair that failed is tried again; twice as long each
 * time, up to half a minute or so
 */
public record RepairSettings(Duration interval, int concurrency, long bytesPerSecond, Duration timeout,
		Duration settlingTime, Duration retryDelay) {
}
