package io.kvorum.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;

import io.kvorum.kv.Version;

/**
 * The body of an operation with a ballot, behind its key; numbers are big-endian.
 *
 * <pre>
 *  prepare   timestamp 8, node 8 of the ballot
 *  accept    timestamp 8, node 8 of the version that the proposer has seen; the entry
 * </pre>
 *
 * @param version the ballot, or the version that the proposer has seen
 * @param entry in an {@code EntryFormat}; empty for a prepare
 */
record BallotBody(Version version, byte[] entry) {

	private static final int VERSION_BYTES = 2 * Long.BYTES;

	static byte[] of(Version version, byte[] entry) {
		return ByteBuffer.allocate(VERSION_BYTES + entry.length)
			.putLong(version.timestamp())
			.putLong(version.node())
			.put(entry)
			.array();
	}

	/**
	 * Reads a body.
	 * @throws IllegalArgumentException if it has no version
	 */
	static BallotBody read(byte[] body) {
		if (body.length < VERSION_BYTES) {
			throw new IllegalArgumentException("a ballot of %d bytes".formatted(body.length));
		}
		ByteBuffer in = ByteBuffer.wrap(body);
		return new BallotBody(new Version(in.getLong(), in.getLong()),
				Arrays.copyOfRange(body, VERSION_BYTES, body.length));
	}

}
