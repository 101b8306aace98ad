package io.kvorum.convergence.tombstones;

/** Tells what happens to tombstones. */
public interface CollectionEvents {

	/** Counts nothing. */
	CollectionEvents NONE = new CollectionEvents() {
	};

	/** Tombstones were removed. */
	default void collected(int tombstones) {
	}

	/**
	 * A round found tombstones that are old enough and have to wait. It began at the
	 * oldest one, and looked at a limited number.
	 * @param forRepair tombstones that wait for a repair with every other member
	 * @param forHints tombstones that wait for older hints to go
	 */
	default void waiting(int forRepair, int forHints) {
	}

}
