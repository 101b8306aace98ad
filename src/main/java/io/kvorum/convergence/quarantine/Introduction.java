package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;

import io.kvorum.replication.PeerQuery;

/**
 * An introduction of one node, the sender, to another, the receiver: what the sender is,
 * and what it remembers of the receiver. Instants are milliseconds since 1970.
 *
 * @param member the index of the sender, or its tag for a receiver with another topology
 * @param identity the random identity of the sender's disk
 * @param aliveMillis the last instant on the sender's disk at which it was alive and
 * could vote, by its clock: a moment ago if it may vote, else the end of its last life.
 * The last life of a restored node ended when its backup was made.
 * @param remembered the identity of the receiver's disk that the sender remembers; 0 if
 * it remembers none
 * @param rememberedMillis an instant at which the receiver was a member with that disk,
 * by the receiver's clock: if it has that disk still, about the last one at which the
 * sender, also in an earlier life, saw it; else when it became one. 0 if it was not
 * @param seenAliveMillis the last {@code aliveMillis} that the sender has received from
 * the receiver. While the receiver has received nothing since its start, the last one
 * before that start. 0 if the sender has received none since its own start. Negative as
 * long as the receiver may not know of the sender's start.
 */
record Introduction(int member, long identity, Membership membership, long aliveMillis, long remembered,
		long rememberedMillis, long seenAliveMillis) {

	private static final int BYTES = Integer.BYTES + 1 + 6 * Long.BYTES;

	/** The last instant at which the sender saw the receiver alive; 0 for never. */
	long lastSeenMillis() {
		return Math.abs(this.seenAliveMillis);
	}

	/** Whether the sender has received an introduction since it started. */
	boolean hasReceived() {
		return this.seenAliveMillis != 0;
	}

	/** Whether the sender may have restarted since its last introduction. */
	boolean mayHaveRestarted() {
		return this.seenAliveMillis <= 0;
	}

	PeerQuery toQuery() {
		byte[] body = ByteBuffer.allocate(BYTES)
			.putInt(this.member)
			.putLong(this.identity)
			.put(this.membership.toBytes())
			.putLong(this.aliveMillis)
			.putLong(this.remembered)
			.putLong(this.rememberedMillis)
			.putLong(this.seenAliveMillis)
			.array();
		return new PeerQuery(PeerQuery.Kind.INTRODUCTION, body);
	}

	/**
	 * Reads an introduction.
	 * @throws IllegalArgumentException if the query is none
	 */
	static Introduction of(PeerQuery query) {
		ByteBuffer in = query.body();
		if (query.kind() != PeerQuery.Kind.INTRODUCTION || in.remaining() != BYTES) {
			throw new IllegalArgumentException("no introduction");
		}
		int member = in.getInt();
		long identity = in.getLong();
		byte[] membership = new byte[1 + Long.BYTES];
		in.get(membership);
		return new Introduction(member, identity, Membership.of(membership), in.getLong(), in.getLong(), in.getLong(),
				in.getLong());
	}

}
