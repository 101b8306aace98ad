package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndexContract;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The index and the digests of a store on disk: over restarts, damage, and a full disk.
 */
class IndexTests {

	private static final Key KEY = Generator.key("key");

	private static final Version VERSION = new Version(7 << 16, 1);

	private static final byte[] LAST = { -1, -1, -1, -1, -1 };

	private static final long SOON = SteeredTime.START_MILLIS + 1000;

	@TempDir
	private Path directory;

	@SeededTest
	void theDigestsAfterACloseAndAfterAKillAreThoseOfWhatIsStored(long seed) throws InterruptedException {
		Path copy = this.directory.resolve("copy");
		Path original = this.directory.resolve("original");
		Map<Key, Entry> stored = new HashMap<>();
		Generator random = new Generator(seed);
		try (TestStore store = TestStore.on(original)) {
			fill(store, stored, random);
			Disk.asAfterAKill(original, copy);
		}
		Path second = this.directory.resolve("second");
		Map<Key, Entry> later = new HashMap<>(stored);
		for (Path path : List.of(original, copy)) {
			try (TestStore store = TestStore.on(path)) {
				if (path.equals(original)) {
					assertThat(store.engine.digests().isComplete()).isTrue();
				}
				Map<Key, Entry> now = new HashMap<>(stored);
				// While what was there is being added.
				fill(store, now, random);
				Contract.verify(store, now);
				if (path.equals(original)) {
					later.putAll(now);
					Disk.asAfterAKill(original, second);
				}
			}
		}
		// Digests were saved, and count for nothing any more.
		try (TestStore store = TestStore.on(second)) {
			Contract.verify(store, later);
		}
	}

	@Test
	void whatIsWorkedOutOfDigestsHoldsUpNoCaller() {
		try (TestStore store = TestStore.on(this.directory)) {
			Thread worker = Awaited.of(store.engine.ofDigests(_ -> Thread.currentThread(), Deadline.NONE));

			assertThat(worker).extracting(Thread::getName).asString().startsWith("test-repairs");
		}
	}

	@SeededTest
	void aStoreOfAnOlderVersionIsIndexedWhenItIsOpened(long seed) throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, stored, new Generator(seed));
		}
		forgetIndex();
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
		}
	}

	@Test
	void anIndexThatWasNotFinishedIsMadeOnceMore() throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, stored, new Generator(1));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.delete(database.meta, Generator.key("index-format").bytes());
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
		}
	}

	@Test
	void anIndexOfAnotherFormatIsMadeAgainWithoutTheRowsThatWereThere() throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, stored, new Generator(1));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.meta, Generator.key("index-format").bytes(), new byte[] { 9 });
			database.db.put(database.index, IndexRow.key(Partitions.COUNT - 1, KEY.bytes()), new byte[18]);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
		}
	}

	@Test
	void anEntryThatIsDamagedIsLeftOutOfTheIndexThatIsMade() throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, stored, new Generator(1));
			store.store(KEY, new Tombstone(VERSION, 1));
		}
		forgetIndex();
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			byte[] damaged = EntryFormat.encode(KEY, new Tombstone(VERSION, 1));
			damaged[0] = 99;
			database.db.put(database.entries, KEY.bytes(), damaged);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.read(KEY));
			Contract.verify(store, stored);
		}
	}

	private void forgetIndex() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.deleteRange(database.index, new byte[0], LAST);
			database.db.deleteRange(database.tombstones, new byte[0], LAST);
			database.db.delete(database.meta, Generator.key("index-format").bytes());
		}
	}

	@Test
	void anExpiredEntryThatBecomesATombstoneChangesItsKindAndNotTheDigest() throws InterruptedException {
		Live entry = new Live(VERSION, 3, SOON, "x", Value.of(new byte[9]));
		try (TestStore store = new TestStore(TestSettings.ofReplica(this.directory))) {
			store.store(KEY, entry);
			long before = store.awaitDigests().of(partitionOf(store, KEY), 3);
			store.time.pass(Duration.ofSeconds(1));
			store.engine.collectExpired();

			EntryHeader tombstone = new EntryHeader(KEY, VERSION, 3, true);
			assertThat(headers(store, KEY)).containsExactly(tombstone);
			assertThat(Awaited.of(store.engine.tombstones(null, SOON, 10, Deadline.NONE)))
				.containsExactly(new TombstoneRecord(tombstone, store.time.millis()));
			assertThat(store.engine.digests().of(partitionOf(store, KEY), 3)).isEqualTo(before).isNotZero();
			Contract.verify(store, Map.of(KEY, new Tombstone(VERSION, 3)));
		}
	}

	@Test
	void anExpiredEntryOfANodeAloneLeavesNothingInTheIndex() throws InterruptedException {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(VERSION, "value", SOON));
			store.time.pass(Duration.ofSeconds(1));
			store.engine.collectExpired();

			assertThat(headers(store, KEY)).isEmpty();
			Contract.verify(store, Map.of());
		}
	}

	@SeededTest
	void keysThatAreWrittenManyTimesInABatchAreInTheDigestOnce(long seed) throws InterruptedException {
		Generator random = new Generator(seed);
		Map<Key, Entry> model = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, model, random);
			List<Key> keys = List.copyOf(model.keySet());
			store.callers.hold();
			store.engine.probe().subscribe();
			store.callers.awaitHeld();
			List<CompletableFuture<?>> queued = new ArrayList<>();
			for (int i = 0; i < 300; i++) {
				Key key = random.oneOf(keys);
				Entry there = model.get(key);
				if (there != null && random.chance(30)) {
					queued.add(store.engine.remove(key, there.version()).toFuture());
					model.remove(key);
				}
				else {
					long timestamp = (there != null) ? there.version().timestamp() + 1 : 5L << 16;
					Entry entry = random.entry(new Version(timestamp, 1));
					queued.add(store.engine.store(key, entry, Deadline.NONE).toFuture());
					model.put(key, entry);
				}
			}
			store.callers.release();
			CompletableFuture.allOf(queued.toArray(CompletableFuture[]::new)).join();
			assertThat(store.events.batches).last().isEqualTo(300);
			Contract.verify(store, model);
		}
	}

	@Test
	void withoutSpaceDigestsStayAsTheyAreAndRemovalsAreTaken() throws InterruptedException {
		Tombstone tombstone = new Tombstone(VERSION, 1);
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, tombstone);
		}
		try (TestStore store = new TestStore(TestSettings.withMinFreeBytes(this.directory, Long.MAX_VALUE))) {
			assertThatExceptionOfType(NoSpace.class)
				.isThrownBy(() -> store.store(Generator.key("other"), new Tombstone(VERSION, 1)));
			Contract.verify(store, Map.of(KEY, tombstone));
			assertThat(Awaited.of(store.engine.remove(KEY, VERSION))).isTrue();
			Contract.verify(store, Map.of());
		}
	}

	@Test
	void aDamagedIndexIsAnErrorForWhoeverReadsIt() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, new HashMap<>(), new Generator(1));
			store.store(KEY, new Tombstone(VERSION, 1));
		}
		Tables.damage(this.directory, "index");
		try (TestStore store = TestStore.on(this.directory)) {
			// The first block is the damaged one.
			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> Awaited.of(store.engine.headers(0, Deadline.NONE)));
			assertThat(store.events.unreadable).hasPositiveValue();
			assertThat(store.read(KEY)).isEqualTo(new Tombstone(VERSION, 1));
		}
	}

	@SeededTest
	void ofADamagedIndexTheDigestsAreThoseOfTheEntriesAndTheNextStartMakesItAgain(long seed)
			throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		Generator random = new Generator(seed);
		try (TestStore store = TestStore.on(this.directory)) {
			fillMany(store, stored, random);
		}
		Tables.damage(this.directory, "index");
		outdateSavedDigests();
		try (TestStore store = TestStore.on(this.directory)) {
			// While the digests are made.
			fill(store, stored, random);
			assertDigestsAreThoseOf(store, stored);
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> headers(store, 0));
			assertThat(store.engine.damage()).contains("Restart this node").contains("Do not empty its directory");
			assertThat(store.events.unreadable).hasPositiveValue();
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
			assertThat(store.engine.damage()).isNull();
			assertThat(store.events.unreadable).hasValue(0);
		}
	}

	@Test
	void damageThatIsMetWhileTheStoreIsOpenIsMendedByTheNextStart() throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fillMany(store, stored, new Generator(1));
		}
		Path table = Tables.of(this.directory, "index").getFirst();
		try (TestStore store = TestStore.on(this.directory)) {
			store.awaitDigests();
			Disk.flipBit(table, 4);
			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> Awaited.of(store.engine.headers(0, Deadline.NONE)));
			assertThat(store.engine.damage()).contains("Restart this node");
			assertDigestsAreThoseOf(store, stored);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
			assertThat(store.engine.damage()).isNull();
		}
	}

	@Test
	void anIndexThatIsMadeAgainIsMadeWhereTheProcessHasEndedWithoutItsColumn()
			throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, stored, new Generator(1));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.meta, IndexBuilder.RECORD, IndexBuilder.DAMAGED);
			database.db.dropColumnFamily(database.index);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Contract.verify(store, stored);
		}
	}

	@Test
	void aDamagedIndexStaysWhereEntriesAreDamagedTooAndItsPartitionsEqualThoseOfNoOtherStore()
			throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fillMany(store, stored, new Generator(1));
		}
		Tables.damage(this.directory, "index");
		Tables.damage(this.directory, "entries");
		for (String recorded : List.of("complete", "damaged")) {
			outdateSavedDigests();
			if (recorded.equals("damaged")) {
				putMeta(IndexBuilder.RECORD, IndexBuilder.DAMAGED);
			}
			try (TestStore store = TestStore.on(this.directory)) {
				Digests digests = store.awaitDigests();
				assertThat(store.engine.damage()).contains("Replace the disk once all other nodes are members");
				int unequal = 0;
				for (Map.Entry<Integer, Long> expected : digestsOf(store, stored).entrySet()) {
					int partition = expected.getKey();
					boolean isEqual = digests.of(partition, 1) == expected.getValue();
					unequal += isEqual ? 0 : 1;
					if (isEqual) {
						assertThat(headers(store, partition)).isNotEmpty();
					}
					else {
						assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> headers(store, partition));
					}
				}
				assertThat(unequal).isBetween(1, stored.size() / 2);
			}
		}
	}

	@Test
	void partitionsWithDamagedEntriesEqualThoseOfNoOtherStoreAndOthersAreAsTheyWere()
			throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fillMany(store, stored, new Generator(1));
		}
		Tables.damage(this.directory, "entries");
		outdateSavedDigests();
		try (TestStore store = TestStore.on(this.directory)) {
			Digests digests = store.awaitDigests();
			assertThat(store.engine.damage()).contains("Entries are damaged");
			Map<Key, Entry> readable = new HashMap<>(stored);
			Set<Integer> unreadable = new HashSet<>();
			for (Key key : stored.keySet()) {
				try {
					store.read(key);
				}
				catch (Unreadable _) {
					readable.remove(key);
					unreadable.add(partitionOf(store, key));
				}
			}
			assertThat(unreadable).isNotEmpty().hasSizeLessThan(stored.size() / 2);
			Map<Integer, Long> ofReadable = digestsOf(store, readable);
			digestsOf(store, stored).forEach((partition, ofAll) -> {
				assertThat(digests.of(partition, 1) == ofAll).as("partition %d", partition)
					.isNotEqualTo(unreadable.contains(partition));
				assertThat(digests.of(partition, 1) == ofReadable.getOrDefault(partition, 0L))
					.as("partition %d without what cannot be read", partition)
					.isNotEqualTo(unreadable.contains(partition));
			});
		}
	}

	@Test
	void savedDigestsThatAreDamagedAreMadeAgain() throws InterruptedException, RocksDBException {
		Map<Key, Entry> stored = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			fillMany(store, stored, new Generator(1));
		}
		// They are the last row, and by far the largest.
		Path table = Tables.of(this.directory, "index").getFirst();
		Disk.flipBit(table, Disk.size(table) / 2);
		try (TestStore store = TestStore.on(this.directory)) {
			assertDigestsAreThoseOf(store, stored);
		}
	}

	private void outdateSavedDigests() throws RocksDBException {
		putMeta(NodeFacts.PROBE, new byte[Long.BYTES]);
	}

	private void putMeta(byte[] name, byte[] value) throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.meta, name, value);
		}
	}

	/** So many that they take more than a block of the index. */
	private static void fillMany(TestStore store, Map<Key, Entry> stored, Generator random) {
		Map<Key, Entry> many = new HashMap<>();
		for (int i = 0; i < 1000; i++) {
			Key key = Generator.key("many %d".formatted(i));
			many.put(key, random.entry(new Version(random.below(1 << 30), random.below(3))));
		}
		stored.putAll(many);
		Awaited.of(Flux.fromIterable(many.entrySet())
			.flatMap(it -> store.engine.store(it.getKey(), it.getValue(), Deadline.NONE))
			.then());
	}

	private static Map<Integer, Long> digestsOf(TestStore store, Map<Key, Entry> stored) {
		Map<Integer, Long> digests = new HashMap<>();
		stored.forEach((key, entry) -> digests.merge(partitionOf(store, key),
				Digests.itemOf(store.engine.keyHash().of(key), entry.version()), (one, other) -> one ^ other));
		return digests;
	}

	private static void assertDigestsAreThoseOf(TestStore store, Map<Key, Entry> stored) throws InterruptedException {
		Digests digests = store.awaitDigests();
		Map<Integer, Long> expected = digestsOf(store, stored);
		for (int partition = 0; partition < Partitions.COUNT; partition++) {
			assertThat(digests.of(partition, 1)).as("digest of %d", partition)
				.isEqualTo(expected.getOrDefault(partition, 0L));
		}
	}

	@Test
	void digestsThatAreMadeKeepNoTablesOfTheStart() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			fill(store, new HashMap<>(), new Generator(1));
		}
		Tables.damage(this.directory, "entries");
		try (Database database = Database.open(TestSettings.of(this.directory));
				DigestBuild build = new DigestBuild(database, RendezvousPlacement::hashOf, new Digests(1), 1,
						new IndexDamage(StorageEvents.NONE, () -> {
						}), new SteeredTime())) {
			database.db.put(database.entries, KEY.bytes(), new byte[1]);
			database.flush();
			assertThat(liveVersions(database)).isEqualTo(2);

			build.run();

			assertThat(liveVersions(database)).isEqualTo(1);
		}
	}

	private static long liveVersions(Database database) throws RocksDBException {
		return database.db.getLongProperty(database.entries, "rocksdb.num-live-versions");
	}

	@Test
	void fetchGivesWhatIsBeforeADamagedEntryAndFailsAtIt() throws RocksDBException {
		Key damaged = Generator.key("other");
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(VERSION, "value"));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, damaged.bytes(), new byte[50]);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Page page = Objects.requireNonNull(fetch(store, List.of(KEY, damaged)));
			assertThat(page.isLast()).isFalse();
			assertThat(page.cursor().advance()).isTrue();
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> fetch(store, List.of(damaged, KEY)));
		}
	}

	private static @Nullable Page fetch(TestStore store, List<Key> keys) {
		return Awaited.of(store.engine.fetch(keys, Page.Limit.of(1 << 20, 100), Deadline.NONE));
	}

	@Test
	void readsForRepairThatFindTheirQueueFullAreRefusedAndThoseWhoseTimeIsOverFail() {
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = TestStore.on(this.directory)) {
			store.repairs.schedule(() -> await(busy));
			Deadline soon = Deadline.after(store.time, Duration.ofMillis(10));
			assertThatExceptionOfType(ReadTimedOut.class).isThrownBy(() -> Awaited.of(store.engine.headers(0, soon)));
			List<CompletableFuture<?>> waiting = new ArrayList<>();
			for (int i = 0; i < TestStore.REPAIR_QUEUE; i++) {
				waiting.add(store.engine.headers(i, Deadline.NONE).toFuture());
			}
			assertThatExceptionOfType(Overloaded.class)
				.isThrownBy(() -> Awaited.of(store.engine.headers(0, Deadline.NONE)))
				.withMessageContaining("the queue of reads for repairs");
			assertThat(store.events.overloaded).hasPositiveValue();
			busy.countDown();
			waiting.forEach(CompletableFuture::join);
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private static void fill(TestStore store, Map<Key, Entry> stored, Generator random) {
		for (int i = 0; i < 60; i++) {
			Key key = random.key();
			Entry entry = random.entry(new Version(random.below(1 << 30), random.below(3)));
			store.store(key, entry);
			stored.put(key, entry);
		}
	}

	private static int partitionOf(TestStore store, Key key) {
		return Partitions.ofHash(store.engine.keyHash().of(key));
	}

	private static @Nullable List<EntryHeader> headers(TestStore store, Key key) {
		return headers(store, partitionOf(store, key));
	}

	private static @Nullable List<EntryHeader> headers(TestStore store, int partition) {
		return Awaited.of(store.engine.headers(partition, Deadline.NONE));
	}

	/** Reaches the comparison of the contract. */
	private abstract static class Contract extends PartitionIndexContract {

		@Override
		protected abstract StorageEngine engine();

		static void verify(TestStore store, Map<Key, Entry> model) throws InterruptedException {
			assertIsIndexOf(store.engine, model);
		}

	}

}
