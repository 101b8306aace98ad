package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;

/**
 * A key with its hash, computed by the caller of a write, to spare the committer's
 * thread.
 */
record IndexedKey(Key key, long hash) {

	static IndexedKey of(Key key, KeyHash hashes) {
		return new IndexedKey(key, hashes.of(key));
	}

	byte[] bytes() {
		return this.key.bytes();
	}

	/** The key of its {@link IndexRow}. */
	byte[] row() {
		return IndexRow.key(Partitions.ofHash(this.hash), bytes());
	}

}
