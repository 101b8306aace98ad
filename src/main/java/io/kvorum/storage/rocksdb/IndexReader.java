package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.kvorum.kv.Partitions;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.TombstoneRecord;
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

	/**
	 * Reads headers, see
	 * {@link io.kvorum.storage.PartitionIndex#headers(List, int, Deadline)}.
	 */
	List<List<EntryHeader>> headers(List<Integer> partitions, int enough) throws RocksDBException {
		List<List<EntryHeader>> all = new ArrayList<>(partitions.size());
		int count = 0;
		int last = partitions.stream().mapToInt(Integer::intValue).max().orElse(0);
		byte @Nullable [] end = (last < Partitions.COUNT - 1) ? IndexRow.bound(last + 1) : null;
		try (Slice upper = (end != null) ? new Slice(end) : null;
				ReadOptions options = options(upper);
				RocksIterator iterator = this.database.db.newIterator(this.database.index, options)) {
			for (int partition : partitions) {
				List<EntryHeader> headers = headers(partition, iterator);
				all.add(headers);
				count += headers.size();
				if (count >= enough) {
					break;
				}
			}
		}
		return all;
	}

	private List<EntryHeader> headers(int partition, RocksIterator iterator) throws RocksDBException {
		List<EntryHeader> headers = new ArrayList<>();
		for (iterator.seek(IndexRow.bound(partition)); iterator.isValid(); iterator.next()) {
			byte[] row = iterator.key();
			if (IndexRow.partitionOf(row) != partition) {
				return headers;
			}
			headers.add(IndexRow.header(row, iterator.value(), this.database.format.factor()));
		}
		// An iterator that meets damage just ends.
		iterator.status();
		return headers;
	}

	/** Reads tombstones, see {@link io.kvorum.storage.PartitionIndex#tombstones}. */
	List<TombstoneRecord> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit)
			throws RocksDBException {
		byte[] start = (after != null)
				? behind(TombstoneRow.key(after.header().version(), after.header().key().bytes())) : new byte[0];
		byte[] end = TombstoneRow.before(beforeMillis);
		return (Arrays.compareUnsigned(start, end) < 0)
				? read(this.database.tombstones, start, end, limit, TombstoneRow::tombstone) : List.of();
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

	/** Decodes a row. */
	private interface Row<T> {

		T of(byte[] key, byte[] value);

	}

}
