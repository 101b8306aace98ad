package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Version;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.Hint;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/** Reads hints. Blocks. */
final class HintReader {

	private final Database database;

	HintReader(Database database) {
		this.database = database;
	}

	/**
	 * The oldest hints for a node, up to the first one that cannot be read. Fails only if
	 * that is the first of all.
	 * @param from a version that none of them is older than
	 */
	List<Hint> oldest(long target, Version from, int maxBytes, int maxItems) throws RocksDBException {
		List<Hint> hints = new ArrayList<>();
		try (Slice upper = new Slice(HintRow.dataEnd(target));
				ReadOptions options = this.database.scanTo(upper);
				RocksIterator iterator = this.database.db.newIterator(this.database.hints, options)) {
			iterator.seek(HintRow.dataFrom(target, from));
			for (int bytes = 0; iterator.isValid() && bytes < maxBytes && hints.size() < maxItems; iterator.next()) {
				byte[] entry = iterator.value();
				hints.add(HintRow.hint(iterator.key(), entry, this.database.format.factor()));
				bytes += entry.length;
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		catch (RocksDBException | DamagedEntryException ex) {
			if (hints.isEmpty()) {
				throw ex;
			}
		}
		return hints;
	}

}
