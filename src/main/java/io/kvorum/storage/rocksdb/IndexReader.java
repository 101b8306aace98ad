package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.kvorum.kv.Partitions;
import io.kvorum.storage.Grave;
import io.kvorum.storage.Stub;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/** Reads what is known of entries without reading them. Blocks. */
final class IndexReader {

	private final Database database;

	IndexReader(Database database) {
		this.database = database;
	}

	/** The entries of a partition, in the order of their keys. */
	List<Stub> stubs(int partition) throws RocksDBException {
		byte[] end = (partition < Partitions.COUNT - 1) ? IndexRow.bound(partition + 1) : null;
		return read(this.database.index, IndexRow.bound(partition), end, Integer.MAX_VALUE, IndexRow::stub);
	}

	/** As {@link io.kvorum.storage.PartitionIndex#graves}. */
	List<Grave> graves(@Nullable Grave after, long beforeMillis, int limit) throws RocksDBException {
		byte[] start = (after != null) ? behind(TombstoneRow.key(after.stub().version(), after.stub().key().bytes()))
				: new byte[0];
		byte[] end = TombstoneRow.before(beforeMillis);
		return (Arrays.compareUnsigned(start, end) < 0)
				? read(this.database.tombstones, start, end, limit, TombstoneRow::grave) : List.of();
	}

	/** The row that comes next after this one. */
	private static byte[] behind(byte[] row) {
		return Arrays.copyOf(row, row.length + 1);
	}

	private <T> List<T> read(ColumnFamilyHandle column, byte[] start, byte @Nullable [] end, int limit, Row<T> row)
			throws RocksDBException {
		List<T> read = new ArrayList<>();
		try (Slice upper = (end != null) ? new Slice(end) : null;
				ReadOptions options = options(upper);
				RocksIterator iterator = this.database.db.newIterator(column, options)) {
			for (iterator.seek(start); iterator.isValid() && read.size() < limit; iterator.next()) {
				read.add(row.of(iterator.key(), iterator.value()));
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		return read;
	}

	private ReadOptions options(@Nullable Slice upper) {
		ReadOptions options = new ReadOptions(this.database.scan);
		return (upper != null) ? options.setIterateUpperBound(upper) : options;
	}

	/** What is in a row. */
	private interface Row<T> {

		T of(byte[] key, byte[] value);

	}

}
