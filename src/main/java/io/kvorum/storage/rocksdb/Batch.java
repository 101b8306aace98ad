package io.kvorum.storage.rocksdb;

import java.util.HashMap;
import java.util.Map;

import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * The writes that go to disk together, and what the database will hold after them. Used
 * by the committer's thread only.
 */
final class Batch implements AutoCloseable {

	private static final byte[] NOTHING = {};

	private final Database database;

	private final WriteBatch writes = new WriteBatch();

	/** The versions that this batch gives to keys. */
	private final Map<Key, Version> versions = new HashMap<>();

	private final byte[] head = new byte[EntryFormat.VERSION_END];

	private boolean synced;

	Batch(Database database) {
		this.database = database;
	}

	/**
	 * The version of a key as this batch will leave it; {@link Version#ABSENT} where
	 * there is no entry. Reads no more than the head of the entry.
	 */
	Version versionOf(Key key) throws RocksDBException {
		Version given = this.versions.get(key);
		return (given != null) ? given : storedVersionOf(key.bytes());
	}

	private Version storedVersionOf(byte[] key) throws RocksDBException {
		int length = this.database.db.get(this.database.entries, this.database.fromAnywhere, key, 0, key.length,
				this.head, 0, this.head.length);
		return (length == RocksDB.NOT_FOUND) ? Version.ABSENT : EntryFormat.versionOf(this.head, length);
	}

	void put(Key key, Version version, byte[] entry) throws RocksDBException {
		this.writes.put(this.database.entries, key.bytes(), entry);
		this.versions.put(key, version);
	}

	void delete(Key key) throws RocksDBException {
		this.writes.delete(this.database.entries, key.bytes());
		this.versions.put(key, Version.ABSENT);
	}

	/** Puts a tombstone in the place of the entry of this version, which is there. */
	void bury(Key key, Version version) throws RocksDBException {
		byte[] bytes = key.bytes();
		byte[] stored = new byte[EntryFormat.COPIES_END];
		int length = this.database.db.get(this.database.entries, this.database.fromAnywhere, bytes, 0, bytes.length,
				stored, 0, stored.length);
		put(key, version, EntryFormat.encode(key, new Tombstone(version, EntryFormat.copiesOf(stored, length))));
	}

	void put(Expiry expiry) throws RocksDBException {
		this.writes.put(this.database.expiries, expiry.toKey(), NOTHING);
	}

	void delete(Expiry expiry) throws RocksDBException {
		this.writes.delete(this.database.expiries, expiry.toKey());
	}

	void putMeta(byte[] name, byte[] value) throws RocksDBException {
		this.writes.put(this.database.meta, name, value);
	}

	/** Asks for a sync whatever the durability. */
	void requireSync() {
		this.synced = true;
	}

	/** Whether there is nothing to be written. */
	boolean isEmpty() {
		return this.writes.count() == 0;
	}

	/** Writes it all at once. */
	void write(boolean sync) throws RocksDBException {
		this.database.db.write((sync || this.synced) ? this.database.synced : this.database.unsynced, this.writes);
	}

	void clear() {
		this.writes.clear();
		this.versions.clear();
		this.synced = false;
	}

	@Override
	public void close() {
		this.writes.close();
	}

}
