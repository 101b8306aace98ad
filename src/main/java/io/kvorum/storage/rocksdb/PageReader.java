package io.kvorum.storage.rocksdb;

import java.util.Arrays;
import java.util.List;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * Reads pages of ranges, each with an iterator of its own. So it pins neither old files
 * nor memtables for as long as a client takes to read, and no caller has to release it.
 * Rejected: an iterator for the whole range, reopened now and then. It saves a seek for
 * each page and costs leases, timeouts and their leaks.
 * <p>
 * Pages leave the block cache to reads of single entries. RocksDB reads ahead by itself,
 * 8 KB first and then twice as much each time. A fixed amount would be read from every
 * level for every page.
 */
final class PageReader {

	private final Database database;

	PageReader(Database database) {
		this.database = database;
	}

	/**
	 * Reads a page. Blocks.
	 * @throws RocksDBException if the first entry of the range cannot be read
	 * @throws DamagedEntryException if the first entry of the range is damaged
	 */
	Page read(KeyRange range, Page.Limit limit) throws RocksDBException {
		Page.Builder page = new Page.Builder(limit, this.database.format.factor());
		byte[] end = range.end();
		try (Slice upper = (end != null) ? new Slice(end) : null;
				ReadOptions options = this.database.scanTo(upper);
				RocksIterator iterator = this.database.db.newIterator(this.database.entries, options)) {
			iterator.seek(range.start());
			return page.build(fill(page, iterator));
		}
		catch (RocksDBException | DamagedEntryException ex) {
			if (page.isEmpty()) {
				throw ex;
			}
			// The reader of the next page gets the error.
			return page.build(false);
		}
	}

	/**
	 * Reads the stored entries of these keys. Blocks.
	 * @throws RocksDBException if the first of them cannot be read
	 * @throws DamagedEntryException if the first of them is damaged
	 */
	Page fetch(List<Key> keys, Page.Limit limit) throws RocksDBException {
		Page.Builder page = new Page.Builder(limit, this.database.format.factor());
		try {
			return page.build(fill(page, keys));
		}
		catch (RocksDBException | DamagedEntryException ex) {
			if (page.isEmpty()) {
				throw ex;
			}
			return page.build(false);
		}
	}

	/** Fills the page; false if keys remain. */
	private boolean fill(Page.Builder page, List<Key> keys) throws RocksDBException {
		for (Key key : keys) {
			if (page.isFull()) {
				return false;
			}
			byte[] bytes = key.bytes();
			byte[] room = page.room(Page.Limit.USUAL_ENTRY_BYTES);
			int entryAt = page.offset() + bytes.length;
			int entryLength = get(bytes, room, entryAt);
			while (entryLength > room.length - entryAt && !page.isLarge(entryLength)) {
				// The entry may have grown when it is read again.
				room = page.room(entryLength);
				entryLength = get(bytes, room, entryAt);
			}
			if (entryLength != RocksDB.NOT_FOUND) {
				System.arraycopy(bytes, 0, room, page.offset(), bytes.length);
				add(page, room, bytes.length, entryLength);
			}
		}
		return true;
	}

	/**
	 * Adds an item with the row of its entry in the room. Of a large entry that is the
	 * beginning, which may do.
	 */
	private void add(Page.Builder page, byte[] room, int keyLength, int rowLength) throws RocksDBException {
		int entryAt = page.offset() + keyLength;
		if (!EntryFormat.isBeginning(room, entryAt, entryAt + rowLength)) {
			page.add(keyLength, rowLength);
			return;
		}
		int entryLength = EntryFormat.toEntry(room, entryAt, entryAt + rowLength);
		if (page.isLarge(entryLength)) {
			page.addBeginning(keyLength, entryLength);
			return;
		}
		byte[] key = Arrays.copyOfRange(room, page.offset(), entryAt);
		byte[] entry = this.database.large(key, EntryFormat.version(room, entryAt), this.database.scan);
		if (entry == null) {
			// It has been replaced since its beginning was read.
			entry = this.database.entry(key, this.database.scan);
		}
		if (entry != null) {
			System.arraycopy(entry, 0, page.room(entry.length), entryAt, entry.length);
			page.add(keyLength, entry.length);
		}
	}

	/**
	 * Reads an entry into the room and returns its whole length, which may exceed the
	 * room.
	 */
	private int get(byte[] key, byte[] room, int entryAt) throws RocksDBException {
		return this.database.db.get(this.database.entries, this.database.scan, key, 0, key.length, room, entryAt,
				room.length - entryAt);
	}

	/** Fills the page; false if entries of the range remain. */
	private boolean fill(Page.Builder page, RocksIterator iterator) throws RocksDBException {
		for (; iterator.isValid(); iterator.next()) {
			if (page.isFull()) {
				return false;
			}
			byte[] room = page.room(page.usualRoom());
			int keyAt = page.offset();
			int keyLength = iterator.key(room, keyAt, Key.MAX_LENGTH_BYTES);
			int entryLength = iterator.value(room, keyAt + keyLength, room.length - keyAt - keyLength);
			if (entryLength > Page.Limit.USUAL_ENTRY_BYTES && !page.isLarge(entryLength)) {
				room = page.room(entryLength);
				entryLength = iterator.value(room, keyAt + keyLength, room.length - keyAt - keyLength);
			}
			add(page, room, keyLength, entryLength);
		}
		// An iterator that meets damage just ends.
		iterator.status();
		return true;
	}

}
