package io.kvorum.api;

import java.time.Duration;

/**
 * The limits of the HTTP API.
 *
 * @param maxValueBytes the largest value
 * @param maxInFlightBytes the memory of values between network and store, in each
 * direction
 * @param rangeStallTimeout the longest time for which a client may pause while it
 * receives a range
 */
public record ApiSettings(int maxValueBytes, long maxInFlightBytes, Duration rangeStallTimeout) {
}
