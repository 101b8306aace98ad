package io.kvorum.storage;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

/**
 * Copies of a store as it is at one moment, and what becomes of them. All of it blocks,
 * for as long as the disk takes; failures are {@link CheckpointException}s.
 */
public interface Checkpoints {

	/**
	 * Copies the open store into a directory that does not exist yet. Every write that
	 * was acknowledged before is in it, whatever the {@link Durability}; of those that
	 * are under way, each is in it whole or not at all. Table files are linked where the
	 * directory is on the file system of the store, else they are copied.
	 */
	void checkpoint(Path directory);

	/**
	 * Opens a copy, changes nothing in it, and reads all of its blocks.
	 * @param pace given the bytes of a table before it is read; returns when it may be
	 * @return the number of its last write
	 */
	long verify(Path directory, LongConsumer pace);

	/**
	 * Makes a copy the store of another life: with an identity of its own, so that none
	 * of its versions is one that the first life has given since, and with other records.
	 * @param records given what is recorded in it, tells what is to be
	 */
	void adopt(Path directory, UnaryOperator<Map<String, byte[]>> records);

	/** A copy could not be made, or cannot be read. */
	final class CheckpointException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		public CheckpointException(String message, Throwable cause) {
			super(message, cause);
		}

	}

}
