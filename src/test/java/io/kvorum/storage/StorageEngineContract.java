package io.kvorum.storage;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.Together;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What every storage engine does. */
public abstract class StorageEngineContract {

	private static final Key KEY = Generator.key("key");

	private static final Version OLD = new Version(10, 1);

	private static final Version NEW = new Version(10, 2);

	/** The engine of this test, open and empty. */
	protected abstract StorageEngine engine();

	@Test
	void aKeyThatWasNeverStoredIsAbsent() {
		assertThat(read(KEY)).isNull();
	}

	@Test
	void whatWasStoredIsRead() {
		Entry entry = Generator.live(OLD, "value");

		assertThat(store(KEY, entry)).isEqualTo(StoreOutcome.STORED);
		assertThat(read(KEY)).isEqualTo(entry);
	}

	@Test
	void aNewerEntryTakesThePlaceOfAnOlderOne() {
		store(KEY, Generator.live(OLD, "old"));

		assertThat(store(KEY, Generator.live(NEW, "new"))).isEqualTo(StoreOutcome.STORED);
		assertThat(read(KEY)).isEqualTo(Generator.live(NEW, "new"));
	}

	@Test
	void anOlderEntryIsSupersededAndLeavesNoTrace() {
		store(KEY, Generator.live(NEW, "new"));

		assertThat(store(KEY, Generator.live(OLD, "old"))).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(read(KEY)).isEqualTo(Generator.live(NEW, "new"));
	}

	@Test
	void theSameVersionAgainIsSuperseded() {
		store(KEY, Generator.live(NEW, "new"));

		assertThat(store(KEY, Generator.live(NEW, "new"))).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(read(KEY)).isEqualTo(Generator.live(NEW, "new"));
	}

	@Test
	void aTombstoneHidesAnOlderValueAndIsKept() {
		store(KEY, Generator.live(OLD, "old"));

		assertThat(store(KEY, new Tombstone(NEW, 3))).isEqualTo(StoreOutcome.STORED);
		assertThat(read(KEY)).isEqualTo(new Tombstone(NEW, 3));
	}

	@Test
	void aTombstoneOfAKeyThatIsAbsentKeepsAnOlderValueOut() {
		assertThat(store(KEY, new Tombstone(NEW, 1))).isEqualTo(StoreOutcome.STORED);
		assertThat(store(KEY, Generator.live(OLD, "old"))).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(read(KEY)).isEqualTo(new Tombstone(NEW, 1));
	}

	@Test
	void aNewerValueTakesThePlaceOfATombstone() {
		store(KEY, new Tombstone(OLD, 1));

		assertThat(store(KEY, Generator.live(NEW, "new"))).isEqualTo(StoreOutcome.STORED);
		assertThat(read(KEY)).isEqualTo(Generator.live(NEW, "new"));
	}

	@Test
	void anExpiredEntryIsReadAsItWasStored() {
		Entry expired = Generator.live(OLD, "gone", 1);
		store(KEY, expired);

		assertThat(read(KEY)).isEqualTo(expired);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 4096, 65_537, 1 << 20 })
	void valuesOfAnySizeAreKeptByteForByte(int length) {
		Entry entry = new Live(OLD, 1, Live.NEVER, "x/y", Value.of(new Generator(length).bytes(length)));
		store(KEY, entry);

		assertThat(read(KEY)).isEqualTo(entry);
	}

	@Test
	void keysOfEveryByteAndEveryLengthAreDifferentKeys() {
		List<Key> keys = new ArrayList<>();
		for (int one = 0; one < 256; one++) {
			keys.add(Key.of(new byte[] { (byte) one }));
			keys.add(Key.of(new byte[] { (byte) one, 0 }));
			keys.add(Key.of(new byte[] { 0, (byte) one, (byte) 0xff }));
		}
		for (int length = 3; length <= Key.MAX_LENGTH_BYTES; length += 101) {
			keys.add(Key.of(new byte[length]));
		}
		Map<Key, Entry> stored = new HashMap<>();
		for (int i = 0; i < keys.size(); i++) {
			stored.put(keys.get(i), Generator.live(new Version(i + 1, 1), "value " + i));
		}
		stored.forEach(this::storeOnly);

		assertThat(stored).allSatisfy((key, entry) -> assertThat(read(key)).isEqualTo(entry));
	}

	@Test
	void theProbeOfAnEngineThatWorksCompletes() {
		assertThat(engine().probe().materialize().block()).matches(signal -> signal != null && signal.isOnComplete());
	}

	@Test
	void nothingHappensBeforeSomeoneSubscribes() {
		Mono<StoreOutcome> notYet = engine().store(KEY, Generator.live(OLD, "value"));
		assertThat(read(KEY)).isNull();

		assertThat(notYet.block()).isEqualTo(StoreOutcome.STORED);
		assertThat(notYet.block()).isEqualTo(StoreOutcome.SUPERSEDED);
	}

	@SeededTest
	void inAnyOrderOfArrivalTheNewestRemainsAndEachIsToldWhatBecameOfIt(long seed) {
		Generator random = new Generator(seed);
		for (int round = 0; round < 20; round++) {
			Key key = Generator.key("key " + round);
			List<Entry> entries = entriesOfGrowingVersions(random, 8);
			Collections.shuffle(entries, new Random(random.anyLong()));
			Version newest = Version.ABSENT;
			for (Entry entry : entries) {
				boolean newer = entry.version().isNewerThan(newest);
				assertThat(store(key, entry)).isEqualTo(newer ? StoreOutcome.STORED : StoreOutcome.SUPERSEDED);
				newest = newer ? entry.version() : newest;
			}
			assertThat(read(key)).isEqualTo(Collections.max(entries, (a, b) -> a.version().compareTo(b.version())));
		}
	}

	@SeededTest
	void whenManyStoreOnFewKeysAtOnceEachKeyEndsWithItsNewest(long seed) {
		List<Key> keys = List.of(Generator.key("a"), Generator.key("b"), Generator.key("c"));
		Map<Version, Entry> all = new HashMap<>();
		for (Entry entry : entriesOfGrowingVersions(new Generator(seed), 200)) {
			all.put(entry.version(), entry);
		}
		Together.run(4, thread -> () -> {
			List<Entry> mine = new ArrayList<>(all.values());
			Collections.shuffle(mine, new Random(seed + thread));
			List<CompletableFuture<StoreOutcome>> outcomes = new ArrayList<>();
			for (Entry entry : mine) {
				keys.forEach(key -> outcomes.add(engine().store(key, entry).toFuture()));
			}
			CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new)).join();
			return outcomes.size();
		});

		Version newest = Collections.max(all.keySet());
		assertThat(keys).allSatisfy(key -> assertThat(read(key)).isEqualTo(all.get(newest)));
	}

	@SeededTest
	void ofStoresOfOneVersionThatArriveTogetherExactlyOneIsTheOneThatStored(long seed) {
		Generator random = new Generator(seed);
		for (int round = 0; round < 20; round++) {
			Key key = random.key();
			Entry entry = random.entry(random.version());
			List<CompletableFuture<StoreOutcome>> outcomes = new ArrayList<>();
			for (int i = 0; i < 5; i++) {
				outcomes.add(engine().store(key, entry).toFuture());
			}
			assertThat(outcomes.stream().map(CompletableFuture::join).filter(StoreOutcome.STORED::equals)).hasSize(1);
		}
	}

	private static List<Entry> entriesOfGrowingVersions(Generator random, int count) {
		List<Entry> entries = new ArrayList<>();
		for (int i = 1; i <= count; i++) {
			entries.add(random.entry(new Version(i / 3 + 1, i % 3)));
		}
		return entries;
	}

	private @Nullable Entry read(Key key) {
		return engine().read(key).block();
	}

	private @Nullable StoreOutcome store(Key key, Entry entry) {
		return engine().store(key, entry).block();
	}

	private void storeOnly(Key key, Entry entry) {
		assertThat(store(key, entry)).isEqualTo(StoreOutcome.STORED);
	}

}
