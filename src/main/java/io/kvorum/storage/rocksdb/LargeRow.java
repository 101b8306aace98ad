package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Version;

/**
 * The layout of large entries, which are apart from the others: who lists keys, or only
 * looks for versions, reads no large value. Their beginning stays among the entries, see
 * {@link io.kvorum.storage.EntryFormat#beginning}.
 *
 * <pre>
 *  key    key, timestamp 8, node 8
 *  value  the whole entry
 * </pre>
 *
 * A row belongs to one version, so a reader that has found the beginning never gets the
 * value of another version.
 */
final class LargeRow {

	/**
	 * The length from which an entry is large, in bytes. Each costs a second lookup,
	 * which is little beside a value of this length.
	 */
	static final int MIN_BYTES = 4 << 10;

	private LargeRow() {
	}

	static byte[] key(byte[] key, Version version) {
		return ByteBuffer.allocate(key.length + 2 * Long.BYTES)
			.put(key)
			.putLong(version.timestamp())
			.putLong(version.node())
			.array();
	}

}
