package io.kvorum.storage;

/**
 * A tombstone, and the time at which this node got it.
 *
 * @param sinceMillis the arrival by this node's clock, in milliseconds since 1970
 */
public record TombstoneRecord(EntryHeader header, long sinceMillis) {
}
