package io.kvorum.storage;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * A promise that is kept beside the entry of its key.
 *
 * @param ballot the ballot below which nothing of the key is stored
 */
public record PromiseRecord(Key key, Version ballot) {
}
