package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.TickerType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Entries that are so large that they have a {@link LargeRow}. */
class LargeEntryTests {

	private static final Key KEY = Generator.key("key");

	private static final int LARGE = 100_000;

	private static final List<Integer> LENGTHS = List.of(0, 10, LargeRow.MIN_BYTES - 60, LargeRow.MIN_BYTES - 24,
			LargeRow.MIN_BYTES, Page.Limit.USUAL_ENTRY_BYTES + 1, LARGE);

	@TempDir
	private Path directory;

	private long timestamp = 1;

	@SeededTest
	void whateverReplacesWhatEachIsReadAndListedAndNothingIsLeftBehind(long seed) throws RocksDBException {
		Generator random = new Generator(seed);
		Map<Key, Entry> model = new TreeMap<>();
		for (int restart = 0; restart < 3; restart++) {
			try (TestStore store = new TestStore(TestSettings.withRowCache(this.directory, restart << 20))) {
				for (int step = 0; step < 100; step++) {
					step(random, store, model);
				}
				model.forEach((key, entry) -> assertThat(store.read(key)).isEqualTo(entry));
				assertListed(store, model);
			}
			assertThat(largeRows()).isEqualTo(largeRowsOf(model));
		}
	}

	private void step(Generator random, TestStore store, Map<Key, Entry> model) {
		Key key = Generator.key("key " + random.below(8));
		Entry there = model.get(key);
		if (there != null && random.chance(20)) {
			assertThat(Awaited.of(store.engine.remove(key, there.version(), Long.MAX_VALUE))).isTrue();
			model.remove(key);
			return;
		}
		Entry entry = entry(random.oneOf(LENGTHS), random.chance(15), random.chance(20));
		store.store(key, entry);
		model.put(key, entry);
	}

	private Entry entry(int length, boolean isTombstone, boolean hasLineage) {
		Version version = new Version(this.timestamp++, 1);
		Lineage lineage = hasLineage ? Lineage.of(version, true, null) : null;
		return isTombstone ? new Tombstone(version, Copies.DEFAULT, lineage)
				: new Live(version, Copies.DEFAULT, Live.NEVER, "text/plain", value(length), lineage);
	}

	private Value value(int length) {
		byte[] bytes = new byte[length];
		Arrays.fill(bytes, (byte) this.timestamp);
		return Value.of(bytes);
	}

	private static void assertListed(TestStore store, Map<Key, Entry> model) {
		Map<Key, Entry> heads = new TreeMap<>();
		pages(store, Page.Limit.ofHeads(1000, 3)).forEach(cursor -> {
			while (cursor.advance()) {
				Key key = Key.of(cursor.keyBytes());
				heads.put(key, cursor.entry());
				Entry entry = model.get(key);
				if (entry instanceof Live live) {
					assertThat(cursor.lengthBehindHead()).isEqualTo(live.value().length());
				}
			}
		});
		assertThat(heads.keySet()).isEqualTo(new TreeSet<>(model.keySet()));
		model.forEach((key, entry) -> assertThat(heads.get(key)).isInstanceOf(entry.getClass())
			.extracting(Entry::version, Entry::copies)
			.containsExactly(entry.version(), entry.copies()));
		Map<Key, Entry> whole = new TreeMap<>();
		pages(store, Page.Limit.of(1000, 3)).forEach(cursor -> {
			while (cursor.advance()) {
				Key key = Key.of(cursor.keyBytes());
				Entry entry = Objects.requireNonNull(model.get(key));
				assertThat(cursor.entryLength()).isEqualTo(EntryFormat.encode(key, entry).length);
				assertThat(cursor.version()).isEqualTo(entry.version());
				whole.put(key, cursor.isLarge() ? alone(store, key) : cursor.entry());
			}
		});
		assertThat(whole).isEqualTo(model);
	}

	private static Entry alone(TestStore store, Key key) {
		Page page = Awaited.of(store.engine.fetch(List.of(key), Page.Limit.ofWhole(), Deadline.NONE));
		Page.Cursor cursor = Objects.requireNonNull(page).cursor();
		assertThat(cursor.advance()).isTrue();
		return cursor.entry();
	}

	private static List<Page.Cursor> pages(TestStore store, Page.Limit limit) {
		List<Page.Cursor> pages = new ArrayList<>();
		KeyRange range = KeyRange.all();
		Page page;
		do {
			page = Objects.requireNonNull(Awaited.of(store.engine.scan(range, limit, Deadline.NONE)));
			pages.add(page.cursor());
			range = page.isLast() ? range : page.behind(range);
		}
		while (!page.isLast());
		return pages;
	}

	private Map<String, Integer> largeRows() throws RocksDBException {
		Map<String, Integer> rows = new HashMap<>();
		try (Database database = Database.open(TestSettings.of(this.directory));
				RocksIterator iterator = database.db.newIterator(database.large)) {
			for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
				rows.put(HexFormat.of().formatHex(iterator.key()), iterator.value().length);
			}
		}
		return rows;
	}

	private static Map<String, Integer> largeRowsOf(Map<Key, Entry> model) {
		Map<String, Integer> rows = new HashMap<>();
		model.forEach((key, entry) -> {
			int length = EntryFormat.encode(key, entry).length;
			if (length >= LargeRow.MIN_BYTES) {
				rows.put(HexFormat.of().formatHex(LargeRow.key(key.bytes(), entry.version())), length);
			}
		});
		return rows;
	}

	@Test
	void whatHasExpiredIsCollectedWithItsValue() throws RocksDBException {
		try (TestStore store = new TestStore(TestSettings.ofReplica(this.directory))) {
			Version version = new Version(this.timestamp++, 1);
			store.store(KEY, new Live(version, Copies.DEFAULT, SteeredTime.START_MILLIS + 10, "text/plain",
					value(LARGE), Lineage.of(version, true, null)));
			store.time.pass(Duration.ofSeconds(1));
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isInstanceOf(Tombstone.class);
		}
		assertThat(largeRows()).isEmpty();
	}

	/** Values of memtables and of tables. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aListingReadsNoLargeValue(boolean isFlushed) throws RocksDBException {
		int keys = 50;
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < keys; i++) {
				store.store(Generator.key("key " + i), entry(LARGE, false, false));
			}
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			if (isFlushed) {
				database.flush();
			}
			Page page = new PageReader(database).read(KeyRange.all(), Page.Limit.ofHeads(1 << 20, 1000));

			assertThat(page.isLast()).isTrue();
			assertThat(page.length()).isLessThan(keys * 100);
			assertThat(database.statistics.getTickerCount(TickerType.ITER_BYTES_READ)).isLessThan(keys * 100L);
			assertThat(database.statistics.getTickerCount(TickerType.BYTES_READ)).isLessThan(keys * 100L);
		}
	}

	@Test
	void oneWithoutItsRowIsDamaged() throws RocksDBException {
		Entry entry = storeLarge();
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.delete(database.large, LargeRow.key(KEY.bytes(), entry.version()));
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.read(KEY))
				.withStackTraceContaining("only its beginning is there");
			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> Awaited.of(store.engine.fetch(List.of(KEY), Page.Limit.ofWhole(), Deadline.NONE)));

			Entry newer = entry(LARGE, false, false);
			store.store(KEY, newer);
			assertThat(store.read(KEY)).isEqualTo(newer);
		}
	}

	/** Whatever a row has become, it is damage, and takes no more memory than it has. */
	@ParameterizedTest
	@ValueSource(strings = { "", "03", "03ff", "030000000000000001" })
	void aBeginningThatIsCutShortIsDamaged(String row) throws RocksDBException {
		putRow(HexFormat.of().parseHex(row));
		assertIsDamaged();
	}

	@ParameterizedTest
	@ValueSource(ints = { Integer.MAX_VALUE, -1, 0, LARGE - 1 })
	void aBeginningWithAnotherLengthChangesNoValue(int length) throws RocksDBException {
		Entry entry = storeLarge();
		byte[] beginning = EntryFormat.beginning(EntryFormat.encode(KEY, entry));
		ByteBuffer.wrap(beginning).putInt(beginning.length - Integer.BYTES, length);
		putRow(beginning);
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isEqualTo(entry);
			assertThat(alone(store, KEY)).isEqualTo(entry);
		}
	}

	private Entry storeLarge() {
		Entry entry = entry(LARGE, false, false);
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, entry);
		}
		return entry;
	}

	private void putRow(byte[] row) throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, KEY.bytes(), row);
		}
	}

	private void assertIsDamaged() {
		try (TestStore store = TestStore.on(this.directory)) {
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.read(KEY));
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> alone(store, KEY));
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> pages(store, Page.Limit.of(1000, 3)));
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> pages(store, Page.Limit.ofHeads(1000, 3)));
		}
	}

	/** As an older release left it. */
	@Test
	void oneAmongTheEntriesIsReadAndReplaced() throws RocksDBException {
		Entry entry = storeLarge();
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, KEY.bytes(), EntryFormat.encode(KEY, entry));
			database.db.delete(database.large, LargeRow.key(KEY.bytes(), entry.version()));
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Map<Key, Entry> model = new TreeMap<>(Map.of(KEY, entry));
			assertThat(store.read(KEY)).isEqualTo(entry);
			assertListed(store, model);
			Entry newer = entry(LARGE, false, false);
			store.store(KEY, newer);
			assertListed(store, new TreeMap<>(Map.of(KEY, newer)));
		}
		assertThat(largeRows()).hasSize(1);
	}

}
