package io.kvorum.api;

/**
 * The limits of the HTTP API.
 *
 * @param maxValueBytes the largest value
 * @param maxInFlightBytes the memory that values may take between network and store, in
 * each direction
 */
public record ApiSettings(int maxValueBytes, long maxInFlightBytes) {
}
