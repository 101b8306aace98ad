package io.kvorum.storage;

/** Observes a storage engine. Called by any thread. */
public interface StorageEvents {

	/** Observes nothing. */
	StorageEvents NONE = new StorageEvents() {
	};

	/**
	 * A read was answered from what was written or read lately, on the calling thread.
	 */
	default void readFromRowCache() {
	}

	/** A read was answered from other memory, on the calling thread. */
	default void readFromMemory() {
	}

	/** A read went to the storage scheduler and took so long, waiting included. */
	default void readFromDisk(long nanos) {
	}

	/**
	 * A batch was written.
	 * @param writes how many writes were in it
	 * @param waitedNanos how long the first of them had waited for it
	 * @param writeNanos how long writing took, the sync included
	 */
	default void batchWritten(int writes, long waitedNanos, long writeNanos) {
	}

	/** A request met a limit and was not taken. */
	default void overloaded() {
	}

	/** Something stored could not be read. */
	default void unreadable() {
	}

	/** Writes are refused or failed for want of space. */
	default void outOfSpace() {
	}

	/** Expired entries were collected. */
	default void collected(int entries) {
	}

}
