package io.kvorum.transport;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.netty.buffer.ByteBuf;

/**
 * Request to a replica.
 *
 * <pre>
 *  0       4            8     9                 13         15
 *  length  correlation  kind  remaining micros  key bytes  key  [timestamp 8, node 8]  entry
 * </pre>
 *
 * Only a prepare and an accept have a version. It is the ballot of a prepare, and the
 * newest version that the proposer of an accept has seen.
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

	/** {@link Version#ABSENT} if the kind has no version. */
	final Version version;

	/**
	 * The entry to store, in an {@code EntryFormat}; for a scan its {@link ScanOrder};
	 * for a query its bytes.
	 */
	final byte[] entry;

	OperationFrame(int correlation, byte kind, int remainingMicros, Key key, byte[] entry) {
		this(correlation, kind, remainingMicros, key, Version.ABSENT, entry);
	}

	OperationFrame(int correlation, byte kind, int remainingMicros, Key key, Version version, byte[] entry) {
		this.correlation = correlation;
		this.kind = kind;
		this.remainingMicros = remainingMicros;
		this.key = key;
		this.version = version;
		this.entry = entry;
	}

	static OperationFrame ping(int correlation) {
		return new OperationFrame(correlation, ReplicaProtocol.PING, 0, NO_KEY, NO_BYTES);
	}

	/** Tells of other topologies of this node. */
	static OperationFrame topology(TopologyNames topologies) {
		return new OperationFrame(0, ReplicaProtocol.TOPOLOGY, 0, NO_KEY, topologies.toBytes());
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
		Version version = hasVersion(kind) ? new Version(in.readLong(), in.readLong()) : Version.ABSENT;
		byte[] entry = in.isReadable() ? new byte[in.readableBytes()] : NO_BYTES;
		in.readBytes(entry);
		return new OperationFrame(correlation, kind, remainingMicros, Key.of(key), version, entry);
	}

	private static boolean hasVersion(byte kind) {
		return kind == ReplicaProtocol.PREPARE || kind == ReplicaProtocol.ACCEPT;
	}

	@Override
	public int headBytes() {
		return headBytes(this.kind, this.key);
	}

	static int headBytes(byte kind, Key key) {
		return FIXED + key.bytes().length + (hasVersion(kind) ? 2 * Long.BYTES : 0);
	}

	@Override
	public void writeHead(ByteBuf out) {
		writeHead(out, this.correlation, this.kind, this.remainingMicros, this.key, this.version, this.entry.length);
	}

	static void writeHead(ByteBuf out, int correlation, byte kind, int remainingMicros, Key key, Version version,
			int entryBytes) {
		out.writeInt(headBytes(kind, key) - Integer.BYTES + entryBytes);
		out.writeInt(correlation);
		out.writeByte(kind);
		out.writeInt(remainingMicros);
		out.writeShort(key.bytes().length);
		out.writeBytes(key.bytes());
		if (hasVersion(kind)) {
			out.writeLong(version.timestamp());
			out.writeLong(version.node());
		}
	}

	@Override
	public byte[] tail() {
		return this.entry;
	}

}
