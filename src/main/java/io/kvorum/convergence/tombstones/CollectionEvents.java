package io.kvorum.convergence.tombstones;

/** What happens to tombstones, for those who count. */
public interface CollectionEvents {

	/** Where nobody counts. */
	CollectionEvents NONE = new CollectionEvents() {
	};

	/** Tombstones were removed. */
	default void collected(int tombstones) {
	}

	/**
	 * Tombstones that are old enough and were found to have to wait, in the last round,
	 * which does not look at more than it can.
	 * @param forRepair for a repair with all that hold their key
	 * @param forHints for hints that are older
	 */
	default void waiting(int forRepair, int forHints) {
	}

}
