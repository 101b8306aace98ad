package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * A change of the store, made by a {@link Write}.
 *
 * @param <T> the result
 */
@FunctionalInterface
interface Change<T> {

	/**
	 * Compares the change with what is stored, and puts the resulting writes into the
	 * batch.
	 * @return the result once the batch is written
	 */
	@Nullable T addTo(Batch batch) throws RocksDBException;

	/**
	 * The bytes of the key and the entry that the change adds; 0 if it adds none. A
	 * change that adds none is made on a full disk too.
	 */
	default int addedBytes() {
		return 0;
	}

	/** Stores an entry if it is newer than the stored one. */
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
		public int addedBytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

	}

	/** Keeps a hint, unless the waiting one is as new or newer. */
	record AddHint(long target, Key key, EncodedEntry entry) implements Change<Boolean> {

		@Override
		public Boolean addTo(Batch batch) throws RocksDBException {
			return batch.hints().add(this.target, this.key, this.entry.version(), this.entry.bytes());
		}

		@Override
		public int addedBytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

	}

}
