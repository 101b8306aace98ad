package io.kvorum.api;

import java.time.Duration;

/**
 * The limits of the HTTP API.
 *
 * @param maxValueBytes the largest value
 * @param maxInFlightBytes the memory that values may take between network and store, in
 * each direction
 * @param rangeStallTimeout how long a client may pause while it receives a range
 */
public record ApiSettings(int maxValueBytes, long maxInFlightBytes, Duration rangeStallTimeout) {
}
