package io.kvorum.storage;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.testing.Awaited;
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

	private static final Version BALLOT = new Version(20, 1);

	private static final Version LATER = new Version(20, 3);

	private static final Page.Limit ROOMY = Page.Limit.of(Page.Limit.MAX_BYTES, 10_000);

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
	void whatIsOlderThanAPromiseIsRefusedAndLeavesNoTrace() {
		assertThat(prepare(KEY, BALLOT)).isEqualTo(StoreOutcome.STORED);

		StoreOutcome refused = store(KEY, Generator.live(NEW, "new"));
		assertThat(refused).isEqualTo(StoreOutcome.of(Verdict.REFUSED, new Acceptor(Version.ABSENT, BALLOT)));
		assertThat(repair(KEY, Generator.live(NEW, "new"))).isEqualTo(refused);
		assertThat(read(KEY)).isNull();
	}

	@Test
	void whatIsNewerThanAPromiseIsStoredAndThePromiseIsKept() {
		store(KEY, Generator.live(OLD, "old"));
		prepare(KEY, BALLOT);

		assertThat(store(KEY, Generator.live(LATER, "later"))).isEqualTo(StoreOutcome.STORED);
		assertThat(store(KEY, Generator.live(NEW, "new"))).isNotNull().matches(StoreOutcome::isRefused);
		assertThat(repair(KEY, Generator.live(NEW, "new"))).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(prepare(KEY, new Version(30, 1))).isEqualTo(StoreOutcome.STORED);
	}

	@Test
	void aLowerBallotIsNotPromised() {
		prepare(KEY, BALLOT);

		assertThat(prepare(KEY, NEW)).isEqualTo(StoreOutcome.of(Verdict.REFUSED, new Acceptor(Version.ABSENT, BALLOT)));
		assertThat(prepare(KEY, BALLOT)).isEqualTo(StoreOutcome.STORED);
		store(KEY, Generator.live(LATER, "later"));
		assertThat(prepare(KEY, new Version(20, 2))).isNotNull().matches(StoreOutcome::isRefused);
	}

	@Test
	void anEntryUnderABallotIsItsPromise() {
		Entry entry = under(BALLOT, null);
		prepare(KEY, BALLOT);

		assertThat(accept(KEY, entry, Version.ABSENT)).isEqualTo(StoreOutcome.STORED);
		assertThat(read(KEY)).isEqualTo(entry);
		assertThat(accept(KEY, entry, Version.ABSENT)).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(store(KEY, Generator.live(NEW, "new"))).isNotNull().matches(StoreOutcome::isRefused);
		assertThat(prepare(KEY, NEW)).isNotNull().matches(StoreOutcome::isRefused);
	}

	@Test
	void thePromiseOfAnEntryIsKeptWhenThatIsOverwritten() {
		repair(KEY, under(BALLOT, null));

		assertThat(store(KEY, Generator.live(LATER, "later"))).isEqualTo(StoreOutcome.STORED);
		assertThat(store(KEY, Generator.live(NEW, "new")))
			.isEqualTo(StoreOutcome.of(Verdict.REFUSED, new Acceptor(LATER, BALLOT)));
	}

	@Test
	void whatItsProposerHasNotSeenIsNotOverwritten() {
		store(KEY, Generator.live(NEW, "new"));

		assertThat(accept(KEY, under(BALLOT, null), OLD)).isNotNull().matches(StoreOutcome::isRefused);
		assertThat(accept(KEY, under(BALLOT, null), NEW)).isEqualTo(StoreOutcome.STORED);
	}

	private static Entry under(Version ballot, @Nullable Entry replaced) {
		return Generator.live(ballot, "under a ballot").under(ballot, Lineage.of(ballot, true, replaced));
	}

	private @Nullable StoreOutcome prepare(Key key, Version ballot) {
		return Awaited.of(engine().prepare(key, ballot, Deadline.NONE));
	}

	private @Nullable StoreOutcome accept(Key key, Entry entry, Version base) {
		return Awaited.of(engine().accept(key, entry, base, Deadline.NONE));
	}

	private @Nullable StoreOutcome repair(Key key, Entry entry) {
		return Awaited.of(engine().repair(key, entry, Deadline.NONE));
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
		assertThat(Awaited.of(engine().probe().materialize()))
			.matches(signal -> signal != null && signal.isOnComplete());
	}

	@Test
	void nothingHappensBeforeSomeoneSubscribes() {
		Mono<StoreOutcome> notYet = engine().store(KEY, Generator.live(OLD, "value"), Deadline.NONE);
		assertThat(read(KEY)).isNull();

		assertThat(Awaited.of(notYet)).isEqualTo(StoreOutcome.STORED);
		assertThat(Awaited.of(notYet)).isEqualTo(StoreOutcome.SUPERSEDED);
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
				keys.forEach(key -> outcomes.add(engine().store(key, entry, Deadline.NONE).toFuture()));
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
				outcomes.add(engine().store(key, entry, Deadline.NONE).toFuture());
			}
			assertThat(outcomes.stream().map(CompletableFuture::join).filter(StoreOutcome.STORED::equals)).hasSize(1);
		}
	}

	@Test
	void aRangeWithoutEntriesIsOnePageWithoutItemsTheLast() {
		store(KEY, Generator.live(OLD, "value"));
		KeyRange behind = KeyRange.all().after(KEY.bytes());
		KeyRange before = KeyRange.of(new byte[1], KEY.bytes());
		KeyRange nothing = KeyRange.of(KEY.bytes(), KEY.bytes());
		KeyRange turned = KeyRange.of(KEY.bytes(), new byte[1]);

		assertThat(List.of(behind, before, nothing, turned)).allSatisfy(range -> {
			Page page = scan(range, ROOMY);
			assertThat(page.isLast()).isTrue();
			assertThat(page.length()).isZero();
		});
	}

	@Test
	void theEntriesOfARangeComeInTheOrderOfUnsignedBytesAndAPrefixComesFirst() {
		List<Key> keys = List.of(Key.of(new byte[] { 0 }), Key.of(new byte[] { 0, 0 }), Generator.key("a"),
				Key.of(new byte[] { 'a', 0 }), Generator.key("aa"), Generator.key("b"), Key.of(new byte[] { 0x7f }),
				Key.of(new byte[] { (byte) 0x80 }), Key.of(new byte[] { (byte) 0xff }),
				Key.of(new byte[] { (byte) 0xff, 0 }));
		List<Key> shuffled = new ArrayList<>(keys);
		Collections.shuffle(shuffled, new Random(1));
		shuffled.forEach(key -> storeOnly(key, Generator.live(OLD, "value")));

		assertThat(all(KeyRange.all(), ROOMY).keySet()).containsExactlyElementsOf(keys);
		assertThat(all(KeyRange.of(Generator.key("a").bytes(), Generator.key("aa").bytes()), ROOMY).keySet())
			.as("the start is in it and the end is not")
			.containsExactly(keys.get(2), keys.get(3));
	}

	@Test
	void tombstonesAndWhatHasExpiredAreInARangeAsTheyWereStored() {
		Map<Key, Entry> stored = Map.of(Generator.key("a"), new Tombstone(NEW, 3), Generator.key("b"),
				Generator.live(OLD, "gone", 1), Generator.key("c"), Generator.live(OLD, "value"));
		store(Generator.key("a"), Generator.live(OLD, "deleted"));
		stored.forEach(this::storeOnly);

		assertThat(all(KeyRange.all(), ROOMY)).isEqualTo(stored);
	}

	@Test
	void aLargeEntryIsPassedOverAndTheNextOneIsThere() {
		Entry large = new Live(NEW, 3, 1000, "x/y", Value.of(new Generator(1).bytes(1 << 20)));
		storeOnly(Generator.key("a"), large);
		storeOnly(Generator.key("b"), Generator.live(OLD, "value"));
		Page page = scan(KeyRange.all(), ROOMY);
		Page.Cursor cursor = page.cursor();

		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.isLarge()).isTrue();
		assertThat(cursor.entryLength()).isGreaterThan(1 << 20);
		assertThat(cursor.version()).isEqualTo(NEW);
		assertThat(cursor.isVisibleAt(999)).isTrue();
		assertThat(cursor.isVisibleAt(1000)).isFalse();
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.entry()).isEqualTo(Generator.live(OLD, "value"));
		assertThat(page.isLast()).isTrue();
	}

	@Test
	void anEntryOfTheMostBytesThatIsNotLargeIsWhole() {
		for (int expires = 0; expires < 2; expires++) {
			int beside = 23 + 8 * expires + 1 + 3;
			Key key = Generator.key("key " + expires);
			Value most = Value.of(new Generator(1).bytes(Page.Limit.USUAL_ENTRY_BYTES - beside));
			storeOnly(key, new Live(OLD, 1, (expires == 1) ? 5 : Live.NEVER, "x/y", most));
			Value tooMany = Value.of(new Generator(1).bytes(Page.Limit.USUAL_ENTRY_BYTES - beside + 1));
			storeOnly(Generator.key("more " + expires),
					new Live(OLD, 1, (expires == 1) ? 5 : Live.NEVER, "x/y", tooMany));
		}
		List<Boolean> large = new ArrayList<>();
		Page.Cursor cursor = scan(KeyRange.all(), ROOMY).cursor();
		while (cursor.advance()) {
			large.add(cursor.isLarge());
			if (!cursor.isLarge()) {
				Key key = Key.of(cursor.keyBytes());
				assertThat(cursor.entry()).isEqualTo(read(key));
			}
		}
		assertThat(large).containsExactly(false, false, true, true);
	}

	@Test
	void whatIsWrittenBetweenTwoPagesIsInTheNextOneWhereItComesBehind() {
		for (String name : List.of("b", "d", "f")) {
			storeOnly(Generator.key(name), Generator.live(OLD, name));
		}
		Page first = scan(KeyRange.all(), Page.Limit.of(1, 1));
		storeOnly(Generator.key("a"), Generator.live(OLD, "before"));
		storeOnly(Generator.key("c"), Generator.live(OLD, "c"));
		storeOnly(Generator.key("d"), Generator.live(NEW, "d, newer"));
		storeOnly(Generator.key("f"), new Tombstone(NEW, 1));

		assertThat(first.isLast()).isFalse();
		assertThat(all(first.behind(KeyRange.all()), Page.Limit.of(1, 1)))
			.isEqualTo(Map.of(Generator.key("c"), Generator.live(OLD, "c"), Generator.key("d"),
					Generator.live(NEW, "d, newer"), Generator.key("f"), new Tombstone(NEW, 1)));
	}

	@Test
	void aScanLooksWhenSomeoneSubscribes() {
		Mono<Page> notYet = engine().scan(KeyRange.all(), ROOMY, Deadline.NONE);
		storeOnly(KEY, Generator.live(OLD, "value"));

		assertThat(Awaited.<Boolean>of(notYet.map(page -> page.cursor().advance()))).isTrue();
	}

	@SeededTest
	void pageByPageEverythingComesExactlyOnceWhateverTheLimits(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Entry> model = new TreeMap<>();
		for (int i = 0; i < 150; i++) {
			Key key = random.chance(50) ? random.key() : Key.of(random.bytes(1 + random.below(2)));
			model.put(key, random.entry(new Version(1, 1)));
		}
		model.forEach(this::storeOnly);
		List<Key> keys = List.copyOf(model.keySet());
		for (int i = 0; i < 30; i++) {
			byte[] start = random.chance(20) ? new byte[0] : bound(random, keys);
			byte @Nullable [] end = random.chance(20) ? null : bound(random, keys);
			KeyRange range = KeyRange.of(start, end);
			Page.Limit limit = Page.Limit.of(1 + random.below(random.chance(50) ? 100 : 20_000),
					1 + random.below(random.chance(50) ? 3 : 100));
			Map<Key, Entry> expected = new TreeMap<>(model);
			expected.keySet().removeIf(key -> !range.contains(key));

			assertThat(all(range, limit)).as("seed %d, range %d: %s by %s", seed, i, range, limit).isEqualTo(expected);
		}
	}

	@SeededTest
	void aPageOfHeadsHasAllButTheValues(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Entry> model = new TreeMap<>();
		for (int i = 0; i < 100; i++) {
			Version version = new Version(1, 1);
			model.put(random.key(),
					random.chance(20) ? new Live(version, 3, Live.NEVER, "x/large", Value.of(random.bytes(40_000)))
							: random.chance(30) ? random.entryUnderBallot(version) : random.entry(version));
		}
		model.forEach(this::storeOnly);
		Map<Key, Entry> read = new TreeMap<>();
		KeyRange rest = KeyRange.all();
		Page page;
		do {
			page = scan(rest, Page.Limit.ofHeads(1 + random.below(20_000), 1 + random.below(30)));
			page = Page.of(page.toBytes(), page.isLast());
			Page.Cursor cursor = page.cursor();
			while (cursor.advance()) {
				Key key = Key.of(cursor.keyBytes());
				assertThat(cursor.isHead()).isTrue();
				assertThat(cursor.isLarge()).isFalse();
				read.put(key, cursor.entry());
				assertThat(cursor.lengthBehindHead())
					.isEqualTo((model.get(key) instanceof Live live) ? live.value().length() : 0);
			}
			rest = page.isLast() ? rest : page.behind(rest);
		}
		while (!page.isLast());
		model.replaceAll((_, entry) -> withoutValue(entry));

		assertThat(read).isEqualTo(model);
	}

	private static Entry withoutValue(Entry entry) {
		return (entry instanceof Live live) ? new Live(live.version(), live.copies(), live.expiresAtMillis(),
				live.contentType(), Value.of(new byte[0]), live.lineage()) : entry;
	}

	private static byte[] bound(Generator random, List<Key> keys) {
		return random.chance(50) ? random.oneOf(keys).bytes() : random.bytes(random.below(4));
	}

	/** Page by page, none of them longer than it should be. */
	private NavigableMap<Key, Entry> all(KeyRange range, Page.Limit limit) {
		NavigableMap<Key, Entry> all = new TreeMap<>();
		KeyRange rest = range;
		while (true) {
			Page page = scan(rest, limit);
			Page.Cursor cursor = page.cursor();
			int items = 0;
			for (; cursor.advance(); items++) {
				Key key = Key.of(cursor.keyBytes());
				assertThat(all.isEmpty() || all.lastKey().compareTo(key) < 0).as("in order, each once").isTrue();
				all.put(key, cursor.entry());
			}
			assertThat(items).isLessThanOrEqualTo(limit.items());
			if (page.isLast()) {
				return all;
			}
			rest = page.behind(rest);
		}
	}

	private Page scan(KeyRange range, Page.Limit limit) {
		Page page = Awaited.of(engine().scan(range, limit, Deadline.NONE));
		if (page == null) {
			throw new AssertionError("there is no page");
		}
		return page;
	}

	private static List<Entry> entriesOfGrowingVersions(Generator random, int count) {
		List<Entry> entries = new ArrayList<>();
		for (int i = 1; i <= count; i++) {
			entries.add(random.entry(new Version(i / 3 + 1, i % 3)));
		}
		return entries;
	}

	private @Nullable Entry read(Key key) {
		return Awaited.of(engine().read(key, Deadline.NONE));
	}

	private @Nullable StoreOutcome store(Key key, Entry entry) {
		return Awaited.of(engine().store(key, entry, Deadline.NONE));
	}

	private void storeOnly(Key key, Entry entry) {
		assertThat(store(key, entry)).isEqualTo(StoreOutcome.STORED);
	}

}
