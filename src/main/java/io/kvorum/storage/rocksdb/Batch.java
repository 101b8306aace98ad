package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StorageException.NoSpace;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * The writes that go to disk together, and what the database will hold after them. Used
 * by the committer's thread only.
 * <p>
 * The index row of a key comes and goes with its entry. A large entry goes with its
 * version. The rows of a tombstone and of an expiry are added with the entry, and may
 * outlive it. {@link #apply} updates what is derived in memory, after the batch is
 * written.
 */
final class Batch implements AutoCloseable {

	private static final byte[] NOTHING = {};

	/**
	 * The row from which the head of an entry is kept apart. An eighth of the memory
	 * holds fewer heads than the rest does rows of less than 300 bytes.
	 */
	private static final int MIN_HEADED_BYTES = 512;

	private final Database database;

	private final Derived derived;

	private final TimeSource time;

	private final WriteBatch writes = new WriteBatch();

	/** The keys that this batch has read or changed. */
	private final Map<Key, KeyState> states = new HashMap<>();

	private final HintBatch hints;

	private final List<Runnable> whenWritten = new ArrayList<>();

	private final byte[] head = new byte[EntryFormat.EXPIRY_END];

	private final byte[] ballot = new byte[PromiseRow.VALUE_BYTES];

	/**
	 * Whether the store may have rows of promises. Without conditional writes it has
	 * none, and stores need not look for them.
	 */
	private boolean mayHavePromises;

	private boolean synced;

	/** Why nothing may be added; null while there is space. */
	private @Nullable NoSpace noSpace;

	Batch(Database database, Derived derived, TimeSource time) {
		this.database = database;
		this.derived = derived;
		this.time = time;
		this.mayHavePromises = database.mayHavePromises();
		this.hints = new HintBatch(database, this.writes);
	}

	/**
	 * The version of a key and its promise, as this batch will leave them. Reads only the
	 * head of the entry, and only once.
	 */
	Acceptor acceptorOf(IndexedKey key) throws RocksDBException {
		KeyState state = stateOf(key);
		return new Acceptor(state.version, state.promise());
	}

	private KeyState stateOf(IndexedKey key) throws RocksDBException {
		KeyState change = this.states.get(key.key());
		if (change == null) {
			change = stored(key);
			this.states.put(key.key(), change);
		}
		return change;
	}

	private KeyState stored(IndexedKey key) throws RocksDBException {
		Version promised = this.mayHavePromises ? promisedTo(key) : Version.ABSENT;
		byte[] row = this.derived.rows().get(key.key());
		if (row != null) {
			// One that an older release has written is not apart; to remove it is
			// harmless.
			return stateOf(key, row, row.length, row.length >= LargeRow.MIN_BYTES, promised);
		}
		byte[] cached = this.derived.heads().get(key.key());
		if (cached != null) {
			return stateOf(key, cached, cached.length, isLarge(cached, cached.length), promised);
		}
		byte[] bytes = key.bytes();
		int length = this.database.db.get(this.database.entries, this.database.fromAnywhere, bytes, 0, bytes.length,
				this.head, 0, this.head.length);
		return (length == RocksDB.NOT_FOUND)
				? new KeyState(key.hash(), Version.ABSENT, Copies.DEFAULT, Live.NEVER, false, false, promised)
				: stateOf(key, this.head, length, isLarge(this.head, length), promised);
	}

	/** Whether the entry of a row has a {@link LargeRow}. */
	private static boolean isLarge(byte[] head, int length) {
		return EntryFormat.isBeginning(head, 0, length);
	}

	private KeyState stateOf(IndexedKey key, byte[] head, int length, boolean isLarge, Version promised) {
		return new KeyState(key.hash(), EntryFormat.versionOf(head, length), copiesOf(head, length),
				EntryFormat.expiryOf(head, length), EntryFormat.hasLineage(head), isLarge, promised);
	}

	/** The ballot in the row of a key's promise; {@link Version#ABSENT} without one. */
	private Version promisedTo(IndexedKey key) throws RocksDBException {
		byte[] bytes = key.bytes();
		int length = this.database.db.get(this.database.promises, this.database.fromAnywhere, bytes, 0, bytes.length,
				this.ballot, 0, this.ballot.length);
		return (length == RocksDB.NOT_FOUND) ? Version.ABSENT : PromiseRow.ballot(this.ballot);
	}

	private Copies copiesOf(byte[] head, int length) {
		return EntryFormat.copiesOf(head, length, this.database.format.factor());
	}

	void put(IndexedKey key, EncodedEntry entry) throws RocksDBException {
		KeyState change = stateOf(key);
		deleteLarge(key, change);
		deleteExpiry(key, change);
		byte[] beginning = entry.beginning();
		if (beginning != null) {
			this.writes.put(this.database.large, LargeRow.key(key.bytes(), entry.version()), entry.bytes());
		}
		this.writes.put(this.database.entries, key.bytes(), (beginning != null) ? beginning : entry.bytes());
		if (change.version.equals(Version.ABSENT)) {
			this.writes.put(this.database.index, key.row(), IndexRow.VALUE);
		}
		if (entry.isTombstone()) {
			this.writes.put(this.database.tombstones, TombstoneRow.key(entry.version(), key.bytes()),
					TombstoneRow.value(entry.copies(), this.time.millis()));
		}
		long expiresAtMillis = entry.expiresAtMillis();
		if (expiresAtMillis != Live.NEVER) {
			Expiry expiry = new Expiry(expiresAtMillis, key.key(), entry.version());
			this.writes.put(this.database.expiries, expiry.toKey(), NOTHING);
		}
		Version promise = change.promise();
		change.to(entry.version(), entry.copies(), expiresAtMillis, entry.hasLineage(), entry.bytes(), beginning);
		keepPromise(key, promise);
	}

	/** Promises a ballot, which is above all that was promised. */
	void promise(IndexedKey key, Version ballot) throws RocksDBException {
		this.mayHavePromises = true;
		this.writes.put(this.database.promises, key.bytes(), PromiseRow.value(ballot));
		stateOf(key).promised = ballot;
	}

	/**
	 * Keeps a promise. An entry stored under that ballot or a higher one keeps it;
	 * otherwise it needs a row.
	 */
	void keepPromise(IndexedKey key, Version promise) throws RocksDBException {
		KeyState state = stateOf(key);
		if (promise.isNewerThan(state.promise())) {
			promise(key, promise);
		}
		else if (!state.promised.equals(Version.ABSENT) && state.isPromisedByEntry()) {
			forgetPromise(key, state.promised);
		}
	}

	/** Removes the row of a promise, unless it has a higher ballot by now. */
	void forgetPromise(IndexedKey key, Version ballot) throws RocksDBException {
		KeyState state = stateOf(key);
		if (state.promised.equals(ballot)) {
			this.writes.delete(this.database.promises, key.bytes());
			state.promised = Version.ABSENT;
		}
	}

	/**
	 * Removes an entry for good, if it still has this version. Removes the row of a
	 * tombstone of that version in any case, unless the entry has to stay.
	 * @param promisedBeforeMillis an entry under a promise of a later ballot stays; in
	 * milliseconds since 1970
	 * @return whether the entry was there, and is removed
	 */
	boolean remove(IndexedKey key, Version version, long promisedBeforeMillis) throws RocksDBException {
		KeyState there = stateOf(key);
		boolean isThere = version.equals(there.version) && !version.equals(Version.ABSENT);
		if (isThere && there.promise().millis() >= promisedBeforeMillis) {
			return false;
		}
		if (isThere) {
			delete(key);
		}
		this.writes.delete(this.database.tombstones, TombstoneRow.key(version, key.bytes()));
		return isThere;
	}

	/**
	 * Removes an expired entry, unless it has been overwritten since.
	 * @param leavesTombstone whether a tombstone of the same version stays. It keeps a
	 * replica that missed the entry from bringing back an older one.
	 * @return whether the entry was there
	 */
	boolean collect(Expiry expiry, IndexedKey key, boolean leavesTombstone) throws RocksDBException {
		KeyState there = stateOf(key);
		boolean isThere = expiry.version().equals(there.version);
		if (isThere && leavesTombstone) {
			put(key, EncodedEntry.of(key.key(),
					new Tombstone(there.version, there.copies, there.hasLineage ? lineageOf(key) : null)));
		}
		else if (isThere) {
			delete(key);
		}
		this.writes.delete(this.database.expiries, expiry.toKey());
		return isThere;
	}

	private @Nullable Lineage lineageOf(IndexedKey key) throws RocksDBException {
		byte[] row = stateOf(key).row;
		if (row == null) {
			row = this.database.entry(key.bytes(), this.database.fromAnywhere);
		}
		return (row != null) ? EntryFormat.decode(key.key(), row).lineage() : null;
	}

	private void delete(IndexedKey key) throws RocksDBException {
		KeyState change = stateOf(key);
		deleteLarge(key, change);
		deleteExpiry(key, change);
		this.writes.delete(this.database.entries, key.bytes());
		this.writes.delete(this.database.index, key.row());
		Version promise = change.promise();
		change.to(Version.ABSENT, Copies.DEFAULT, Live.NEVER, false, null, null);
		keepPromise(key, promise);
	}

	/** A value that is written again and again would leave a row each time. */
	private void deleteExpiry(IndexedKey key, KeyState there) throws RocksDBException {
		if (there.expiresAtMillis != Live.NEVER) {
			this.writes.delete(this.database.expiries,
					new Expiry(there.expiresAtMillis, key.key(), there.version).toKey());
		}
	}

	private void deleteLarge(IndexedKey key, KeyState there) throws RocksDBException {
		if (there.isLarge) {
			this.writes.delete(this.database.large, LargeRow.key(key.bytes(), there.version));
		}
	}

	/**
	 * Sets whether there is space for the changes that follow.
	 * @param noSpace the reason why nothing may be added; null if there is space
	 */
	void limitTo(@Nullable NoSpace noSpace) {
		this.noSpace = noSpace;
	}

	/**
	 * To be called before anything is added that grows the store. What is there already,
	 * or goes, is no matter of space.
	 * @throws NoSpace if there is too little space
	 */
	void needSpace() {
		if (this.noSpace != null) {
			throw this.noSpace;
		}
	}

	/** The changes to hints. */
	HintBatch hints() {
		return this.hints;
	}

	/**
	 * Writes a small fact about the node. The batch is synced whatever the durability.
	 */
	void putMeta(byte[] name, byte[] value) throws RocksDBException {
		this.writes.put(this.database.meta, name, value);
		this.synced = true;
	}

	/** Registers a task for the committer's thread, run once the batch is written. */
	void whenWritten(Runnable task) {
		this.whenWritten.add(task);
	}

	boolean isEmpty() {
		return this.writes.count() == 0;
	}

	/** Writes the batch atomically. */
	void write(boolean sync) throws RocksDBException {
		this.database.db.write((sync || this.synced) ? this.database.synced : this.database.unsynced, this.writes);
	}

	/** Updates what is kept in memory, after the batch is written. */
	void apply() {
		this.states.forEach((key, change) -> change.applyTo(this.derived, key));
		this.hints.applyTo(this.derived.hints());
		this.whenWritten.forEach(Runnable::run);
	}

	/** Drops the cached rows of the batch: it is unknown whether they were written. */
	void failed() {
		this.states.keySet().forEach(key -> {
			this.derived.rows().remove(key);
			this.derived.heads().remove(key);
		});
	}

	void clear() {
		this.writes.clear();
		this.states.clear();
		this.hints.clear();
		this.whenWritten.clear();
		this.synced = false;
	}

	@Override
	public void close() {
		this.writes.close();
	}

	/** The state of a key before this batch and after it. */
	private static final class KeyState {

		private final long keyHash;

		private final Version versionBefore;

		private final Copies copiesBefore;

		private Version version;

		private Copies copies;

		private long expiresAtMillis;

		/** Whether the entry was stored under a ballot, and so is a promise of it. */
		private boolean hasLineage;

		/** Whether the entry has a {@link LargeRow}. */
		private boolean isLarge;

		/** The ballot in the row of the promise; {@link Version#ABSENT} without one. */
		private Version promised;

		private boolean isWritten;

		private byte @Nullable [] row;

		private byte @Nullable [] beginning;

		KeyState(long keyHash, Version version, Copies copies, long expiresAtMillis, boolean hasLineage,
				boolean isLarge, Version promised) {
			this.keyHash = keyHash;
			this.versionBefore = version;
			this.copiesBefore = copies;
			this.version = version;
			this.copies = copies;
			this.expiresAtMillis = expiresAtMillis;
			this.hasLineage = hasLineage;
			this.isLarge = isLarge;
			this.promised = promised;
		}

		Version promise() {
			return isPromisedByEntry() ? this.version : this.promised;
		}

		/** Whether the entry tells the highest promise. */
		boolean isPromisedByEntry() {
			return this.hasLineage && !this.promised.isNewerThan(this.version);
		}

		/**
		 * Records what the batch does to the key.
		 * @param row in {@link EntryFormat}; null if the entry is removed
		 * @param beginning what of a large entry is with the others; null for any other
		 */
		void to(Version version, Copies copies, long expiresAtMillis, boolean hasLineage, byte @Nullable [] row,
				byte @Nullable [] beginning) {
			this.version = version;
			this.copies = copies;
			this.expiresAtMillis = expiresAtMillis;
			this.hasLineage = hasLineage;
			this.isLarge = beginning != null;
			this.isWritten = true;
			this.row = row;
			this.beginning = beginning;
		}

		void applyTo(Derived derived, Key key) {
			if (this.isWritten) {
				byte[] row = this.row;
				cache(derived.rows(), key, row);
				byte[] head = (row != null) ? head(row) : null;
				// Most entries are small and never had one; to remove it would push out
				// others.
				if (head != null || derived.heads().get(key) != null) {
					cache(derived.heads(), key, head);
				}
				applyTo(derived.digests());
			}
		}

		private static void cache(RowCache rows, Key key, byte @Nullable [] row) {
			if (row != null) {
				rows.put(key, row);
			}
			else {
				rows.remove(key);
			}
		}

		/** What the head of a row is kept as; null if it is none to be kept. */
		private byte @Nullable [] head(byte[] row) {
			return (this.beginning != null || row.length < MIN_HEADED_BYTES) ? this.beginning
					: Arrays.copyOf(row, EntryFormat.EXPIRY_END);
		}

		private void applyTo(Digests digests) {
			if (this.version.equals(this.versionBefore)) {
				return;
			}
			toggle(digests, this.versionBefore, this.copiesBefore);
			toggle(digests, this.version, this.copies);
		}

		private void toggle(Digests digests, Version version, Copies copies) {
			if (!version.equals(Version.ABSENT)) {
				digests.toggle(this.keyHash, version, copies);
			}
		}

	}

}
