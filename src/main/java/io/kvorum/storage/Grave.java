package io.kvorum.storage;

/**
 * A tombstone, and when it was laid here.
 *
 * @param sinceMillis by the clock of this node, in milliseconds since 1970
 */
public record Grave(Stub stub, long sinceMillis) {
}
