package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;

/** Receives the events of repairs, for meters. */
public interface RepairEvents {

	/** Ignores all events. */
	RepairEvents NONE = new RepairEvents() {
	};

	/** Bytes were exchanged to find differences. */
	default void compared(Member peer, long bytes) {
	}

	/** Keys were found to differ. */
	default void differing(Member peer, int keys) {
	}

	/** Entries were copied to this node, or to the peer. */
	default void moved(Member peer, Direction direction, int entries, long bytes) {
	}

	/**
	 * Entries were removed because they are misplaced, or no other replica knows them.
	 */
	default void letGo(int entries) {
	}

	/**
	 * A repair of all slices in need has ended.
	 * @param complete whether all of these slices are equal
	 * @param nanos the time that the repair took
	 */
	default void ended(Member peer, boolean complete, long nanos) {
	}

	/** The node that an entry was copied to. */
	enum Direction {

		HERE, THERE

	}

}
