package io.kvorum.storage.rocksdb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the index of a store before the store takes writes. It does so if an older
 * release without an index wrote the store, if the index has another format, or if its
 * rows are damaged. A record at the end says that the index is complete. If the process
 * ends before, the next start builds it again.
 */
final class IndexBuilder {

	private static final Logger logger = LoggerFactory.getLogger(IndexBuilder.class);

	static final byte[] RECORD = "index-format".getBytes(StandardCharsets.US_ASCII);

	/** The record of a complete index: it names the key of each entry. */
	private static final byte[] FORMAT = { 2 };

	/** The one before: each row also has the header of the entry, as of now. */
	private static final byte[] FORMAT_WITH_HEADERS = { 1 };

	/** The record of an index with damaged rows; other releases rebuild it too. */
	static final byte[] DAMAGED = { 0 };

	private static final int BATCH_ROWS = 1000;

	private final Database database;

	private final KeyHash hashes;

	private final TimeSource time;

	private final IndexDamage damage;

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	private long indexed;

	private long damaged;

	IndexBuilder(Database database, KeyHash hashes, TimeSource time, IndexDamage damage) {
		this.database = database;
		this.hashes = hashes;
		this.time = time;
		this.damage = damage;
	}

	void buildIfMissing() throws RocksDBException {
		byte[] format = this.database.db.get(this.database.meta, RECORD);
		if (Arrays.equals(format, FORMAT)) {
			return;
		}
		if (Arrays.equals(format, FORMAT_WITH_HEADERS)) {
			// A release that takes these headers for those of the entries builds it anew.
			record();
			return;
		}
		long started = this.time.nanos();
		if (Arrays.equals(format, DAMAGED)) {
			logger.warn("The partition index is damaged. It is rebuilt from the entries, all of which are read before "
					+ "the node starts");
			if (!areEntriesReadable()) {
				return;
			}
		}
		else if (format != null) {
			logger.warn("The partition index has format {} and not {}, so it is rebuilt", Arrays.toString(format),
					Arrays.toString(FORMAT));
		}
		if (format != null) {
			this.database.clearIndex();
		}
		build();
		record();
		say(format == null, this.time.nanos() - started);
	}

	private void record() throws RocksDBException {
		this.database.db.put(this.database.meta, this.database.synced, RECORD, FORMAT);
	}

	/**
	 * Whether all entries can be read. If not, the rest of the damaged index knows more
	 * than a new one would.
	 */
	private boolean areEntriesReadable() throws RocksDBException {
		try (RocksIterator iterator = this.database.db.newIterator(this.database.entries, this.database.scan)) {
			iterator.seekToFirst();
			while (iterator.isValid()) {
				iterator.next();
			}
			// An iterator that meets damage just ends.
			iterator.status();
			return true;
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			this.damage.stays(ex);
			return false;
		}
	}

	private void build() throws RocksDBException {
		try (RocksIterator iterator = this.database.db.newIterator(this.database.entries, this.database.scan);
				WriteBatch rows = new WriteBatch()) {
			for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
				add(iterator, rows);
				if (rows.count() >= BATCH_ROWS) {
					write(rows);
				}
			}
			// An iterator that meets damage just ends.
			iterator.status();
			write(rows);
		}
	}

	/** Adds the row of an entry by its head alone, as the committer does. */
	private void add(RocksIterator iterator, WriteBatch rows) throws RocksDBException {
		Key key = Key.of(iterator.key());
		int length = Math.min(iterator.value(this.head), this.head.length);
		try {
			EntryHeader header = EntryFormat.header(key, this.head, length, this.database.format.factor());
			rows.put(this.database.index, IndexedKey.of(key, this.hashes).row(), IndexRow.VALUE);
			if (header.tombstone()) {
				rows.put(this.database.tombstones, TombstoneRow.key(header.version(), key.bytes()),
						TombstoneRow.value(header.copies(), this.time.millis()));
			}
			this.indexed++;
		}
		catch (DamagedEntryException _) {
			// Reads and writes of this entry report the damage.
			this.damaged++;
		}
	}

	private void write(WriteBatch rows) throws RocksDBException {
		// What is not synced before the next batch may be a hole in front of that.
		this.database.db.write(this.database.synced, rows);
		rows.clear();
	}

	private void say(boolean isFirst, long nanos) {
		if (!isFirst) {
			logger.info("The partition index was rebuilt: {} entries were indexed in {} ms", this.indexed,
					TimeUnit.NANOSECONDS.toMillis(nanos));
		}
		else if (this.indexed > 0) {
			logger.info("The store had no partition index, like stores of older versions: {} entries were indexed "
					+ "in {} ms", this.indexed, TimeUnit.NANOSECONDS.toMillis(nanos));
		}
		if (this.damaged > 0) {
			logger.warn("{} entries are damaged, and not in the partition index", this.damaged);
		}
	}

}
