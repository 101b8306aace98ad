package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;

/**
 * What a node is in its cluster, as it remembers over restarts.
 *
 * @param admittedMillis since when it is a member with this disk, or was one; 0 if it
 * never was. By the clock of that node, in milliseconds since 1970.
 */
record Membership(State state, long admittedMillis) {

	static final Membership NEW = new Membership(State.NEW, 0);

	private static final int BYTES = 1 + Long.BYTES;

	byte[] toBytes() {
		return ByteBuffer.allocate(BYTES).put(this.state.code).putLong(this.admittedMillis).array();
	}

	/**
	 * Reads it.
	 * @throws RuntimeException if these bytes are none
	 */
	static Membership of(byte[] bytes) {
		ByteBuffer in = ByteBuffer.wrap(bytes);
		return new Membership(State.ofCode(in.get()), in.getLong());
	}

	boolean isMember() {
		return this.state == State.MEMBER;
	}

	/** What it is once some of what it acknowledged may be missing from its disk. */
	Membership unsynced() {
		return switch (this.state) {
			case MEMBER, BLANK, READY, REUNITED -> new Membership(State.UNSYNCED, this.admittedMillis);
			case ABSENT -> new Membership(State.OLD, this.admittedMillis);
			case NEW, LOST, OLD, RESTORED, UNSYNCED -> this;
		};
	}

	/** What a node is. */
	enum State {

		/** It has an empty disk and does not know why. */
		NEW(1, "its disk is empty"),

		/** It has an empty disk, and so had all others: the cluster is new. */
		READY(2, "its disk was empty, and so were those of all others"),

		/** It has all that it ever acknowledged. */
		MEMBER(3, "it is a member of the cluster"),

		/** It is new in a cluster that is not, and never acknowledged anything. */
		BLANK(4, "it is new in a cluster that has data"),

		/** It had another disk once, and what it acknowledged then is not on this one. */
		LOST(5, "it has lost the disk that its peers remember"),

		/**
		 * It was away for so long that it may have what others have long collected. It
		 * has all that it ever acknowledged.
		 */
		ABSENT(6, "it was away for longer than others keep tombstones"),

		/**
		 * It has an older copy of its disk: it may have what others have collected, and
		 * lacks what it acknowledged since.
		 */
		OLD(7, "it has an older disk than its peers have, or remember"),

		/**
		 * It was restored from a backup, as one of a cluster of which all nodes are to
		 * be: alone it lacks what it acknowledged since.
		 */
		RESTORED(8, "it was restored from a backup together with all others"),

		/** It was restored, and so were all others. */
		REUNITED(9, "it was restored from a backup, and so were all others"),

		/**
		 * Its machine ended without a clean stop, and it acknowledges what is not synced:
		 * it may lack the last of that.
		 */
		UNSYNCED(10, "its machine ended before all that it had acknowledged was synced");

		private final byte code;

		private final String text;

		State(int code, String text) {
			this.code = (byte) code;
			this.text = text;
		}

		/** For people. */
		String text() {
			return this.text;
		}

		byte code() {
			return this.code;
		}

		static State ofCode(byte code) {
			for (State state : values()) {
				if (state.code == code) {
					return state;
				}
			}
			throw new IllegalArgumentException("there is no state " + code);
		}

		/** Whether it has to get from others what it lacks. */
		boolean isToBeRebuilt() {
			return this == BLANK || this == LOST || this == UNSYNCED || isStale();
		}

		/** Whether it may have what others have long collected. */
		boolean isStale() {
			return this == ABSENT || this == OLD;
		}

	}

}
