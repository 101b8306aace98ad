package io.kvorum.storage;

/**
 * A tombstone, and the instant at which it was stored here.
 *
 * @param sinceMillis by the clock of this node, in milliseconds since 1970
 */
public record TombstoneRecord(EntryHeader header, long sinceMillis) {
}
