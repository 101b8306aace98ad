package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * A change of the store. It decides what to write when the committer adds it to a batch.
 *
 * @param <T> the result once the batch is written
 */
interface Change<T> {

	/** Puts what is to be written into the batch; returns the result. */
	@Nullable T addTo(Batch batch) throws RocksDBException;

	/** The bytes that it keeps in memory while it waits. */
	default int bytes() {
		return 0;
	}

	/** Whether it is refused while the disk has too little space. */
	default boolean needsSpace() {
		return false;
	}

	/** Stores an entry if it is newer than the one that is there. */
	record Store(IndexedKey key, EncodedEntry entry) implements Change<StoreOutcome> {

		@Override
		public StoreOutcome addTo(Batch batch) throws RocksDBException {
			if (!this.entry.version().isNewerThan(batch.versionOf(this.key))) {
				return StoreOutcome.SUPERSEDED;
			}
			batch.put(this.key, this.entry);
			return StoreOutcome.STORED;
		}

		@Override
		public int bytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

		@Override
		public boolean needsSpace() {
			return true;
		}

	}

	/**
	 * Removes an entry that has expired, unless it was overwritten since. Returns whether
	 * it did.
	 *
	 * @param buried whether a tombstone of the same version takes its place. Beside other
	 * replicas it does: one that missed the entry may hold an older one, which would come
	 * back.
	 */
	record Collect(Expiry expiry, IndexedKey key, boolean buried) implements Change<Boolean> {

		@Override
		public Boolean addTo(Batch batch) throws RocksDBException {
			boolean collected = this.expiry.version().equals(batch.versionOf(this.key));
			if (collected && this.buried) {
				batch.bury(this.key);
			}
			else if (collected) {
				batch.delete(this.key);
			}
			batch.delete(this.expiry);
			return collected;
		}

	}

	/**
	 * Removes an entry for good, unless it was overwritten, and in any case the row of a
	 * tombstone of that version. Returns whether it removed the entry.
	 */
	record Remove(IndexedKey key, Version version) implements Change<Boolean> {

		@Override
		public Boolean addTo(Batch batch) throws RocksDBException {
			// An absent entry has the version ABSENT, and is not removed.
			boolean removed = this.version.equals(batch.versionOf(this.key)) && !this.version.equals(Version.ABSENT);
			if (removed) {
				batch.delete(this.key);
			}
			batch.deleteTombstone(this.key, this.version);
			return removed;
		}

	}

	/**
	 * Writes a small fact about the node, synced whatever the durability.
	 *
	 * @param whenWritten runs on the committer's thread, in the order of writes
	 */
	@SuppressWarnings("ArrayRecordComponent") // never compared
	record PutMeta(byte[] name, byte[] value, Runnable whenWritten) implements Change<Void> {

		@Override
		public @Nullable Void addTo(Batch batch) throws RocksDBException {
			batch.putMeta(this.name, this.value);
			batch.requireSync();
			batch.whenWritten(this.whenWritten);
			return null;
		}

	}

	/** Keeps a hint, unless a newer one waits. Returns whether it did. */
	record AddHint(long target, Key key, EncodedEntry entry) implements Change<Boolean> {

		@Override
		public Boolean addTo(Batch batch) throws RocksDBException {
			return batch.hints().add(this.target, this.key, this.entry.version(), this.entry.bytes());
		}

		@Override
		public int bytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

		@Override
		public boolean needsSpace() {
			return true;
		}

	}

	/** Removes a hint, unless a newer one waits. */
	record RemoveHint(long target, Key key, Version version) implements Change<Void> {

		@Override
		public @Nullable Void addTo(Batch batch) throws RocksDBException {
			batch.hints().remove(this.target, this.key, this.version);
			return null;
		}

	}

	/** Removes all hints for a node. */
	record RemoveHints(long target) implements Change<Void> {

		@Override
		public @Nullable Void addTo(Batch batch) throws RocksDBException {
			batch.hints().removeAll(this.target);
			return null;
		}

	}

}
