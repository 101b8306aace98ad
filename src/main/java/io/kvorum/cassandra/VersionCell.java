package io.kvorum.cassandra;

import java.nio.ByteBuffer;

import io.kvorum.kv.Version;

/**
 * The cell beside an entry that conditional writes compare, so that they need not send
 * the entry: the identity of its write.
 */
final class VersionCell {

	/**
	 * The cell of an entry that was written without a lightweight transaction, which is
	 * compared as a whole. It is larger than all others: where two writes have the same
	 * timestamp, Cassandra keeps the larger of two cells. So no identity ever stands
	 * beside the entry of another write.
	 */
	private static final byte PLAIN = (byte) 0xff;

	private static final byte EXPIRES = 1;

	private static final int LENGTH = 2 * Long.BYTES;

	private VersionCell() {
	}

	/**
	 * The cell of an entry that does not expire. Whoever knows only an identity compares
	 * with this: an entry that expires has another cell, and must be looked at, since
	 * Cassandra keeps it for a while after its end.
	 */
	static ByteBuffer of(Version identity) {
		return ByteBuffer.allocate(LENGTH).putLong(identity.timestamp()).putLong(identity.node()).flip();
	}

	static ByteBuffer ofExpiring(Version identity) {
		return ByteBuffer.allocate(LENGTH + 1)
			.putLong(identity.timestamp())
			.putLong(identity.node())
			.put(EXPIRES)
			.flip();
	}

	static ByteBuffer plain() {
		return ByteBuffer.wrap(new byte[] { PLAIN });
	}

	static boolean isPlain(ByteBuffer cell) {
		return cell.remaining() == 1 && cell.get(cell.position()) == PLAIN;
	}

	/** The identity in a cell that {@link #of} or {@link #ofExpiring} has made. */
	static Version identity(ByteBuffer cell) {
		return new Version(cell.getLong(cell.position()), cell.getLong(cell.position() + Long.BYTES));
	}

}
