package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * The writes that go to disk together, and the state of the database after them. Used by
 * the committer's thread only.
 * <p>
 * An entry, its row of the index and the row of a tombstone are written together or not
 * at all, so they never differ. The state in memory follows by {@link #applyTo} when the
 * batch has been written.
 */
final class Batch implements AutoCloseable {

	private static final byte[] NOTHING = {};

	private final Database database;

	private final RowCache rows;

	private final TimeSource time;

	private final WriteBatch writes = new WriteBatch();

	/** The keys that this batch has read or changed. */
	private final Map<Key, Change> changes = new HashMap<>();

	private final HintBatch hints;

	private final List<Runnable> whenWritten = new ArrayList<>();

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	private boolean synced;

	Batch(Database database, RowCache rows, TimeSource time) {
		this.database = database;
		this.rows = rows;
		this.time = time;
		this.hints = new HintBatch(database, this.writes);
	}

	/**
	 * The version of a key as this batch will leave it; {@link Version#ABSENT} where
	 * there is no entry. Reads no more than the head of the entry, and once.
	 */
	Version versionOf(IndexedKey key) throws RocksDBException {
		return changeOf(key).version;
	}

	private Change changeOf(IndexedKey key) throws RocksDBException {
		Change change = this.changes.get(key.key());
		if (change == null) {
			change = stored(key);
			this.changes.put(key.key(), change);
		}
		return change;
	}

	private Change stored(IndexedKey key) throws RocksDBException {
		byte[] row = this.rows.get(key.key());
		if (row != null) {
			return new Change(key.hash(), EntryFormat.versionOf(row, row.length), copiesOf(row, row.length));
		}
		byte[] bytes = key.bytes();
		int length = this.database.db.get(this.database.entries, this.database.fromAnywhere, bytes, 0, bytes.length,
				this.head, 0, this.head.length);
		return (length == RocksDB.NOT_FOUND) ? new Change(key.hash(), Version.ABSENT, Copies.DEFAULT)
				: new Change(key.hash(), EntryFormat.versionOf(this.head, length), copiesOf(this.head, length));
	}

	private Copies copiesOf(byte[] head, int length) {
		return EntryFormat.copiesOf(head, length, this.database.format.factor());
	}

	void put(IndexedKey key, EncodedEntry entry) throws RocksDBException {
		Change change = changeOf(key);
		this.writes.put(this.database.entries, key.bytes(), entry.bytes());
		this.writes.put(this.database.index, key.row(), entry.indexValue());
		if (entry.isTombstone()) {
			this.writes.put(this.database.tombstones, TombstoneRow.key(entry.version(), key.bytes()),
					TombstoneRow.value(entry.copies(), this.time.millis()));
		}
		long expiresAtMillis = entry.expiresAtMillis();
		if (expiresAtMillis != Live.NEVER) {
			Expiry expiry = new Expiry(expiresAtMillis, key.key(), entry.version());
			this.writes.put(this.database.expiries, expiry.toKey(), NOTHING);
		}
		change.to(entry.version(), entry.copies(), entry.bytes());
	}

	void delete(IndexedKey key) throws RocksDBException {
		Change change = changeOf(key);
		this.writes.delete(this.database.entries, key.bytes());
		this.writes.delete(this.database.index, key.row());
		change.to(Version.ABSENT, Copies.DEFAULT, null);
	}

	/** Replaces the entry that is there by a tombstone of the same version. */
	void bury(IndexedKey key) throws RocksDBException {
		Change there = changeOf(key);
		put(key, EncodedEntry.of(key.key(), new Tombstone(there.version, there.copies)));
	}

	void delete(Expiry expiry) throws RocksDBException {
		this.writes.delete(this.database.expiries, expiry.toKey());
	}

	/** Forgets that there was a tombstone of this version, if there was. */
	void deleteTombstone(IndexedKey key, Version version) throws RocksDBException {
		this.writes.delete(this.database.tombstones, TombstoneRow.key(version, key.bytes()));
	}

	/** The part that is about hints. */
	HintBatch hints() {
		return this.hints;
	}

	void putMeta(byte[] name, byte[] value) throws RocksDBException {
		this.writes.put(this.database.meta, name, value);
	}

	/** Asks for a sync whatever the durability. */
	void requireSync() {
		this.synced = true;
	}

	/** Runs a task on this thread once the batch is written, if it is. */
	void whenWritten(Runnable task) {
		this.whenWritten.add(task);
	}

	/** Whether there is nothing to be written. */
	boolean isEmpty() {
		return this.writes.count() == 0;
	}

	/** Writes it all at once. */
	void write(boolean sync) throws RocksDBException {
		this.database.db.write((sync || this.synced) ? this.database.synced : this.database.unsynced, this.writes);
	}

	/** Brings up to date what is kept in memory, after it was written. */
	void applyTo(Derived derived) {
		this.changes.forEach((key, change) -> change.applyTo(derived.digests(), key, this.rows));
		this.hints.applyTo(derived.hints());
		this.whenWritten.forEach(Runnable::run);
	}

	/**
	 * The batch may or may not be written, so the state in memory says nothing any more.
	 */
	void failed() {
		this.changes.keySet().forEach(this.rows::remove);
	}

	void clear() {
		this.writes.clear();
		this.changes.clear();
		this.hints.clear();
		this.whenWritten.clear();
		this.synced = false;
	}

	@Override
	public void close() {
		this.writes.close();
	}

	/** The state of a key before this batch and after it. */
	private static final class Change {

		private final long keyHash;

		private final Version versionBefore;

		private final Copies copiesBefore;

		private Version version;

		private Copies copies;

		private boolean isWritten;

		private byte @Nullable [] row;

		Change(long keyHash, Version version, Copies copies) {
			this.keyHash = keyHash;
			this.versionBefore = version;
			this.copiesBefore = copies;
			this.version = version;
			this.copies = copies;
		}

		/**
		 * Changes the state of the key.
		 * @param row the new row, in {@link EntryFormat}; null if there is none any more
		 */
		void to(Version version, Copies copies, byte @Nullable [] row) {
			this.version = version;
			this.copies = copies;
			this.isWritten = true;
			this.row = row;
		}

		void applyTo(Digests digests, Key key, RowCache rows) {
			if (this.isWritten) {
				applyTo(rows, key);
				applyTo(digests);
			}
		}

		private void applyTo(RowCache rows, Key key) {
			if (this.row != null) {
				rows.put(key, this.row);
			}
			else {
				rows.remove(key);
			}
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
