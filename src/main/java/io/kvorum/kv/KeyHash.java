package io.kvorum.kv;

/** A hash of keys that all nodes agree on; its bits are as good as random. */
@FunctionalInterface
public interface KeyHash {

	long of(Key key);

}
