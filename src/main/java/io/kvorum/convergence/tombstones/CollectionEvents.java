package io.kvorum.convergence.tombstones;

/** Receives the events of collected tombstones, for meters. */
public interface CollectionEvents {

	/** Ignores all events. */
	CollectionEvents NONE = new CollectionEvents() {
	};

	/** Tombstones were removed. */
	default void collected(int tombstones) {
	}

	/**
	 * A round that began at the oldest tombstone has ended. It looked at a limited number
	 * of tombstones that are old enough.
	 * @param forRepair tombstones that wait for a repair with every other member
	 * @param forHints tombstones that wait for older hints to go
	 */
	default void waiting(int forRepair, int forHints) {
	}

}
