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
 */
final class BallotBody {

	private static final int VERSION_BYTES = 2 * Long.BYTES;

	/** The ballot, or the version that the proposer has seen. */
	final Version version;

	/** In an {@code EntryFormat}; empty for a prepare. */
	final byte[] entry;

	private BallotBody(Version version, byte[] entry) {
		this.version = version;
		this.entry = entry;
	}

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
