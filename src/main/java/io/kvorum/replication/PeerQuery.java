package io.kvorum.replication;

import java.nio.ByteBuffer;

/**
 * A query of one node to another, other than a read or a store. It has a kind and a body,
 * whose form depends on the kind. On the wire the body follows the code of the kind,
 * which takes one byte.
 */
public final class PeerQuery {

	private final Kind kind;

	private final byte[] body;

	/**
	 * Creates a query.
	 * @param body not to be changed afterwards
	 */
	public PeerQuery(Kind kind, byte[] body) {
		this.kind = kind;
		this.body = body;
	}

	/**
	 * Reads a query as it is on the wire.
	 * @throws IllegalArgumentException if it has no kind, or an unknown one
	 */
	public static PeerQuery of(byte[] bytes) {
		if (bytes.length == 0) {
			throw new IllegalArgumentException("an empty query");
		}
		ByteBuffer in = ByteBuffer.wrap(bytes);
		Kind kind = Kind.ofCode(in.get());
		byte[] body = new byte[in.remaining()];
		in.get(body);
		return new PeerQuery(kind, body);
	}

	public Kind kind() {
		return this.kind;
	}

	/** The body, to be read from its beginning. */
	public ByteBuffer body() {
		return ByteBuffer.wrap(this.body).asReadOnlyBuffer();
	}

	/** The length on the wire in bytes. */
	public int length() {
		return 1 + this.body.length;
	}

	/** The bytes on the wire. */
	public byte[] toBytes() {
		return ByteBuffer.allocate(length()).put(this.kind.code).put(this.body).array();
	}

	/** Kinds of queries, with their codes on the wire. */
	public enum Kind {

		/** What each of the two nodes is, for quarantine. */
		INTRODUCTION(1),

		/**
		 * The digests of all slices. This kind and those up to 7 are for anti-entropy.
		 */
		SLICES(2),

		/** The digests of the partitions in some slices. */
		LEAVES(3),

		/** The differences in some partitions. */
		COMPARE(4),

		/** The entries of some keys. */
		FETCH(5),

		/** The entry of one key, of any length. */
		FETCH_WHOLE(6),

		/** Promises, from a key on. Only for nodes that know ballots. */
		PROMISES(7),

		/** A {@link KeyHead}, for inspection. Only for nodes that know ballots. */
		HEAD(8),

		/**
		 * How far the node is in a change of the topology. Asked by nodes in a change
		 * only, so by none of a release without changes.
		 */
		CHANGE(9);

		private final byte code;

		Kind(int code) {
			this.code = (byte) code;
		}

		private static Kind ofCode(byte code) {
			for (Kind kind : values()) {
				if (kind.code == code) {
					return kind;
				}
			}
			throw new IllegalArgumentException("a query of the unknown kind " + code);
		}

	}

}
