package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * Reads what collectors remove, in the order of the rows. Steps over damage: what is left
 * out costs space, and all behind it would cost more and more. Blocks.
 * <p>
 * Nothing tells where a damaged block ends. So this looks behind the last row, each time
 * 256 times as far, until it can read; and then for the nearest place between.
 */
final class CollectorReader {

	private static final int STEP_BITS = Byte.SIZE;

	/** The bytes, behind those of the last row, in which the next rows may differ. */
	private static final int MORE_BYTES = 64;

	private final Database database;

	private final StorageEvents events;

	CollectorReader(Database database, StorageEvents events) {
		this.database = database;
		this.events = events;
	}

	/** The tombstones of {@link io.kvorum.storage.PartitionIndex#tombstones}. */
	List<TombstoneRecord> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit)
			throws RocksDBException {
		byte[] start = (after != null)
				? behind(TombstoneRow.key(after.header().version(), after.header().key().bytes())) : new byte[0];
		return read(this.database.tombstones, start, TombstoneRow.before(beforeMillis), limit, TombstoneRow::tombstone);
	}

	/** The promises of {@link io.kvorum.storage.PromiseLog#readable}. */
	List<PromiseRecord> promises(@Nullable Key after, int limit) throws RocksDBException {
		byte[] start = (after != null) ? behind(after.bytes()) : new byte[0];
		return read(this.database.promises, start, null, limit,
				(row, value) -> new PromiseRecord(Key.of(row), PromiseRow.ballot(value)));
	}

	/**
	 * The headers of
	 * {@link io.kvorum.storage.PartitionIndex#headers(KeyRange, int, Deadline)}.
	 */
	List<EntryHeader> headers(KeyRange range, int limit) throws RocksDBException {
		return read(this.database.entries, range.start(), range.end(), limit, this::header);
	}

	/**
	 * Checks an entry, since its version may be what is damaged. The beginning of a large
	 * one has no checksum.
	 */
	private EntryHeader header(byte[] row, byte[] value) {
		Key key = Key.of(row);
		byte[] entry = EntryFormat.fromFormat1(key, value, this.database.format.factor());
		if (EntryFormat.isBeginning(entry, 0, entry.length)) {
			EntryFormat.toEntry(entry, 0, entry.length);
		}
		else {
			EntryFormat.decode(key, entry);
		}
		return EntryFormat.header(key, entry, entry.length, this.database.format.factor());
	}

	/** Expiries from one row, inclusive, to another, exclusive. */
	List<Expiry> expiries(byte[] start, byte[] end, int limit) throws RocksDBException {
		return read(this.database.expiries, start, end, limit, (row, _) -> Expiry.of(row));
	}

	private <T> List<T> read(ColumnFamilyHandle column, byte[] start, byte @Nullable [] end, int limit, Row<T> row)
			throws RocksDBException {
		List<T> read = new ArrayList<>();
		if (end != null && Arrays.compareUnsigned(start, end) >= 0) {
			return read;
		}
		try (Slice upper = (end != null) ? new Slice(end) : null; ReadOptions options = this.database.scanTo(upper)) {
			byte @Nullable [] next = start;
			while (next != null) {
				try (RocksIterator iterator = this.database.db.newIterator(column, options)) {
					for (iterator.seek(next); iterator.isValid() && read.size() < limit; iterator.next()) {
						byte[] key = iterator.key();
						next = behind(key);
						add(read, row, key, iterator.value());
					}
					if (read.size() < limit) {
						// An iterator that meets damage just ends.
						iterator.status();
					}
					return read;
				}
				catch (RocksDBException ex) {
					next = behindDamage(next, at -> isDamaged(this.database, column, options, at));
					if (next == null && read.isEmpty()) {
						throw ex;
					}
					this.events.unreadable();
				}
			}
		}
		return read;
	}

	private <T> void add(List<T> read, Row<T> row, byte[] key, byte[] value) {
		try {
			read.add(row.of(key, value));
		}
		catch (DamagedEntryException _) {
			this.events.unreadable();
		}
	}

	/** Takes an iterator of its own: one that has met damage may stay with that. */
	private static boolean isDamaged(Database database, ColumnFamilyHandle column, ReadOptions options, byte[] at) {
		try (RocksIterator iterator = database.db.newIterator(column, options)) {
			iterator.seek(at);
			iterator.status();
			return false;
		}
		catch (RocksDBException _) {
			return true;
		}
	}

	/** As the other, among the entries. */
	static byte @Nullable [] behindDamage(Database database, byte[] from) {
		return behindDamage(from, at -> isDamaged(database, database.entries, database.scan, at));
	}

	/**
	 * A place behind damage; null if there is damage wherever it looks, as in a table
	 * whose index cannot be read.
	 */
	private static byte @Nullable [] behindDamage(byte[] from, Predicate<byte[]> isDamaged) {
		byte[] damaged = Arrays.copyOf(from, from.length + MORE_BYTES);
		int bit = 0;
		while (isDamaged.test(plus(damaged, bit))) {
			bit += STEP_BITS;
			if (bit > damaged.length * Byte.SIZE) {
				return null;
			}
		}
		for (bit--; bit >= 0; bit--) {
			byte[] nearer = plus(damaged, bit);
			if (isDamaged.test(nearer)) {
				damaged = nearer;
			}
		}
		return plus(damaged, 0);
	}

	/** The row as a number, plus a power of two; the greatest row if that is too much. */
	private static byte[] plus(byte[] row, int bit) {
		byte[] sum = row.clone();
		int carry = 1 << (bit % Byte.SIZE);
		for (int i = row.length - 1 - bit / Byte.SIZE; i >= 0 && carry > 0; i--) {
			carry += Byte.toUnsignedInt(sum[i]);
			sum[i] = (byte) carry;
			carry >>= Byte.SIZE;
		}
		if (carry > 0) {
			Arrays.fill(sum, (byte) 0xff);
		}
		return sum;
	}

	/** The least row that is greater than this one. */
	static byte[] behind(byte[] row) {
		return Arrays.copyOf(row, row.length + 1);
	}

	/** Reads a row. */
	private interface Row<T> {

		T of(byte[] key, byte[] value);

	}

}
