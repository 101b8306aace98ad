package io.kvorum.storage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Poll;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What every index of partitions does. */
public abstract class PartitionIndexContract {

	private static final Key KEY = Generator.key("key");

	private static final Version OLD = new Version(1 << 16, 1);

	private static final Version NEW = new Version(2 << 16, 1);

	private static final Page.Limit ROOMY = Page.Limit.of(Page.Limit.MAX_BYTES, 10_000);

	/** Of the stores that are tested: the replicas of a key by default. */
	private static final int FACTOR = 3;

	private static final long ANY_TIME = Long.MAX_VALUE;

	/** The engine of this test, open and empty. */
	protected abstract StorageEngine engine();

	/** Of the same store. */
	protected abstract PartitionIndex index();

	@Test
	void aStoreWithoutEntriesHasDigestsOfNothing() throws InterruptedException {
		Digests digests = completeDigests(index());

		assertThat(digests.of(partitionOf(KEY), 1)).isZero();
		assertThat(headers(partitionOf(KEY))).isEmpty();
		assertThat(tombstones(null, ANY_TIME, 10)).isEmpty();
	}

	@Test
	void aStoredEntryIsInItsPartitionAndDigestForAsManyCopiesAsItAsksFor() throws InterruptedException {
		store(KEY, new Live(OLD, 2, Live.NEVER, "x", Value.of(new byte[3])));

		assertThat(headers(partitionOf(KEY))).containsExactly(new EntryHeader(KEY, OLD, 2, false));
		Digests digests = completeDigests(index());
		long item = Digests.itemOf(index().keyHash().of(KEY), OLD);
		assertThat(digests.of(partitionOf(KEY), 1)).isEqualTo(item);
		assertThat(digests.of(partitionOf(KEY), 2)).isEqualTo(item);
		assertThat(digests.of(partitionOf(KEY), 3)).isZero();
		assertThat(digests.slices()).containsExactly(Partitions.sliceOf(partitionOf(KEY)));
	}

	@Test
	void aSupersededEntryChangesNothing() throws InterruptedException {
		store(KEY, new Tombstone(NEW, 3));
		long before = completeDigests(index()).of(partitionOf(KEY), 1);

		assertThat(store(KEY, Generator.live(OLD, "old"))).isEqualTo(StoreOutcome.SUPERSEDED);
		assertThat(index().digests().of(partitionOf(KEY), 1)).isEqualTo(before);
		assertThat(headers(partitionOf(KEY))).containsExactly(new EntryHeader(KEY, NEW, 3, true));
	}

	@Test
	void anEntryIsRemovedIfItsVersionIsTheOneNamed() throws InterruptedException {
		store(KEY, new Tombstone(NEW, 3));

		assertThat(remove(KEY, OLD)).isFalse();
		assertThat(headers(partitionOf(KEY))).containsExactly(new EntryHeader(KEY, NEW, 3, true));
		assertThat(remove(KEY, NEW)).isTrue();
		assertThat(Awaited.of(engine().read(KEY, Deadline.NONE))).isNull();
		assertThat(headers(partitionOf(KEY))).isEmpty();
		assertThat(tombstones(null, ANY_TIME, 10)).isEmpty();
		assertThat(completeDigests(index()).of(partitionOf(KEY), 1)).isZero();
		assertThat(remove(KEY, NEW)).isFalse();
		assertThat(remove(KEY, Version.ABSENT)).isFalse();
	}

	@Test
	void afterARemovalAnyVersionIsStoredAgain() {
		store(KEY, new Tombstone(NEW, 3));
		remove(KEY, NEW);

		assertThat(store(KEY, Generator.live(OLD, "old"))).isEqualTo(StoreOutcome.STORED);
		assertThat(headers(partitionOf(KEY))).containsExactly(new EntryHeader(KEY, OLD, 1, false));
	}

	@Test
	void whatIsKnownOfAnOverwrittenTombstoneCanBeRemovedAndTheEntryStays() {
		Entry newer = Generator.live(NEW, "newer");
		store(KEY, new Tombstone(OLD, 3));
		store(KEY, newer);

		assertThat(remove(KEY, OLD)).isFalse();
		assertThat(tombstones(null, ANY_TIME, 10)).isEmpty();
		assertThat(Awaited.of(engine().read(KEY, Deadline.NONE))).isEqualTo(newer);
		assertThat(headers(partitionOf(KEY))).containsExactly(new EntryHeader(KEY, NEW, 1, false));
	}

	@Test
	void tombstonesComeInTheOrderOfTheirVersionsAndInPieces() {
		List<EntryHeader> expected = new ArrayList<>();
		for (int i = 19; i >= 0; i--) {
			// Two of each version, and both sides of where a signed number would wrap.
			Version version = new Version((i < 10) ? i + 1 : -20L + i, i / 2);
			Key key = Generator.key("key " + i);
			store(key, new Tombstone(version, 1 + i));
			store(Generator.key("live " + i), Generator.live(version, "value"));
			expected.add(new EntryHeader(key, version, 1 + i, true));
		}
		expected.sort(Comparator.comparing(EntryHeader::version).thenComparing(EntryHeader::key));

		assertThat(tombstones(null, ANY_TIME, 100).subList(0, 10)).isEqualTo(expected.subList(0, 10));
		List<EntryHeader> found = new ArrayList<>();
		@Nullable EntryHeader last = null;
		for (List<EntryHeader> piece = tombstones(last, ANY_TIME, 3); !piece.isEmpty(); piece = tombstones(last,
				ANY_TIME, 3)) {
			found.addAll(piece);
			last = piece.getLast();
		}
		// Those of the last millisecond that there is are never before anything.
		assertThat(found).isEqualTo(expected.subList(0, found.size())).hasSizeGreaterThanOrEqualTo(10);
	}

	@Test
	void tombstonesOfAnInstantOrLaterAreLeftOut() {
		store(KEY, new Tombstone(new Version(Version.lastTimestampOf(99), 1), 1));
		store(Generator.key("later"), new Tombstone(new Version(100 << 16, 0), 1));

		assertThat(tombstones(null, 99, 10)).isEmpty();
		assertThat(tombstones(null, 100, 10)).extracting(EntryHeader::key).containsExactly(KEY);
		assertThat(tombstones(null, 101, 10)).hasSize(2);
		assertThat(tombstones(tombstones(null, 101, 10).getLast(), 100, 10)).isEmpty();
	}

	@Test
	void fetchGivesTheEntriesThatAreThere() {
		List<Key> keys = new ArrayList<>();
		List<Entry> stored = new ArrayList<>();
		for (int i = 10; i < 30; i++) {
			Key key = Generator.key("key " + i);
			keys.add(key);
			if (i % 3 != 0) {
				Entry entry = Generator.live(new Version(i, 1), "value");
				store(key, entry);
				stored.add(entry);
			}
		}
		Page page = fetch(keys, ROOMY);

		assertThat(page.isLast()).isTrue();
		assertThat(entries(page)).isEqualTo(stored);
		assertThat(fetch(List.of(Generator.key("none")), ROOMY).length()).isZero();
		assertThat(fetch(List.of(), ROOMY).isLast()).isTrue();
	}

	@Test
	void fetchStopsWhenThePageIsFullAndGivesOfALargeEntryItsHead() {
		List<Key> keys = List.of(Generator.key("a"), Generator.key("b"), Generator.key("c"));
		Live large = new Live(OLD, 1, Live.NEVER, "x", Value.of(new byte[40_000]));
		keys.forEach(key -> store(key, large));

		Page two = fetch(keys, Page.Limit.of(1 << 20, 2));
		assertThat(two.isLast()).isFalse();
		Page.Cursor cursor = two.cursor();
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.isLarge()).isTrue();
		assertThat(cursor.version()).isEqualTo(OLD);
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.advance()).isFalse();
		assertThat(entries(fetch(keys, new Page.Limit(1 << 20, 10, Integer.MAX_VALUE)))).containsExactly(large, large,
				large);
	}

	@SeededTest
	void digestsAndStubsAreThoseOfWhatIsStoredWhateverTheOrder(long seed) throws InterruptedException {
		Generator random = new Generator(seed);
		Map<Key, Entry> model = new TreeMap<>();
		List<Key> keys = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			keys.add(random.key());
		}
		Map<String, Entry> entries = new HashMap<>();
		for (int step = 0; step < 500; step++) {
			Key key = random.oneOf(keys);
			Version version = random.closeVersion();
			Entry there = model.get(key);
			if (random.chance(20)) {
				boolean same = there != null && there.version().equals(version);
				assertThat(remove(key, version)).isEqualTo(same);
				if (same) {
					model.remove(key);
				}
			}
			else {
				Entry entry = entries.computeIfAbsent(keys.indexOf(key) + "/" + version, _ -> random.entry(version));
				store(key, entry);
				if (there == null || version.isNewerThan(there.version())) {
					model.put(key, entry);
				}
			}
		}
		assertIsIndexOf(index(), model);
	}

	/** Compares with what can be computed of all entries. */
	protected static void assertIsIndexOf(PartitionIndex index, Map<Key, Entry> model) throws InterruptedException {
		Digests digests = completeDigests(index);
		Map<Integer, List<EntryHeader>> headers = new HashMap<>();
		new TreeMap<>(model)
			.forEach((key, entry) -> headers.computeIfAbsent(partitionOf(index, key), _ -> new ArrayList<>())
				.add(new EntryHeader(key, entry.version(), entry.copies(), entry instanceof Tombstone)));
		headers.forEach((partition, expected) -> {
			assertThat(Awaited.of(index.headers(partition, Deadline.NONE))).isEqualTo(expected);
			for (int copies : new int[] { 1, 2, 100, Entry.MAX_COPIES }) {
				assertThat(digests.of(partition, copies)).as("digest of %d, copies %d", partition, copies)
					.isEqualTo(digest(index, expected, copies));
			}
		});
		for (int partition = 0; partition < Partitions.COUNT; partition++) {
			if (!headers.containsKey(partition)) {
				assertThat(digests.of(partition, 1)).as("digest of %d", partition).isZero();
			}
		}
		Map<Key, EntryHeader> tombstones = new HashMap<>();
		headers.values()
			.forEach(of -> of.stream().filter(EntryHeader::tombstone).forEach(it -> tombstones.put(it.key(), it)));
		assertThat(headers(Awaited.of(index.tombstones(null, ANY_TIME, Integer.MAX_VALUE, Deadline.NONE))))
			.containsAll(tombstones.values().stream().filter(it -> it.version().millis() < (1L << 48) - 1).toList());
	}

	private static long digest(PartitionIndex index, List<EntryHeader> headers, int minCopies) {
		return headers.stream()
			.filter(header -> header.copies().orDefault(FACTOR) >= minCopies)
			.mapToLong(header -> Digests.itemOf(index.keyHash().of(header.key()), header.version()))
			.reduce(0, (one, other) -> one ^ other);
	}

	protected static Digests completeDigests(PartitionIndex index) throws InterruptedException {
		Digests digests = index.digests();
		Poll.until(() -> "complete digests", Duration.ofSeconds(10), digests::isComplete);
		return digests;
	}

	private static int partitionOf(PartitionIndex index, Key key) {
		return Partitions.ofHash(index.keyHash().of(key));
	}

	private int partitionOf(Key key) {
		return partitionOf(index(), key);
	}

	private @Nullable StoreOutcome store(Key key, Entry entry) {
		return Awaited.of(engine().store(key, entry, Deadline.NONE));
	}

	private boolean remove(Key key, Version version) {
		return Boolean.TRUE.equals(Awaited.of(index().remove(key, version)));
	}

	private List<EntryHeader> headers(int partition) {
		return Objects.requireNonNull(Awaited.of(index().headers(partition, Deadline.NONE)));
	}

	private List<EntryHeader> tombstones(@Nullable EntryHeader after, long beforeMillis, int limit) {
		@Nullable TombstoneRecord tombstone = (after != null) ? new TombstoneRecord(after, 0) : null;
		return headers(Awaited.of(index().tombstones(tombstone, beforeMillis, limit, Deadline.NONE)));
	}

	private static List<EntryHeader> headers(@Nullable List<TombstoneRecord> tombstones) {
		return Objects.requireNonNull(tombstones).stream().map(TombstoneRecord::header).toList();
	}

	private Page fetch(List<Key> keys, Page.Limit limit) {
		return Objects.requireNonNull(Awaited.of(index().fetch(keys, limit, Deadline.NONE)));
	}

	private static List<Entry> entries(Page page) {
		List<Entry> entries = new ArrayList<>();
		for (Page.Cursor cursor = page.cursor(); cursor.advance();) {
			entries.add(cursor.entry());
		}
		return entries;
	}

}
