package io.kvorum.api;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The limits of the HTTP API.
 *
 * @param maxValueBytes the largest value
 * @param maxInFlightBytes the memory of values between network and store, in each
 * direction
 * @param rangeStallTimeout the longest time for which a client may pause while it
 * receives a range
 * @param slowRequestTime the time from which on a request is logged as slow; null logs
 * none
 * @param isRetired whether only gateways that take the keys over may read
 * @param takesOver whether this is such a gateway
 */
public record ApiSettings(int maxValueBytes, long maxInFlightBytes, Duration rangeStallTimeout,
		@Nullable Duration slowRequestTime, boolean isRetired, boolean takesOver) {
}
