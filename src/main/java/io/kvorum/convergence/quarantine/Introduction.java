package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;

import io.kvorum.replication.PeerQuery;

/**
 * What a node says of itself, and what it remembers of the one it talks to.
 *
 * @param identity of its disk, random
 * @param aliveMillis the last instant at which it was alive and believed, as its disk has
 * it, by its clock: a moment ago for one that is believed, else the end of its last life,
 * which for one that was restored is when its backup was made
 * @param remembered the identity of the disk that the other one had when it was a member;
 * 0 if it never was one
 * @param rememberedMillis since when it was a member with that one
 * @param seenAliveMillis what {@code aliveMillis} the other one has told it: the last
 * one, or, as long as that one has heard nothing since its start, the last one before; 0
 * if none since this one started, and negative as long as the other one may not know of
 * that start
 */
record Introduction(int member, long identity, Membership membership, long aliveMillis, long remembered,
		long rememberedMillis, long seenAliveMillis) {

	private static final int BYTES = Integer.BYTES + 1 + 6 * Long.BYTES;

	/** What the other one has told it; 0 if nothing. */
	long lastSeenMillis() {
		return Math.abs(this.seenAliveMillis);
	}

	/** Whether it has heard the other one since it started. */
	boolean hasHeard() {
		return this.seenAliveMillis != 0;
	}

	/** Whether it may have restarted since it last introduced itself. */
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
