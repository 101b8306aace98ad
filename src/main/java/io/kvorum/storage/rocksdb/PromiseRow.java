package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Version;

/**
 * The layout of promises: key → timestamp 8, node 8 of the highest ballot promised. There
 * is no row if the entry of the key was stored under that ballot.
 */
final class PromiseRow {

	static final int VALUE_BYTES = 2 * Long.BYTES;

	private PromiseRow() {
	}

	static byte[] value(Version ballot) {
		return ByteBuffer.allocate(VALUE_BYTES).putLong(ballot.timestamp()).putLong(ballot.node()).array();
	}

	static Version ballot(byte[] value) {
		ByteBuffer buffer = ByteBuffer.wrap(value);
		return new Version(buffer.getLong(), buffer.getLong());
	}

}
