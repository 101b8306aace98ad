package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;

/** What happens when replicas are compared, for those who count. */
public interface RepairEvents {

	/** Where nobody counts. */
	RepairEvents NONE = new RepairEvents() {
	};

	/** Bytes that were exchanged to find differences. */
	default void compared(Member peer, long bytes) {
	}

	/** Keys that were found to differ. */
	default void differing(Member peer, int keys) {
	}

	/** Entries that were brought here, or there. */
	default void moved(Member peer, Direction direction, int entries, long bytes) {
	}

	/** Entries were let go, since they do not belong here or nobody else knows them. */
	default void letGo(int entries) {
	}

	/** A repair of all that was in need of it is over. */
	default void ended(Member peer, boolean complete, long nanos) {
	}

	/** Which way an entry went. */
	enum Direction {

		HERE, THERE

	}

}
