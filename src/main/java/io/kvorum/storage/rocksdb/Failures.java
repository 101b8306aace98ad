package io.kvorum.storage.rocksdb;

import java.nio.file.Path;

import io.kvorum.storage.StorageException;
import io.kvorum.storage.StoreOpenException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Maps errors of RocksDB to those of the storage port. */
final class Failures {

	/** The advice for a store that a newer version has written. */
	static final String OF_A_NEWER_VERSION = """
			Nothing was changed. Start that version again. To go back to this one, start it with a \
			backup that it has written, or in a cluster with an empty directory: the node is then \
			rebuilt from the others.""";

	private Failures() {
	}

	/** Whether the answer is not in memory but may be on disk. */
	static boolean isNotInMemory(RocksDBException ex) {
		return code(ex) == Status.Code.Incomplete;
	}

	/**
	 * Whether the disk is full. A user's quota is not meant: RocksDB goes on by itself
	 * when a disk has space again, and not after any other error.
	 */
	static boolean isNoSpace(RocksDBException ex) {
		Status status = ex.getStatus();
		return status != null && status.getSubCode() == Status.SubCode.NoSpace;
	}

	/**
	 * Whether the data on disk is not what was written, or a table cannot be read, like a
	 * bad sector. RocksDB has no code for a read that fails, so it goes by the message.
	 */
	static boolean isDamage(RocksDBException ex) {
		return code(ex) == Status.Code.Corruption
				|| (code(ex) == Status.Code.IOError && String.valueOf(ex.getMessage()).contains("While pread"));
	}

	static StorageException writing(RocksDBException ex) {
		return isNoSpace(ex) ? StorageException.NoSpace.met(ex) : new StorageException.WriteFailed(ex);
	}

	static StoreOpenException opening(Path path, RocksDBException ex) {
		String message = String.valueOf(ex.getMessage());
		if (isLocked(message)) {
			Path lock = Database.lockOf(path);
			return new StoreOpenException(
					"The data directory %s is in use by another process: it holds the lock %s.".formatted(path, lock),
					"Stop the other process, or give this node a directory of its own by kvorum.storage.path.", ex);
		}
		if (isDamage(ex)) {
			return damaged(path, message, ex);
		}
		if (isOfAnotherVersion(message)) {
			return new StoreOpenException(
					"The data directory %s was written by a newer version of Kvorum: %s".formatted(path, message),
					OF_A_NEWER_VERSION, ex);
		}
		return new StoreOpenException("The data directory %s cannot be opened: %s".formatted(path, message),
				"Check that its file system is mounted, writable for this user, and has space.", ex);
	}

	static StoreOpenException damaged(Path path, String what, @Nullable RocksDBException cause) {
		return new StoreOpenException("The data directory %s is damaged: %s".formatted(path, what), """
				No entry was changed. What was acknowledged may be missing behind the damage, so the node does \
				not start with less than it had. Restore the directory from a backup, or keep it aside and \
				start with an empty one: what it held is then lost on this node.""", cause);
	}

	/**
	 * Whether the lock is held, by another process or by this one. RocksDB has no code
	 * for that, so it goes by the message.
	 */
	private static boolean isLocked(String message) {
		return message.startsWith("While lock file") || message.startsWith("lock hold by current process");
	}

	/** Whether the store has columns that this version does not know. */
	private static boolean isOfAnotherVersion(String message) {
		return message.contains("Column families not opened");
	}

	private static Status.@Nullable Code code(RocksDBException ex) {
		Status status = ex.getStatus();
		return (status != null) ? status.getCode() : null;
	}

}
