package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Hint;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The bytes of all rows, and stores of format 1. The factor of these stores is 3. */
class StoreFormatTests {

	private static final Key KEY = Generator.key("key");

	private static final Version VERSION = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

	private static final long NODE = 7;

	@TempDir
	Path directory;

	@Test
	void rowsOfTheIndexStayTheSame() {
		assertThat(hex(IndexRow.key(0x01_0203, KEY.bytes()))).isEqualTo("00010203" + "6b6579");
		assertThat(IndexRow.VALUE).isEmpty();
	}

	/** Rows of the releases before have the header of an entry that may be gone. */
	@Test
	void anIndexWithHeadersIsTakenAsItIsAndByReleasesThatReadThemNoMore() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, new Tombstone(VERSION, 4));
		}
		int partition = RendezvousPlacement.partitionOf(KEY);
		byte[] row = IndexRow.key(partition, KEY.bytes());
		byte[] other = bytes("018bcfe568000006" + "fedcba9876543210" + "05" + "03");
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.index, row, other);
			database.db.put(database.meta, IndexBuilder.RECORD, new byte[] { 1 });
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(Awaited.of(store.engine.headers(partition, Deadline.NONE)))
				.containsExactly(new EntryHeader(KEY, VERSION, 4, true));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			assertThat(database.db.get(database.index, row)).isEqualTo(other);
			assertThat(database.db.get(database.meta, IndexBuilder.RECORD)).containsExactly(2);
		}
	}

	@Test
	void rowsOfTombstonesStayTheSame() {
		byte[] key = TombstoneRow.key(VERSION, KEY.bytes());
		byte[] value = TombstoneRow.value(Copies.DEFAULT, 0x0102_0304L);

		assertThat(hex(key)).isEqualTo("018bcfe568000007" + "fedcba9876543210" + "6b6579");
		assertThat(hex(value)).isEqualTo("00" + "0000000001020304");
		assertThat(TombstoneRow.tombstone(key, value))
			.isEqualTo(new TombstoneRecord(new EntryHeader(KEY, VERSION, Copies.DEFAULT, true), 0x0102_0304L));
	}

	@Test
	void rowsOfHintsStayTheSame() {
		assertThat(hex(HintRow.data(NODE, VERSION, KEY.bytes())))
			.isEqualTo("64" + "0000000000000007" + "018bcfe568000007" + "fedcba9876543210" + "6b6579");
		assertThat(hex(HintRow.key(NODE, KEY.bytes()))).isEqualTo("6b" + "0000000000000007" + "6b6579");
		assertThat(hex(HintRow.waiting(VERSION, 0x0102)))
			.isEqualTo("018bcfe568000007" + "fedcba9876543210" + "00000102");
	}

	@Test
	void rowsOfExpiriesStayTheSame() {
		assertThat(hex(new Expiry(0x0102_0304L, KEY, VERSION).toKey()))
			.isEqualTo("0000000001020304" + "6b6579" + "018bcfe568000007" + "fedcba9876543210");
	}

	@Test
	void rowsOfMetaStayTheSame() {
		assertThat(hex(NodeFacts.rowOf("alive"))).isEqualTo(hex("record:alive".getBytes(StandardCharsets.UTF_8)));
		assertThat(hex(NodeFacts.bytes(0x0102_0304L))).isEqualTo("0000000001020304");
		assertThat(hex(new StoreFormat(3).toBytes())).isEqualTo("00000004" + "00000003");
	}

	/** What is compared between nodes, too. */
	@Test
	void whatStandsForAVersionInADigestStaysTheSame() {
		assertThat(Digests.itemOf(0x0102_0304_0506_0708L, VERSION)).isEqualTo(0xda53_278d_6cef_e1eeL);
		assertThat(Digests.itemOf(-1, Version.ABSENT)).isEqualTo(0x2f32_a784_96c6_7c60L);
	}

	@Test
	void aNewStoreHasTheNumberOfItsFormat() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			assertThat(database.db.get(database.meta, StoreFormat.ROW)).isEqualTo(new StoreFormat(3).toBytes());
		}
	}

	@Test
	void aNewerFormatIsRefusedWithWhatWasFoundWhatIsReadAndWhatToDo() throws RocksDBException {
		putFormat(ByteBuffer.allocate(6).putInt(5).array());

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(this.directory))
			.withMessage("The data directory %s has store format 5. This version of Kvorum reads the formats 1 to 4."
				.formatted(this.directory))
			.extracting(StoreOpenException::action)
			.asString()
			.contains("Nothing was changed. Start that version again.", "a backup that it has written");
	}

	/** One that knows of no format. */
	@Test
	void anOlderReleaseDoesNotOpenAStoreOfThisOne() {
		TestStore.on(this.directory).close();
		List<ColumnFamilyDescriptor> known = descriptors(
				List.of("default", "entries", "expiries", "meta", "index", "tombstones", "hints"));
		try (DBOptions options = new DBOptions()) {
			assertThatExceptionOfType(RocksDBException.class).isThrownBy(
					() -> RocksDB.open(options, this.directory.toString(), known, new ArrayList<ColumnFamilyHandle>()))
				.withMessageContaining("Column families not opened: ", "store-format");
		}
	}

	/** One that knows of no promises, and one that knows of no large entries. */
	@ParameterizedTest
	@CsvSource({ "2, 'large, promises'", "1, large" })
	void aReleaseWithAnOlderFormatDoesNotOpenAStoreOfThisOne(int unknown, String names) {
		TestStore.on(this.directory).close();
		List<ColumnFamilyDescriptor> known = descriptors(
				Database.COLUMNS.subList(0, Database.COLUMNS.size() - unknown));
		try (DBOptions options = new DBOptions()) {
			assertThatExceptionOfType(RocksDBException.class).isThrownBy(
					() -> RocksDB.open(options, this.directory.toString(), known, new ArrayList<ColumnFamilyHandle>()))
				.withMessageContaining("Column families not opened: " + names);
		}
	}

	@ParameterizedTest
	@CsvSource({ "2, 2", "3, 1" })
	void aStoreOfAnOlderFormatBecomesOneOfThisFormatAndKeepsItsFactor(int format, int missing) throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(VERSION, "value"));
		}
		putFormat(ByteBuffer.allocate(2 * Integer.BYTES).putInt(format).putInt(5).array());
		withoutColumns(missing);
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isEqualTo(Generator.live(VERSION, "value"));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			assertThat(database.db.get(database.meta, StoreFormat.ROW)).isEqualTo(new StoreFormat(5).toBytes());
		}
	}

	@Test
	void rowsOfPromisesStayTheSame() {
		byte[] value = PromiseRow.value(VERSION);

		assertThat(hex(value)).isEqualTo("018bcfe568000007" + "fedcba9876543210");
		assertThat(PromiseRow.ballot(value)).isEqualTo(VERSION);
	}

	@Test
	void numbersOfAnOlderStoreUpToTheFactorAreTheDefaultWhereverTheyAreRead() throws InterruptedException {
		for (int number = 1; number <= 4; number++) {
			makeStoreOfFormat1(Generator.live(VERSION, "value"), number);
			Copies expected = (number <= 3) ? Copies.DEFAULT : Copies.of(4);
			Live entry = new Live(VERSION, expected, Live.NEVER, "text/plain",
					Generator.live(VERSION, "value").value());
			try (TestStore store = TestStore.on(this.directory)) {
				assertThat(store.read(KEY)).isEqualTo(entry);
				assertThat(
						entryOf(Awaited.of(store.engine.scan(KeyRange.all(), Page.Limit.of(1000, 10), Deadline.NONE))))
					.isEqualTo(entry);
				assertThat(entryOf(Awaited.of(store.engine.fetch(List.of(KEY), Page.Limit.ofWhole(), Deadline.NONE))))
					.isEqualTo(entry);
				int partition = RendezvousPlacement.partitionOf(KEY);
				assertThat(Awaited.of(store.engine.headers(partition, Deadline.NONE)))
					.containsExactly(new EntryHeader(KEY, VERSION, expected, false));
				assertThat(Awaited.of(store.engine.oldest(NODE, 1000, 10, Deadline.NONE)))
					.containsExactly(new Hint(NODE, KEY, entry));
				Digests digests = store.awaitDigests();
				long item = Digests.itemOf(RendezvousPlacement.hashOf(KEY), VERSION);
				assertThat(digests.of(partition, 3)).isEqualTo(item);
				assertThat(digests.of(partition, 4)).isEqualTo((number == 4) ? item : 0);

				Version newer = new Version(VERSION.timestamp() + 1, 1);
				assertThat(store.store(KEY, new Tombstone(newer, Copies.DEFAULT))).isEqualTo(StoreOutcome.STORED);
				assertThat(digests.of(partition, 3)).isEqualTo(Digests.itemOf(RendezvousPlacement.hashOf(KEY), newer));
				assertThat(digests.of(partition, 4)).isZero();
			}
		}
	}

	@Test
	void aDamagedOlderStoreIsNotToldUnchangedWhenItHasTheNewFormat() throws RocksDBException {
		makeStoreOfFormat1(Generator.live(VERSION, "value"), 3);
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.flush();
		}
		List<Path> tables = Tables.of(this.directory, "entries");
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.delete(database.meta, IndexBuilder.RECORD);
			database.db.delete(database.meta, StoreFormat.ROW);
		}
		tables.forEach(table -> Disk.flipBit(table, 4));

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(this.directory))
			.withMessageStartingWith("The data directory " + this.directory + " is damaged")
			.extracting(StoreOpenException::action)
			.asString()
			.doesNotContain("Nothing was changed")
			.contains("No entry was changed");
		withColumns((database, columns) -> assertThat(database.get(columns.get(3), StoreFormat.ROW))
			.isEqualTo(new StoreFormat(3).toBytes()));
	}

	@Test
	void whatANumberMeansIsDecidedOnceAndByTheFactorOfThatTime() throws RocksDBException {
		makeStoreOfFormat1(Generator.live(VERSION, "value"), 3);
		putFormat(new StoreFormat(2).toBytes());
		for (int start = 0; start < 2; start++) {
			try (TestStore store = TestStore.on(this.directory)) {
				assertThat(store.read(KEY)).isEqualTo(
						new Live(VERSION, 3, Live.NEVER, "text/plain", Generator.live(VERSION, "value").value()));
			}
		}
	}

	@Test
	void aCopyOfAnOlderStoreIsVerifiedAndAdopted() {
		makeStoreOfFormat1(Generator.live(VERSION, "value"), 3);
		withoutColumns(3);
		try (TestStore store = TestStore.on(this.directory.resolve("beside"))) {
			assertThat(store.engine.checkpoints().verify(this.directory, _ -> {
			})).isPositive();
			store.engine.checkpoints().adopt(this.directory, records -> records);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isNotNull();
		}
	}

	/** As a release before formats left it. */
	private void makeStoreOfFormat1(Live value, int number) {
		TestStore.on(this.directory).close();
		byte[] entry = EntryFormat.toFormat1(KEY,
				EntryFormat.encode(KEY,
						new Live(value.version(), number, value.expiresAtMillis(), value.contentType(), value.value())),
				1);
		byte[] indexed = bytes("018bcfe568000007" + "fedcba9876543210" + "%02x".formatted(number) + "00");
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, KEY.bytes(), entry);
			database.db.put(database.index, IndexRow.key(RendezvousPlacement.partitionOf(KEY), KEY.bytes()), indexed);
			database.db.put(database.hints, HintRow.data(NODE, VERSION, KEY.bytes()), entry);
			database.db.put(database.hints, HintRow.key(NODE, KEY.bytes()), HintRow.waiting(VERSION, entry.length));
			database.db.delete(database.meta, StoreFormat.ROW);
		}
		catch (RocksDBException ex) {
			throw new AssertionError(ex);
		}
	}

	/** Drops the newest columns, as an older release left the store. */
	private void withoutColumns(int number) {
		withColumns((database, columns) -> database
			.dropColumnFamilies(columns.subList(columns.size() - number, columns.size())));
	}

	/** Uses the store as it is, which {@link Database} would change. */
	private void withColumns(Use use) {
		List<ColumnFamilyHandle> handles = new ArrayList<>();
		try (DBOptions options = new DBOptions();
				RocksDB database = RocksDB.open(options, this.directory.toString(), descriptors(Database.COLUMNS),
						handles)) {
			use.of(database, handles);
			handles.forEach(ColumnFamilyHandle::close);
		}
		catch (RocksDBException ex) {
			throw new AssertionError(ex);
		}
	}

	private interface Use {

		void of(RocksDB database, List<ColumnFamilyHandle> columns) throws RocksDBException;

	}

	private static List<ColumnFamilyDescriptor> descriptors(List<String> columns) {
		return columns.stream()
			.map(name -> new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.US_ASCII)))
			.toList();
	}

	private void putFormat(byte[] value) throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.meta, StoreFormat.ROW, value);
		}
	}

	private static @Nullable Object entryOf(@Nullable Page page) {
		Page.Cursor cursor = Objects.requireNonNull(page).cursor();
		assertThat(cursor.advance()).isTrue();
		return cursor.entry();
	}

	private static String hex(byte[] bytes) {
		return HexFormat.of().formatHex(bytes);
	}

	private static byte[] bytes(String hex) {
		return HexFormat.of().parseHex(hex);
	}

}
