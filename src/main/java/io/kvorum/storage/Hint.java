package io.kvorum.storage;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;

/**
 * An entry that a replica did not acknowledge, kept by its sender until the replica does.
 *
 * @param target the number of the node that is to get it, see {@link HintLog}
 */
public record Hint(long target, Key key, Entry entry) {
}
