package io.kvorum.transport;

import io.kvorum.kv.Key;
import io.netty.buffer.ByteBuf;

/**
 * Request to a replica.
 *
 * <pre>
 *  0       4            8     9                 13         15
 *  length  correlation  kind  remaining micros  key bytes  key  entry
 * </pre>
 */
final class OperationFrame implements Frame {

	private static final int FIXED = ReplicaProtocol.HEAD_BYTES + Integer.BYTES + Short.BYTES;

	/** Stands for the key of an operation without one. */
	static final Key NO_KEY = Key.of(new byte[1]);

	final int correlation;

	final byte kind;

	/** Time that the operation has from its arrival, in microseconds. */
	final int remainingMicros;

	final Key key;

	/**
	 * The entry to store, in an {@code EntryFormat}; for a scan its {@link ScanOrder};
	 * for a question the question. For ballots {@link BallotBody}.
	 */
	final byte[] entry;

	OperationFrame(int correlation, byte kind, int remainingMicros, Key key, byte[] entry) {
		this.correlation = correlation;
		this.kind = kind;
		this.remainingMicros = remainingMicros;
		this.key = key;
		this.entry = entry;
	}

	static OperationFrame ping(int correlation) {
		return new OperationFrame(correlation, ReplicaProtocol.PING, 0, NO_KEY, NO_BYTES);
	}

	/**
	 * Reads what follows the length.
	 * @throws RuntimeException if these bytes are no frame
	 */
	static OperationFrame read(ByteBuf in) {
		int correlation = in.readInt();
		byte kind = in.readByte();
		int remainingMicros = in.readInt();
		byte[] key = new byte[in.readUnsignedShort()];
		in.readBytes(key);
		byte[] entry = in.isReadable() ? new byte[in.readableBytes()] : NO_BYTES;
		in.readBytes(entry);
		return new OperationFrame(correlation, kind, remainingMicros, Key.of(key), entry);
	}

	@Override
	public int headBytes() {
		return headBytes(this.key);
	}

	static int headBytes(Key key) {
		return FIXED + key.bytes().length;
	}

	@Override
	public void writeHead(ByteBuf out) {
		writeHead(out, this.correlation, this.kind, this.remainingMicros, this.key, this.entry.length);
	}

	static void writeHead(ByteBuf out, int correlation, byte kind, int remainingMicros, Key key, int entryBytes) {
		out.writeInt(headBytes(key) - Integer.BYTES + entryBytes);
		out.writeInt(correlation);
		out.writeByte(kind);
		out.writeInt(remainingMicros);
		out.writeShort(key.bytes().length);
		out.writeBytes(key.bytes());
	}

	@Override
	public byte[] tail() {
		return this.entry;
	}

}
