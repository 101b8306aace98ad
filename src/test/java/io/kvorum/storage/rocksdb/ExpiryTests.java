package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ExpiryTests {

	private static final Key KEY = Generator.key("key");

	private static final long SOON = SteeredTime.START_MILLIS + 1000;

	private static final Duration A_SECOND = Duration.ofSeconds(1);

	@TempDir
	private Path directory;

	@Test
	void anEntryIsCollectedFromTheInstantOnAtWhichItExpires() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(new Version(1, 1), "value", SOON));
			store.time.pass(A_SECOND.minusMillis(1));
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isNotNull();

			store.time.pass(Duration.ofMillis(1));
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isNull();
			assertThat(store.events.collected).hasValue(1);
		}
	}

	/** Small, with a head that is kept apart in the heap, and large. */
	@ParameterizedTest
	@ValueSource(ints = { 10, 600, 10_000 })
	void aValueThatIsWrittenAgainAndAgainLeavesOneRow(int bytes) throws RocksDBException {
		Value value = Value.of(new byte[bytes]);
		for (int restart = 0; restart < 2; restart++) {
			try (TestStore store = TestStore.on(this.directory)) {
				for (int i = 0; i < 20; i++) {
					Version version = new Version(100 * restart + i + 1, 1);
					store.store(KEY, new Live(version, 3, SOON + i, "text/plain", value));
				}
			}
			assertThat(expiries()).isEqualTo(1);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			store.time.pass(Duration.ofHours(2));
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isNull();
			store.store(KEY, Generator.live(new Version(301, 1), "value", SOON * 2));
			store.store(KEY, Generator.live(new Version(302, 1), "for ever"));
		}
		assertThat(expiries()).isZero();
	}

	private int expiries() throws RocksDBException {
		int rows = 0;
		try (Database database = Database.open(TestSettings.of(this.directory));
				RocksIterator iterator = database.db.newIterator(database.expiries, database.scan)) {
			for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
				rows++;
			}
		}
		return rows;
	}

	@Test
	void whereThereAreOtherReplicasItBecomesATombstoneOfItsVersionAndItsCopies() {
		Live entry = new Live(new Version(2, 1), 3, SOON, "text/plain", Value.of(new byte[100]));
		try (TestStore store = new TestStore(TestSettings.ofReplica(this.directory))) {
			store.store(KEY, entry);
			store.time.pass(A_SECOND);
			store.engine.collectExpired();

			assertThat(store.read(KEY)).isEqualTo(new Tombstone(entry.version(), 3));
			// What another replica has that missed it does not come back.
			store.store(KEY, Generator.live(new Version(1, 1), "older"));
			assertThat(store.read(KEY)).isEqualTo(new Tombstone(entry.version(), 3));
			store.engine.collectExpired();
			assertThat(store.events.collected).hasValue(1);
		}
	}

	@Test
	void aClockThatIsDaysAheadForAMinuteRemovesNothingOfWhatLives() {
		Duration ttl = Duration.ofHours(6);
		Live entry = new Live(new Version(2, 1), 3, SteeredTime.START_MILLIS + ttl.toMillis(), "text/plain",
				Value.of(new byte[100]));
		try (TestStore store = new TestStore(TestSettings.withExpiryMargin(this.directory, ExpiryHorizon.MARGIN))) {
			store.store(KEY, entry);
			collectEachMinute(store, Duration.ofHours(2));
			store.time.jump(Duration.ofDays(2));
			collectEachMinute(store, Duration.ofMinutes(2));
			store.time.jump(Duration.ofDays(-2));
			collectEachMinute(store, Duration.ofHours(4));
			assertThat(store.read(KEY)).isEqualTo(entry);

			collectEachMinute(store, Duration.ofHours(1));
			assertThat(store.read(KEY)).isEqualTo(new Tombstone(entry.version(), 3));
		}
	}

	private static void collectEachMinute(TestStore store, Duration time) {
		for (long minute = 0; minute < time.toMinutes(); minute++) {
			store.time.pass(Duration.ofMinutes(1));
			store.engine.collectExpired();
		}
	}

	@Test
	void whatWasOverwrittenSinceStaysWhetherByAValueOrATombstoneOrALaterEnd() {
		Map<Key, Entry> newer = Map.of(Generator.key("a"), Generator.live(new Version(2, 1), "newer"),
				Generator.key("b"), new Tombstone(new Version(2, 1), 1), Generator.key("c"),
				Generator.live(new Version(2, 1), "newer", SOON + 5000));
		try (TestStore store = TestStore.on(this.directory)) {
			newer.keySet().forEach(key -> store.store(key, Generator.live(new Version(1, 1), "old", SOON)));
			newer.forEach(store::store);
			store.time.pass(A_SECOND);
			store.engine.collectExpired();

			assertThat(newer).allSatisfy((key, entry) -> assertThat(store.read(key)).isEqualTo(entry));
			assertThat(store.events.collected).hasValue(0);
			store.time.pass(Duration.ofSeconds(5));
			store.engine.collectExpired();
			assertThat(store.read(Generator.key("c"))).isNull();
			assertThat(store.events.collected).hasValue(1);
		}
	}

	@Test
	void anOlderEntryThatArrivedLateAndWasSupersededIsNotCollectedInThePlaceOfTheNewer() {
		Entry newer = Generator.live(new Version(2, 1), "newer");
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, newer);
			store.store(KEY, Generator.live(new Version(1, 1), "old", SOON));
			store.time.pass(A_SECOND);
			store.engine.collectExpired();

			assertThat(store.read(KEY)).isEqualTo(newer);
		}
	}

	@Test
	void anEntryThatIsOverwrittenInTheBatchOfItsCollectionStays() {
		Entry newer = Generator.live(new Version(2, 1), "newer");
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(new Version(1, 1), "old", SOON));
			store.time.pass(A_SECOND);
			CompletableFuture<?> collection = inOneBatch(store, newer);
			collection.join();

			assertThat(store.read(KEY)).isEqualTo(newer);
			assertThat(store.events.batches).contains(2);
		}
	}

	@Test
	void aNewerEntryWithTheSameEndIsCollectedTooAlsoWhereTheOlderOneIsCollectedJustThen() {
		Entry newer = Generator.live(new Version(2, 1), "newer", SOON);
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(new Version(1, 1), "old", SOON));
			store.time.pass(A_SECOND);
			CompletableFuture<?> collection = inOneBatch(store, newer);
			collection.join();
			store.engine.collectExpired();

			assertThat(store.read(KEY)).isNull();
		}
	}

	/** A collection that has read what is due when the newer entry is stored. */
	private static CompletableFuture<?> inOneBatch(TestStore store, Entry newer) {
		store.callers.hold();
		store.engine.probe().subscribe();
		store.callers.awaitHeld();
		store.engine.store(KEY, newer, Deadline.NONE).subscribe();
		int queued = queued(store);
		CompletableFuture<?> collection = CompletableFuture.runAsync(store.engine::collectExpired);
		while (queued(store) == queued) {
			Thread.onSpinWait();
		}
		store.callers.release();
		return collection;
	}

	private static int queued(TestStore store) {
		return (int) store.engine.measures().getFirst().reader().getAsDouble();
	}

	@Test
	void moreThanAPageOfThemIsCollectedAndWhatIsNotDueStays() {
		try (TestStore store = TestStore.on(this.directory)) {
			List<CompletableFuture<?>> stores = new ArrayList<>();
			for (int i = 0; i < 1700; i++) {
				stores.add(
						store.engine
							.store(Generator.key("due " + i), Generator.live(new Version(1, 1), "value", SOON + i % 7),
									Deadline.NONE)
							.toFuture());
				stores.add(
						store.engine
							.store(Generator.key("not due " + i),
									Generator.live(new Version(1, 1), "value", SOON + 10_000), Deadline.NONE)
							.toFuture());
			}
			CompletableFuture.allOf(stores.toArray(CompletableFuture[]::new)).join();
			store.time.pass(A_SECOND.multipliedBy(2));
			store.engine.collectExpired();

			assertThat(store.events.collected).hasValue(1700);
			for (int i = 0; i < 1700; i++) {
				assertThat(store.read(Generator.key("due " + i))).isNull();
				assertThat(store.read(Generator.key("not due " + i))).isNotNull();
			}
			store.engine.collectExpired();
			assertThat(store.events.collected).as("collected once").hasValue(1700);
		}
	}

	@Test
	void whatWasDueWhenTheNodeStoppedIsCollectedAfterItsStart() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, Generator.live(new Version(1, 1), "value", SOON));
		}
		try (TestStore store = TestStore.on(this.directory)) {
			store.time.pass(A_SECOND);
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isNull();
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isNull();
		}
	}

	@Test
	void aCollectionThatFindsTheWriteQueueFullSaysSoAndTheNextOneGoesOn() {
		try (TestStore store = new TestStore(
				TestSettings.withWriteQueue(this.directory, 1, 1 << 20, Duration.ofHours(1)))) {
			store.store(KEY, Generator.live(new Version(1, 1), "value", SOON));
			store.time.pass(A_SECOND);
			store.callers.hold();
			store.engine.probe().subscribe();
			store.callers.awaitHeld();
			CompletableFuture<?> queued = store.engine.probe().toFuture();

			assertThatExceptionOfType(Overloaded.class).isThrownBy(store.engine::collectExpired);
			store.callers.release();
			queued.join();
			store.engine.collectExpired();
			assertThat(store.read(KEY)).isNull();
		}
	}

	@Test
	void whatIsOnDiskOfAnExpiryStaysReadable() {
		Expiry expiry = new Expiry(0x0102_0304_0506_0708L, Key.of(new byte[] { 0x6b, (byte) 0xff }),
				new Version(0x1112_1314_1516_1718L, 0x2122_2324_2526_2728L));

		assertThat(HexFormat.of().formatHex(expiry.toKey()))
			.isEqualTo("0102030405060708" + "6bff" + "1112131415161718" + "2122232425262728");
		assertThat(Expiry.of(expiry.toKey())).isEqualTo(expiry);
	}

	@SeededTest
	void whateverIsWrittenAfterACollectionWhatIsLeftIsWhatHasNotExpired(long seed) {
		Generator random = new Generator(seed);
		Map<Key, Entry> expected = new HashMap<>();
		try (TestStore store = TestStore.on(this.directory)) {
			for (int step = 1; step < 400; step++) {
				Key key = Generator.key("key " + random.below(10));
				Entry entry = entry(random, new Version(step, 1), store.time.millis());
				store.store(key, entry);
				expected.put(key, entry);
				store.time.pass(Duration.ofMillis(random.below(300)));
				if (random.chance(10)) {
					store.engine.collectExpired();
					long now = store.time.millis();
					expected.values().removeIf(each -> each instanceof Entry.Live && !each.isVisibleAt(now));
				}
				assertThat(store.read(key)).as("seed %d, step %d", seed, step).isEqualTo(expected.get(key));
			}
		}
	}

	private static Entry entry(Generator random, Version version, long now) {
		return switch (random.below(4)) {
			case 0 -> new Tombstone(version, 1);
			case 1 -> Generator.live(version, "for ever");
			default -> Generator.live(version, "for a while", now + random.below(2000));
		};
	}

}
