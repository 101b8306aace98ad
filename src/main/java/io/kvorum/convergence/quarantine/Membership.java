package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;

/**
 * The membership of a node in its cluster, which it remembers over restarts.
 *
 * @param admittedMillis when it last became a member with this disk, by its own clock, in
 * milliseconds since 1970; 0 if it never was one
 */
record Membership(State state, long admittedMillis) {

	static final Membership NEW = new Membership(State.NEW, 0);

	private static final int BYTES = 1 + Long.BYTES;

	byte[] toBytes() {
		return ByteBuffer.allocate(BYTES).put(this.state.code).putLong(this.admittedMillis).array();
	}

	/**
	 * Reads a membership.
	 * @throws RuntimeException if these bytes are none
	 */
	static Membership of(byte[] bytes) {
		ByteBuffer in = ByteBuffer.wrap(bytes);
		return new Membership(State.ofCode(in.get()), in.getLong());
	}

	boolean isMember() {
		return this.state == State.MEMBER;
	}

	/**
	 * The membership of a node whose disk may lack the last writes that it acknowledged.
	 */
	Membership unsynced() {
		return switch (this.state) {
			case MEMBER, NEWCOMER, READY, REUNITED -> new Membership(State.UNSYNCED, this.admittedMillis);
			case AWAY_TOO_LONG -> new Membership(State.STALE_DISK, this.admittedMillis);
			case NEW, LOST_DISK, STALE_DISK, RESTORED, UNSYNCED -> this;
		};
	}

	/** The states of a node and its disk. */
	enum State {

		/** Its disk is empty, and it does not know why. */
		NEW(1, "new", "its disk is empty"),

		/**
		 * Its disk was empty, and it had acknowledged nothing before: it or the cluster
		 * is new.
		 */
		READY(2, "ready", "its disk was empty, and it has acknowledged nothing before"),

		/** It has all that it ever acknowledged. */
		MEMBER(3, "member", "it is a member of the cluster"),

		/** It is new in a cluster that has data, and had acknowledged nothing before. */
		NEWCOMER(4, "blank", "it is new in a cluster that has data"),

		/** It had another disk, and lacks what it acknowledged with that one. */
		LOST_DISK(5, "lost", "it has lost the disk that its peers remember"),

		/**
		 * It was away for so long that it may hold entries whose tombstones others have
		 * collected. It has all that it ever acknowledged.
		 */
		AWAY_TOO_LONG(6, "absent", "it was away for longer than others keep tombstones"),

		/**
		 * It has an older copy of its disk. It lacks what it acknowledged since, and may
		 * hold entries whose tombstones others have collected.
		 */
		STALE_DISK(7, "old", "it has an older disk than its peers have, or remember"),

		/**
		 * It was restored from a backup, to begin again together with all other nodes.
		 * Among others that have gone on it would have a stale disk.
		 */
		RESTORED(8, "restored", "it was restored from a backup together with all others"),

		/** It was restored from a backup, and knows that all others were. */
		REUNITED(9, "reunited", "it was restored from a backup, and so were all others"),

		/**
		 * Its machine ended without a clean stop of the node. It may lack the last
		 * writes, because it does not sync them before it acknowledges them.
		 */
		UNSYNCED(10, "unsynced", "its machine ended before all that it had acknowledged was synced");

		private final byte code;

		private final String label;

		private final String text;

		State(int code, String label, String text) {
			this.code = (byte) code;
			this.label = label;
			this.text = text;
		}

		/** The name in health and in the convergence endpoint. Users depend on it. */
		String label() {
			return this.label;
		}

		/** A sentence for people, whose subject is the node. */
		String text() {
			return this.text;
		}

		static State ofCode(byte code) {
			for (State state : values()) {
				if (state.code == code) {
					return state;
				}
			}
			throw new IllegalArgumentException("there is no state " + code);
		}

		/** Whether it has to get everything from others before it may vote. */
		boolean isToBeRebuilt() {
			return this == NEWCOMER || this == LOST_DISK || this == UNSYNCED || mayHoldCollected();
		}

		/** Whether it may hold entries whose tombstones others have collected. */
		boolean mayHoldCollected() {
			return this == AWAY_TOO_LONG || this == STALE_DISK;
		}

	}

}
