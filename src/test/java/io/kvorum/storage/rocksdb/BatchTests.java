package io.kvorum.storage.rocksdb;

import java.nio.file.Path;

import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.TickerType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a batch knows of the entries that it replaces, once their rows have left memory.
 */
class BatchTests {

	private static final int ROW_BYTES = 1000;

	/** Of about 200 rows of that size, and of more heads than there are keys. */
	private static final int CACHE_BYTES = 256 << 10;

	private static final int KEYS = 400;

	@TempDir
	private Path directory;

	private Database database;

	private Derived derived;

	private Batch batch;

	@BeforeEach
	void open() throws RocksDBException {
		this.database = Database.open(TestSettings.of(this.directory));
		this.derived = Derived.of(new Digests(1), HintCounts.read(this.database), CACHE_BYTES);
		this.batch = new Batch(this.database, this.derived, new SteeredTime());
	}

	@AfterEach
	void close() {
		this.batch.close();
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 600, ROW_BYTES, 5000 })
	void theHeadOfALargerEntryOutlivesItsRow(int bytes) throws RocksDBException {
		for (int key = 0; key < KEYS; key++) {
			put(key(key), 1, bytes);
		}
		assertThat(this.derived.rows().get(key(0).key())).isNull();
		long before = reads();

		for (int key = 0; key < KEYS; key++) {
			assertThat(versionOf(key(key))).isEqualTo(version(1));
		}

		// The index is lossy: some keys share their places with two others.
		assertThat(reads() - before).isLessThan(KEYS / 10);
	}

	@Test
	void smallerEntriesHaveNone() throws RocksDBException {
		put(key(0), 1, 100);

		assertThat(this.derived.heads().get(key(0).key())).isNull();
	}

	@Test
	void aSmallerEntryReplacesTheHeadOfALargerOne() throws RocksDBException {
		put(key(0), 1, ROW_BYTES);
		put(key(0), 2, 10);
		evictRows();

		assertThat(versionOf(key(0))).isEqualTo(version(2));
	}

	@Test
	void anEntryThatIsRemovedLeavesNone() throws RocksDBException {
		put(key(0), 1, ROW_BYTES);
		this.batch.remove(key(0), version(1), Long.MAX_VALUE);
		write();
		evictRows();

		assertThat(versionOf(key(0))).isEqualTo(Version.ABSENT);
	}

	@Test
	void whatReplacesALargeEntryRemovesItsValue() throws RocksDBException {
		put(key(0), 1, 5000);
		evictRows();
		byte[] row = LargeRow.key(key(0).bytes(), version(1));
		assertThat(this.database.db.get(this.database.large, row)).isNotNull();

		put(key(0), 2, 10);

		assertThat(this.database.db.get(this.database.large, row)).isNull();
	}

	@Test
	void aBatchThatFailedLeavesNone() throws RocksDBException {
		put(key(0), 1, ROW_BYTES);
		this.batch.put(key(0), entry(key(0), 2, ROW_BYTES));

		this.batch.failed();

		assertThat(this.derived.heads().get(key(0).key())).isNull();
	}

	@Test
	void theIndexIsWrittenWhenAKeyComesOrGoes() throws RocksDBException {
		put(key(0), 1, ROW_BYTES);
		put(key(0), 2, ROW_BYTES);
		evictRows();
		put(key(0), 3, 10);
		assertThat(indexRowsOf(1 + KEYS)).isEqualTo(1 + KEYS);

		this.batch.remove(key(0), version(3), Long.MAX_VALUE);
		this.batch.put(key(0), entry(key(0), 4, 10));
		this.batch.put(key(0), entry(key(0), 5, 10));
		write();

		assertThat(indexRowsOf(1 + KEYS)).isEqualTo(1 + KEYS + 2);
	}

	/** The rows that were written or removed, if those of so many keys are there. */
	private long indexRowsOf(int keys) throws RocksDBException {
		try (RocksIterator rows = this.database.db.newIterator(this.database.index)) {
			int there = 0;
			for (rows.seekToFirst(); rows.isValid(); rows.next()) {
				there++;
			}
			assertThat(there).isEqualTo(keys);
		}
		return this.database.db.getLongProperty(this.database.index, "rocksdb.num-entries-active-mem-table");
	}

	private void evictRows() throws RocksDBException {
		for (int key = 1; key <= KEYS; key++) {
			put(key(key), 1, ROW_BYTES);
		}
		assertThat(this.derived.rows().get(key(0).key())).isNull();
	}

	private void put(IndexedKey key, long version, int bytes) throws RocksDBException {
		this.batch.put(key, entry(key, version, bytes));
		write();
	}

	private void write() throws RocksDBException {
		this.batch.write(false);
		this.batch.apply();
		this.batch.clear();
	}

	private Version versionOf(IndexedKey key) throws RocksDBException {
		return this.batch.acceptorOf(key).held();
	}

	private long reads() {
		return this.database.statistics.getTickerCount(TickerType.NUMBER_KEYS_READ);
	}

	private static EncodedEntry entry(IndexedKey key, long version, int bytes) {
		Entry entry = Generator.live(version(version), "x".repeat(bytes));
		return EncodedEntry.of(key.key(), entry);
	}

	private static Version version(long timestamp) {
		return new Version(timestamp, 1);
	}

	private static IndexedKey key(int number) {
		Key key = Generator.key("key" + number);
		return IndexedKey.of(key, RendezvousPlacement::hashOf);
	}

}
