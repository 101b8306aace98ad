package io.kvorum.storage;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;

/**
 * An entry that a node did not acknowledge, kept by the node that sent it until it does.
 *
 * @param target stands for the node that is to get it, see {@link HintLog}
 */
public record Hint(long target, Key key, Entry entry) {
}
