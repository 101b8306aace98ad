package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;

/**
 * A key with its hash and its index row, computed by the caller of a write, to spare the
 * committer's thread.
 */
final class IndexedKey {

	private final Key key;

	private final long hash;

	private final byte[] row;

	private IndexedKey(Key key, long hash) {
		this.key = key;
		this.hash = hash;
		this.row = IndexRow.key(Partitions.ofHash(hash), key.bytes());
	}

	static IndexedKey of(Key key, KeyHash hashes) {
		return new IndexedKey(key, hashes.of(key));
	}

	Key key() {
		return this.key;
	}

	long hash() {
		return this.hash;
	}

	byte[] row() {
		return this.row;
	}

	byte[] bytes() {
		return this.key.bytes();
	}

}
