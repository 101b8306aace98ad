package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * Reads a page of a range with an iterator that lives for that page only: it pins neither
 * old files nor memtables for as long as a client takes to read, and nobody has to give
 * it back. Rejected: an iterator for the whole range, given up and opened again now and
 * then, which saves a seek for each page and costs leases, timeouts and their leaks.
 * <p>
 * What it reads does not stay in the block cache, which is for reads of single entries.
 * Blocks are read ahead as RocksDB sees fit, 8 KB and then twice as much each time; a
 * fixed amount would be read from every level for every page.
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
		Page.Builder page = new Page.Builder(limit);
		byte[] end = range.end();
		try (Slice upper = (end != null) ? new Slice(end) : null;
				ReadOptions options = options(upper);
				RocksIterator iterator = this.database.db.newIterator(this.database.entries, options)) {
			iterator.seek(range.start());
			return page.build(fill(page, iterator));
		}
		catch (RocksDBException | DamagedEntryException ex) {
			if (page.isEmpty()) {
				throw ex;
			}
			// To be met again, by whoever wants what comes next.
			return page.build(false);
		}
	}

	private ReadOptions options(@Nullable Slice upper) {
		ReadOptions options = new ReadOptions(this.database.scan);
		return (upper != null) ? options.setIterateUpperBound(upper) : options;
	}

	/** Whether the range has nothing behind the page. */
	private static boolean fill(Page.Builder page, RocksIterator iterator) throws RocksDBException {
		for (; iterator.isValid(); iterator.next()) {
			if (page.isFull()) {
				return false;
			}
			byte[] room = page.room(Page.Limit.USUAL_ENTRY_BYTES);
			int keyAt = page.offset();
			int keyLength = iterator.key(room, keyAt, Key.MAX_LENGTH_BYTES);
			int entryLength = iterator.value(room, keyAt + keyLength, room.length - keyAt - keyLength);
			if (entryLength > Page.Limit.USUAL_ENTRY_BYTES && !page.isLarge(entryLength)) {
				byte[] more = page.room(entryLength);
				entryLength = iterator.value(more, keyAt + keyLength, more.length - keyAt - keyLength);
			}
			page.add(keyLength, entryLength);
		}
		// An iterator that meets damage just ends.
		iterator.status();
		return true;
	}

}
