package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Acceptor.Verdict;
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
	 * The most bytes of key and entry that the change may add. One that adds some asks
	 * {@link Batch#needSpace()} before.
	 */
	default int addedBytes() {
		return 0;
	}

	/**
	 * Stores an entry if the rule takes it.
	 *
	 * @param rule judges the version of the entry
	 */
	record Store(IndexedKey key, EncodedEntry entry, Rule rule) implements Change<StoreOutcome> {

		@Override
		public StoreOutcome addTo(Batch batch) throws RocksDBException {
			Acceptor state = batch.acceptorOf(this.key);
			Verdict verdict = this.rule.judge(state, this.entry.version());
			if (verdict == Verdict.TAKEN) {
				batch.needSpace();
				batch.put(this.key, this.entry);
			}
			return StoreOutcome.of(verdict, state);
		}

		@Override
		public int addedBytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

	}

	/** Promises a ballot. */
	record Prepare(IndexedKey key, Version ballot) implements Change<StoreOutcome> {

		@Override
		public StoreOutcome addTo(Batch batch) throws RocksDBException {
			Acceptor state = batch.acceptorOf(this.key);
			Verdict verdict = state.prepare(this.ballot);
			if (verdict == Verdict.TAKEN) {
				batch.needSpace();
				batch.promise(this.key, this.ballot);
			}
			return StoreOutcome.of(verdict, state);
		}

		@Override
		public int addedBytes() {
			return this.key.bytes().length + PromiseRow.VALUE_BYTES;
		}

	}

	/** A rule of {@link Acceptor}. */
	@FunctionalInterface
	interface Rule {

		Verdict judge(Acceptor state, Version version);

	}

	/** Keeps a hint, unless the waiting one is as new or newer. */
	record AddHint(long target, Key key, EncodedEntry entry) implements Change<Boolean> {

		@Override
		public Boolean addTo(Batch batch) throws RocksDBException {
			batch.needSpace();
			return batch.hints().add(this.target, this.key, this.entry.version(), this.entry.bytes());
		}

		@Override
		public int addedBytes() {
			return this.key.bytes().length + this.entry.bytes().length;
		}

	}

}
