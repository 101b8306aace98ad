package io.kvorum.storage;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * What is known of a stored entry without reading it.
 *
 * @param copies the replicas that its write asked for
 * @param tombstone whether it is one
 */
public record Stub(Key key, Version version, int copies, boolean tombstone) {
}
