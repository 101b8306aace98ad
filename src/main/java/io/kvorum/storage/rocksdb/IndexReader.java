package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PromiseRecord;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/** Reads entry headers and promises. Blocks. */
final class IndexReader {

	private final Database database;

	private final IndexDamage damage;

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	/**
	 * Reads once, on one thread.
	 * @param damage is told of unreadable rows of the index
	 */
	IndexReader(Database database, IndexDamage damage) {
		this.database = database;
		this.damage = damage;
	}

	/**
	 * The headers of
	 * {@link io.kvorum.storage.PartitionIndex#headers(List, int, Deadline)}.
	 */
	List<List<EntryHeader>> headers(List<Integer> partitions, int enough) throws RocksDBException {
		List<List<EntryHeader>> all = new ArrayList<>(partitions.size());
		int count = 0;
		int last = partitions.stream().mapToInt(Integer::intValue).max().orElse(0);
		byte @Nullable [] end = (last < Partitions.COUNT - 1) ? IndexRow.bound(last + 1) : null;
		try (Slice upper = (end != null) ? new Slice(end) : null;
				ReadOptions options = this.database.scanTo(upper);
				RocksIterator iterator = this.database.db.newIterator(this.database.index, options)) {
			for (int partition : partitions) {
				List<EntryHeader> headers = headers(keys(partition, iterator));
				all.add(headers);
				count += headers.size();
				if (count >= enough) {
					break;
				}
			}
		}
		return all;
	}

	private List<byte[]> keys(int partition, RocksIterator iterator) throws RocksDBException {
		List<byte[]> keys = new ArrayList<>();
		for (iterator.seek(IndexRow.bound(partition)); iterator.isValid(); iterator.next()) {
			byte[] row = iterator.key();
			if (IndexRow.partitionOf(row) != partition) {
				return keys;
			}
			keys.add(IndexRow.keyOf(row));
		}
		try {
			// An iterator that meets damage just ends.
			iterator.status();
			return keys;
		}
		catch (RocksDBException ex) {
			this.damage.met(ex);
			throw ex;
		}
	}

	/** The headers of what is stored of these keys now. */
	private List<EntryHeader> headers(List<byte[]> keys) throws RocksDBException {
		List<EntryHeader> headers = new ArrayList<>(keys.size());
		for (byte[] key : keys) {
			int length = this.database.db.get(this.database.entries, this.database.scan, key, 0, key.length, this.head,
					0, this.head.length);
			if (length != RocksDB.NOT_FOUND) {
				headers.add(EntryFormat.header(Key.of(key), this.head, length, this.database.format.factor()));
			}
		}
		return headers;
	}

	/** The promises of {@link io.kvorum.storage.PromiseLog#promises}. */
	List<PromiseRecord> promises(@Nullable Key after, int limit) throws RocksDBException {
		List<PromiseRecord> promises = new ArrayList<>();
		try (RocksIterator iterator = this.database.db.newIterator(this.database.promises, this.database.scan)) {
			iterator.seek((after != null) ? CollectorReader.behind(after.bytes()) : new byte[0]);
			for (; iterator.isValid() && promises.size() < limit; iterator.next()) {
				promises.add(new PromiseRecord(Key.of(iterator.key()), PromiseRow.ballot(iterator.value())));
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		return promises;
	}

	/** The promise of {@link io.kvorum.storage.StorageEngine#promised}. */
	Version promised(Key key) throws RocksDBException {
		byte[] row = this.database.db.get(this.database.promises, this.database.scan, key.bytes());
		return (row != null) ? PromiseRow.ballot(row) : Version.ABSENT;
	}

}
