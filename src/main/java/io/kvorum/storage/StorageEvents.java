package io.kvorum.storage;

/** Receives the events of a storage engine, for meters. Called by any thread. */
public interface StorageEvents {

	/** Ignores all events. */
	StorageEvents NONE = new StorageEvents() {
	};

	/** A read was answered by the row cache, on the calling thread. */
	default void readFromRowCache() {
	}

	/** A read was answered from other memory, on the calling thread. */
	default void readFromMemory() {
	}

	/**
	 * A read was answered by the storage scheduler.
	 * @param nanos its time, waiting included
	 */
	default void readFromDisk(long nanos) {
	}

	/**
	 * A batch was written.
	 * @param writes the writes in it, superseded ones included
	 * @param waitedNanos the time that the first of them had waited
	 * @param writeNanos the time of looking up what is stored, of writing and of the sync
	 */
	default void batchWritten(int writes, long waitedNanos, long writeNanos) {
	}

	/** A request reached a limit and was refused. */
	default void overloaded() {
	}

	/** A stored row could not be read. */
	default void unreadable() {
	}

	/** A write was refused for want of space, or a batch failed for it. */
	default void outOfSpace() {
	}

	/** Expired entries were collected. */
	default void collected(int entries) {
	}

}
