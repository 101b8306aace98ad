package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.kvorum.storage.StoreOpenException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.TickerType;
import org.rocksdb.WriteBatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DatabaseTests {

	/** Their filter alone is larger than a part of a small cache. */
	private static final int ENTRIES = 600_000;

	private static final int LOOKS = 2000;

	/** Fewer than the store may hold open. */
	private static final int TABLES = 40;

	@TempDir
	private Path directory;

	/** One after another they are all over the table. */
	private static byte[] key(long number) {
		return ByteBuffer.allocate(Long.BYTES).putLong(number * 0x9E37_79B9_7F4A_7C15L).array();
	}

	private static void fill(Database database) throws RocksDBException {
		try (WriteBatch batch = new WriteBatch()) {
			for (long i = 0; i < ENTRIES; i++) {
				batch.put(database.entries, key(i), new byte[0]);
				if (i % 10_000 == 9999) {
					database.db.write(database.unsynced, batch);
					batch.clear();
				}
			}
		}
		database.flush();
		database.db.compactRange(database.entries);
	}

	@Test
	void theFilterOfALargeTableStaysInASmallCache() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			fill(database);
			look(database, 0);
			long before = database.statistics.getTickerCount(TickerType.BLOCK_CACHE_MISS);

			look(database, 1);

			assertThat(database.statistics.getTickerCount(TickerType.BLOCK_CACHE_MISS) - before).isLessThan(LOOKS / 20);
			assertThat(database.statistics.getTickerCount(TickerType.BLOOM_FILTER_USEFUL))
				.isGreaterThan(2 * LOOKS * 9 / 10);
		}
	}

	@Test
	void whereFiltersDoNotFitIntoTheCacheALookBringsAPartOfOne() throws RocksDBException {
		try (Database database = Database.open(TestSettings.withCache(this.directory, 512 << 10))) {
			fill(database);
			long before = database.statistics.getTickerCount(TickerType.BLOCK_CACHE_FILTER_BYTES_INSERT);

			look(database, 0);

			assertThat(database.statistics.getTickerCount(TickerType.BLOCK_CACHE_FILTER_BYTES_INSERT) - before)
				.isBetween(LOOKS * 1000L, LOOKS * 10_000L);
		}
	}

	/**
	 * A shard of the cache of open tables that has no room for one of them opens it at
	 * each look, and loads its whole filter.
	 */
	@Test
	void tablesStayOpenAsLongAsThereAreNoMoreThanAllowed() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			MutableColumnFamilyOptions asWritten = MutableColumnFamilyOptions.builder()
				.setDisableAutoCompactions(true)
				.build();
			database.db.setOptions(database.entries, asWritten);
			// Each from the first key to the last one.
			for (int table = 0; table < TABLES; table++) {
				database.db.put(database.entries, new byte[] { 0, (byte) table }, new byte[0]);
				database.db.put(database.entries, new byte[] { -1, (byte) table }, new byte[0]);
				database.flush();
			}
			look(database, 0);
			long before = database.statistics.getTickerCount(TickerType.NO_FILE_OPENS);

			look(database, 1);

			assertThat(database.statistics.getTickerCount(TickerType.NO_FILE_OPENS)).isEqualTo(before);
		}
	}

	/** A newer version keeps something more. */
	@Test
	void aStoreOfANewerVersionIsNotOpenedAndSaidToBeOne() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory));
				ColumnFamilyHandle _ = database.db
					.createColumnFamily(new ColumnFamilyDescriptor("leases".getBytes(StandardCharsets.US_ASCII)))) {
			assertThat(database.damaged).isFalse();
		}

		assertThatExceptionOfType(StoreOpenException.class)
			.isThrownBy(() -> Database.open(TestSettings.of(this.directory)))
			.withMessageContainingAll("was written by a newer version of Kvorum", "leases", this.directory.toString())
			.extracting(StoreOpenException::action)
			.asString()
			.contains("Start that version again");
	}

	/** Looks for keys that are absent, others at each time. */
	private static void look(Database database, int time) throws RocksDBException {
		long first = ENTRIES + (long) time * LOOKS;
		for (long i = first; i < first + LOOKS; i++) {
			assertThat(database.db.get(database.entries, database.fromAnywhere, key(i))).isNull();
		}
	}

}
