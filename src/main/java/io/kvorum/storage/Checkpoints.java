package io.kvorum.storage;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

/**
 * Copies of a store as of one moment. All methods block for as long as the disk takes.
 * Failures of the database are {@link CheckpointException}s. If the store is not open,
 * {@link #checkpoint} throws a {@link StorageException}. If the copy cannot be opened,
 * {@link #adopt} throws a {@link StoreOpenException}.
 */
public interface Checkpoints {

	/**
	 * Copies the open store into a directory that does not exist yet. The copy has every
	 * write that was acknowledged before, whatever the {@link Durability}. A write under
	 * way is in it as a whole or not at all. Table files are linked if the directory is
	 * on the file system of the store, else copied.
	 */
	void checkpoint(Path directory);

	/**
	 * Verifies a copy: opens it read-only and reads all of its blocks.
	 * @param pace called with the length of each table, in bytes, before the table is
	 * read; blocks to slow down
	 * @return the number of its last write
	 */
	long verify(Path directory, LongConsumer pace);

	/**
	 * Turns a copy into the store of a restored node, with an identity and records of its
	 * own. So none of its versions equals one that the original has given since.
	 * @param records maps the records in the copy to those that it gets
	 */
	void adopt(Path directory, UnaryOperator<Map<String, byte[]>> records);

	/** Failure to make, read or adopt a copy. */
	final class CheckpointException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		public CheckpointException(String message, Throwable cause) {
			super(message, cause);
		}

	}

}
