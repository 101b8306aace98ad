package io.kvorum.storage;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Supplier;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Pages;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PageTests {

	private static final Page.Limit ROOMY = Page.Limit.of(Page.Limit.MAX_BYTES, 10_000);

	private static final Version VERSION = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

	/** Of an entry of the default type without an expiry, beside its value. */
	private static final int BESIDE_THE_VALUE = EntryFormat.COPIES_END + 1;

	private static final int ITEM_HEAD = 6;

	/** A value of "b" and a tombstone of "key", as nodes send them to each other. */
	private static final String GOLDEN = """
			0001 0000001a 62 02018bcfe568000007fedcba987654321095b44b01000300cafe
			0003 00000017 6b6579 02018bcfe568000007fedcba9876543210e124751f0103""".replaceAll("\\s", "");

	/** The same, as a peer of replica protocol 1 has it. */
	private static final String GOLDEN_OF_FORMAT_1 = """
			0001 0000001a 62 01018bcfe568000007fedcba9876543210718a78dd000300cafe
			0003 00000017 6b6579 01018bcfe568000007fedcba98765432102f85d6c70103""".replaceAll("\\s", "");

	private static Page page(Map<Key, Entry> entries) {
		return Pages.of(new TreeMap<>(entries), KeyRange.all(), ROOMY);
	}

	private static Page golden() {
		return page(Map.of(Generator.key("b"),
				new Live(VERSION, 3, Live.NEVER, "application/octet-stream",
						Value.of(new byte[] { (byte) 0xca, (byte) 0xfe })),
				Generator.key("key"), new Tombstone(VERSION, 3)));
	}

	private static Live ofLength(int entryLength, boolean expires) {
		int length = entryLength - BESIDE_THE_VALUE - (expires ? Long.BYTES : 0);
		return new Live(VERSION, 3, expires ? 1000 : Live.NEVER, "application/octet-stream",
				Value.of(new Generator(length).bytes(length)));
	}

	private static NavigableMap<Key, Entry> entries(Generator random, int count) {
		NavigableMap<Key, Entry> entries = new TreeMap<>();
		for (int i = 0; i < count; i++) {
			entries.put(random.key(), random.entry(random.version()));
		}
		return entries;
	}

	private static List<Page.Cursor> items(Page page) {
		List<Page.Cursor> items = new ArrayList<>();
		for (int i = 0;; i++) {
			Page.Cursor cursor = page.cursor();
			for (int step = 0; step <= i; step++) {
				if (!cursor.advance()) {
					return items;
				}
			}
			items.add(cursor);
		}
	}

	private static void assertHolds(Page page, Map<Key, Entry> expected, String what) {
		Page.Cursor cursor = page.cursor();
		expected.forEach((key, entry) -> {
			assertThat(cursor.advance()).as(what).isTrue();
			assertThat(cursor.keyBytes()).as(what).isEqualTo(key.bytes());
			assertThat(cursor.version()).as(what).isEqualTo(entry.version());
			assertThat(cursor.isLarge()).as(what).isFalse();
			assertThat(cursor.entryLength()).as(what).isEqualTo(EntryFormat.encode(key, entry).length);
			assertThat(cursor.entry()).as(what).isEqualTo(entry);
		});
		assertThat(cursor.advance()).as(what).isFalse();
		assertThat(cursor.advance()).as("at the end it stays there").isFalse();
	}

	@Test
	void theBytesThatNodesSendEachOtherStayTheSame() {
		assertThat(HexFormat.of().formatHex(golden().toBytes())).isEqualTo(GOLDEN);
		assertThat(HexFormat.of().formatHex(Page.of(HexFormat.of().parseHex(GOLDEN), true).toBytes()))
			.isEqualTo(GOLDEN);
	}

	@Test
	void theBytesThatPeersOfProtocol1SendAndGetStayTheSame() {
		assertThat(HexFormat.of().formatHex(golden().toFormat1(5))).isEqualTo(GOLDEN_OF_FORMAT_1);
		assertThat(HexFormat.of().formatHex(golden().toBytes())).as("a copy is sent").isEqualTo(GOLDEN);

		Page read = Page.ofFormat1(HexFormat.of().parseHex(GOLDEN_OF_FORMAT_1), false, 0);
		assertThat(HexFormat.of().formatHex(read.toBytes())).isEqualTo(GOLDEN);
		assertThat(read.isLast()).isFalse();
	}

	@Test
	void inFormat1TooOnlyTheBeginningOfALargeEntryIsSent() {
		Page large = page(Map.of(Generator.key("large"), ofLength(Page.Limit.USUAL_ENTRY_BYTES + 1, false)));

		byte[] format1 = large.toFormat1(3);
		assertThat(format1).hasSize(large.length());
		assertThat(format1[ITEM_HEAD + "large".length()]).isEqualTo((byte) 1);
		Page.Cursor sent = large.cursor();
		Page.Cursor read = Page.ofFormat1(format1, true, 0).cursor();
		assertThat(sent.advance()).isTrue();
		assertThat(read.advance()).isTrue();
		assertThat(read.isLarge()).isTrue();
		assertThat(read.entryLength()).isEqualTo(sent.entryLength());
		assertThat(read.keyBytes()).isEqualTo(sent.keyBytes());
		assertThat(read.version()).isEqualTo(sent.version());
		assertThat(read.copies()).isEqualTo(sent.copies());
		assertThat(read.advance()).isFalse();
	}

	@SeededTest
	void withoutLineageEntriesAreTheSameOtherwise(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 100; i++) {
			NavigableMap<Key, Entry> plain = entries(random, random.below(30));
			NavigableMap<Key, Entry> underBallots = new TreeMap<>(plain);
			underBallots
				.replaceAll((_, entry) -> random.chance(50) ? entry.under(entry.version(), random.lineage()) : entry);

			assertThat(page(underBallots).withoutLineage().toBytes()).isEqualTo(page(plain).toBytes());
		}
		NavigableMap<Key, Entry> entries = entries(random, 20);
		Page page = Pages.of(entries, KeyRange.all(), Page.Limit.of(1, 1));
		assertThat(page.withoutLineage()).as("without any").isSameAs(page);
		entries.replaceAll((_, entry) -> entry.under(entry.version(), random.lineage()));
		page = Pages.of(entries, KeyRange.all(), Page.Limit.of(1, 1));
		assertThat(page.withoutLineage().isLast()).isFalse();
	}

	/** Its lineage lies in the beginning, is cut off there, or begins right after it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void withoutLineageALargeEntryIsAsLargeAsBefore(boolean expires) {
		NavigableMap<Key, Entry> entries = new TreeMap<>();
		Live plain = ofLength(Page.Limit.USUAL_ENTRY_BYTES, expires);
		entries.put(Generator.key("a"), plain.under(VERSION, new Generator(1).lineage()));
		entries.put(Generator.key("b"), Generator.live(VERSION, "b").under(VERSION, new Generator(2).lineage()));
		Page page = Pages.of(entries, KeyRange.all(), ROOMY);
		Page.Cursor before = page.cursor();
		Page.Cursor cursor = Page.of(page.withoutLineage().toBytes(), true).cursor();

		assertThat(before.advance()).isTrue();
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.isLarge()).isTrue().isEqualTo(before.isLarge());
		assertThat(cursor.entryLength()).isEqualTo(before.entryLength());
		assertThat(cursor.version()).isEqualTo(VERSION);
		assertThat(cursor.copies()).isEqualTo(plain.copies());
		assertThat(cursor.isTombstone()).isFalse();
		assertThat(cursor.expiresAtMillis()).isEqualTo(plain.expiresAtMillis());
		int flags = ITEM_HEAD + 1 + 21;
		assertThat(page.withoutLineage().toBytes()[flags]).isEqualTo((byte) (expires ? 2 : 0));
		assertThat(page.toBytes()[flags]).as("of the page itself").isEqualTo((byte) (expires ? 6 : 4));
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.entry()).isEqualTo(Generator.live(VERSION, "b"));
		assertThat(cursor.advance()).isFalse();
	}

	@Test
	void anEmptyPageHasNoFormat() {
		assertThat(Page.of(new byte[0], true).toFormat1(3)).isEmpty();
		assertThat(Page.ofFormat1(new byte[0], true, 3).length()).isZero();
	}

	@Test
	void everyTruncationOfFormat1IsFound() {
		byte[] bytes = HexFormat.of().parseHex(GOLDEN_OF_FORMAT_1);
		int first = ITEM_HEAD + 1 + 26;
		for (int length = 1; length < bytes.length; length++) {
			byte[] truncated = Arrays.copyOf(bytes, length);
			if (length != first) {
				assertBroken(() -> Page.ofFormat1(truncated, true, 0),
						"%d of %d bytes".formatted(length, bytes.length));
			}
		}
		assertThat(Page.ofFormat1(Arrays.copyOf(bytes, first), true, 0).length()).as("a whole item").isEqualTo(first);
		assertBroken(() -> Page.ofFormat1(Arrays.copyOf(bytes, bytes.length + 1), true, 0), "one byte too many");
	}

	@Test
	void everyFlippedBitOfFormat1IsFound() {
		for (int bit = 0; bit < 4 * GOLDEN_OF_FORMAT_1.length(); bit++) {
			byte[] flipped = HexFormat.of().parseHex(GOLDEN_OF_FORMAT_1);
			flipped[bit / 8] ^= (byte) (1 << (bit % 8));
			assertBroken(() -> Page.ofFormat1(flipped, true, 0), "bit %d".formatted(bit));
		}
	}

	@SeededTest
	void whatIsPutInComesOutHereAndAtThePeer(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 100; i++) {
			NavigableMap<Key, Entry> entries = entries(random, random.below(30));
			Page page = page(entries);
			Page received = Page.of(page.toBytes(), true);

			assertHolds(page, entries, "page %d".formatted(i));
			assertHolds(received, entries, "page %d, received".formatted(i));
			assertThat(received.length()).isEqualTo(page.length()).isEqualTo(page.toBytes().length);
			assertThat(received.isLast()).isTrue();
		}
	}

	@Test
	void aValueIsASliceOfThePage() {
		byte[] bytes = golden().toBytes();
		Page.Cursor cursor = Page.of(bytes, true).cursor();
		cursor.advance();

		assertThat(((Live) cursor.entry()).value().array()).isSameAs(bytes);
	}

	@ParameterizedTest
	@CsvSource({ "16383, false, false", "16384, false, false", "16385, false, true", "16383, true, false",
			"16384, true, false", "16385, true, true", "1000000, true, true" })
	void anEntryOfMoreThan16384BytesIsLargeAndOnlyItsBeginningIsThere(int length, boolean expires, boolean isLarge) {
		NavigableMap<Key, Entry> entries = new TreeMap<>();
		entries.put(Generator.key("a"), ofLength(length, expires));
		entries.put(Generator.key("b"), new Tombstone(VERSION, 1));
		for (Page page : List.of(page(entries), Page.of(page(entries).toBytes(), true))) {
			Page.Cursor cursor = page.cursor();
			assertThat(cursor.advance()).isTrue();
			assertThat(cursor.isLarge()).isEqualTo(isLarge);
			assertThat(cursor.entryLength()).isEqualTo(length);
			assertThat(cursor.version()).isEqualTo(VERSION);
			assertThat(cursor.isVisibleAt(999)).isTrue();
			assertThat(cursor.isVisibleAt(1000)).isNotEqualTo(expires);
			if (!isLarge) {
				assertThat(cursor.entry()).isEqualTo(ofLength(length, expires));
			}
			assertThat(page.length()).isEqualTo(ITEM_HEAD + 1 + (isLarge ? EntryFormat.EXPIRY_END : length) + ITEM_HEAD
					+ 1 + EntryFormat.COPIES_END);
			assertThat(cursor.advance()).isTrue();
			assertThat(cursor.entry()).isEqualTo(new Tombstone(VERSION, 1));
		}
	}

	@Test
	void whoAsksForOneWholeEntryGetsItHoweverLongItIs() {
		Page.Builder builder = new Page.Builder(Page.Limit.ofWhole());
		builder.add(Generator.key("a"), ofLength(3 << 20, true));
		assertThat(builder.isFull()).isTrue();
		Page.Cursor cursor = Page.of(builder.build(false).toBytes(), false).cursor();

		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.isLarge()).isFalse();
		assertThat(cursor.entry()).isEqualTo(ofLength(3 << 20, true));
	}

	@Test
	void theLongestKeysWithTheLargestEntriesHaveRoom() {
		NavigableMap<Key, Entry> entries = new TreeMap<>();
		for (int i = 0; i < 10; i++) {
			byte[] key = new byte[Key.MAX_LENGTH_BYTES];
			key[0] = (byte) i;
			entries.put(Key.of(key), ofLength(Page.Limit.USUAL_ENTRY_BYTES, i % 2 == 0));
		}

		assertHolds(page(entries), entries, "built");
		assertHolds(Page.of(page(entries).toBytes(), true), entries, "received");
		Page small = Pages.of(entries, KeyRange.all(), Page.Limit.of(1, 1));
		assertHolds(small, entries.headMap(entries.firstKey(), true), "the least page");
	}

	/** Many small items, few large ones, and small ones with a large one at the end. */
	@Test
	void aPageTakesNoMoreMemoryThanItsLimitAndTheSlackWhateverItsItemsAre() {
		for (int bytes : new int[] { 1, 1 << 10, 256 << 10, Page.Limit.MAX_BYTES }) {
			for (int items : new int[] { 1, 2, 60, 600, 2048, 3000, Integer.MAX_VALUE }) {
				for (int entryLength : new int[] { BESIDE_THE_VALUE, 300, 9000, Page.Limit.USUAL_ENTRY_BYTES }) {
					Page.Limit limit = Page.Limit.of(bytes, items);
					assertThat(memoryOf(limit, entryLength)).as("%s of entries of %d bytes", limit, entryLength)
						.isLessThanOrEqualTo(bytes + Page.SLACK_BYTES);
				}
			}
		}
	}

	/** The memory of a page that is filled as a store does it, with the longest keys. */
	private static int memoryOf(Page.Limit limit, int entryLength) {
		Page.Builder page = new Page.Builder(limit);
		Entry usual = ofLength(entryLength, false);
		Entry longest = ofLength(Page.Limit.USUAL_ENTRY_BYTES, false);
		int item = ITEM_HEAD + Key.MAX_LENGTH_BYTES + entryLength;
		int memory = 0;
		for (int i = 0; !page.isFull(); i++) {
			memory = page.room(Page.Limit.USUAL_ENTRY_BYTES).length;
			boolean isLast = page.offset() + item >= limit.bytes();
			page.add(Key.of(ByteBuffer.allocate(Key.MAX_LENGTH_BYTES).putInt(i).array()), isLast ? longest : usual);
		}
		return memory;
	}

	@SeededTest
	void cursorsCompareAsKeysAndVersionsDo(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Entry> entries = entries(random, 40);
		entries.replaceAll((_, entry) -> random.chance(50)
				? Generator.live(new Version(random.below(3) - 1, random.below(3) - 1), "close") : entry);
		List<Key> keys = List.copyOf(entries.keySet());
		List<Page.Cursor> items = items(page(entries));
		assertThat(items).hasSameSizeAs(keys);
		for (int i = 0; i < keys.size(); i++) {
			for (int j = 0; j < keys.size(); j++) {
				Page.Cursor one = items.get(i);
				Page.Cursor other = items.get(j);
				assertThat(Integer.signum(one.compareKeys(other))).isEqualTo(Integer.compare(i, j));
				assertThat(Integer.signum(one.compareVersions(other)))
					.isEqualTo(Integer.signum(one.version().compareTo(other.version())));
			}
		}
	}

	@SeededTest
	void itIsVisibleWhereTheEntryIs(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Entry> entries = entries(random, 200);
		entries.replaceAll((_, entry) -> (entry instanceof Live live && random.chance(50))
				? Generator.live(live.version(), "soon", random.below(5)) : entry);
		Page.Cursor cursor = page(entries).cursor();
		for (Entry entry : entries.values()) {
			assertThat(cursor.advance()).isTrue();
			for (long millis = -1; millis < 6; millis++) {
				assertThat(cursor.isVisibleAt(millis)).isEqualTo(entry.isVisibleAt(millis));
			}
		}
	}

	@SeededTest
	void noItemBeginsBehindTheBytesOfThePageAndThereAreNoMoreThanAllowed(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 200; i++) {
			NavigableMap<Key, Entry> entries = entries(random, 40);
			Page.Limit limit = Page.Limit.of(1 + random.below(4000), 1 + random.below(20));
			Page page = Pages.of(entries, KeyRange.all(), limit);
			int lastBegins = page.length();
			int count = 0;
			for (Page.Cursor item : items(page)) {
				lastBegins = page.length() - ITEM_HEAD - item.keyBytes().length - item.entryLength();
				count++;
			}
			assertThat(lastBegins).isLessThan(limit.bytes());
			assertThat(count).isBetween(1, limit.items());
			assertThat(page.isLast()).isEqualTo(count == entries.size());
			if (!page.isLast()) {
				assertThat(count == limit.items() || page.length() >= limit.bytes()).as("it is full").isTrue();
			}
		}
	}

	@Test
	void largeEntriesArePassedOverUpTo16TimesTheBytesOfThePage() {
		Page.Builder page = new Page.Builder(Page.Limit.of(16_384, 1000));
		int length = 20_000;
		int count = 0;
		for (; !page.isFull(); count++) {
			page.add(Generator.key("key %05d".formatted(count)), ofLength(length, false));
		}

		assertThat(count).isEqualTo((16 * 16_384) / length + 1);
	}

	@Test
	void whatABehindARangeGoesOnWith() {
		KeyRange behind = golden().behind(KeyRange.all());

		assertThat(behind.contains(Generator.key("key"))).isFalse();
		assertThat(behind.contains(Key.of(new byte[] { 'k', 'e', 'y', 0 }))).isTrue();
		assertThat(Page.of(golden().toBytes(), false).behind(KeyRange.all()).start()).isEqualTo(behind.start());
	}

	@Test
	void anEntryThatIsDamagedIsLeftOutAndThePageIsWhatCameBefore() {
		Page.Builder page = new Page.Builder(ROOMY);
		page.add(Generator.key("a"), Generator.live(VERSION, "value"));
		byte[] damaged = EntryFormat.encode(Generator.key("b"), Generator.live(VERSION, "value"));
		damaged[damaged.length - 1] ^= 1;
		byte[] room = page.room(damaged.length);
		room[page.offset()] = 'b';
		System.arraycopy(damaged, 0, room, page.offset() + 1, damaged.length);

		assertThatExceptionOfType(DamagedEntryException.class).isThrownBy(() -> page.add(1, damaged.length));
		assertThatExceptionOfType(DamagedEntryException.class).as("too short to be one")
			.isThrownBy(() -> page.add(1, 2));
		assertHolds(page.build(false), Map.of(Generator.key("a"), Generator.live(VERSION, "value")), "before it");
	}

	@Test
	void withoutItemsARangeIsAtItsEnd() {
		Page.Builder page = new Page.Builder(ROOMY);

		assertThat(page.isEmpty()).isTrue();
		assertThat(page.build(true).cursor().advance()).isFalse();
		assertThat(Page.of(new byte[0], true).isLast()).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> page.build(false))
			.withMessage("a page without items, and the range goes on");
		assertThatIllegalArgumentException().isThrownBy(() -> Page.of(new byte[0], false));
	}

	@ParameterizedTest
	@CsvSource({ "0, 1", "-1, 1", "1, 0", "1048577, 1" })
	void aPageOfNothingOrOfMoreThanAMegabyteIsNotAskedFor(int bytes, int items) {
		assertThatIllegalArgumentException().isThrownBy(() -> Page.Limit.of(bytes, items))
			.withMessage("a page of %d bytes and %d items with entries of 16384".formatted(bytes, items));
	}

	@Test
	void everyTruncationIsFound() {
		byte[] bytes = golden().toBytes();
		int first = ITEM_HEAD + 1 + 26;
		for (int length = 1; length < bytes.length; length++) {
			if (length != first) {
				assertBroken(Arrays.copyOf(bytes, length), "%d of %d bytes".formatted(length, bytes.length));
			}
		}
		assertThat(Page.of(Arrays.copyOf(bytes, first), true).length()).as("a whole item").isEqualTo(first);
		assertBroken(Arrays.copyOf(bytes, bytes.length + 1), "one byte too many");
	}

	@Test
	void everyFlippedBitIsFound() {
		byte[] bytes = golden().toBytes();
		for (int bit = 0; bit < 8 * bytes.length; bit++) {
			bytes[bit / 8] ^= (byte) (1 << (bit % 8));
			assertBroken(bytes, "bit %d".formatted(bit));
			bytes[bit / 8] ^= (byte) (1 << (bit % 8));
		}
		assertThat(Page.of(bytes, true).length()).isEqualTo(bytes.length);
	}

	/** A head has no checksum. What is taken for one can be read. */
	@SeededTest
	void aFlippedBitOfAHeadIsFoundOrLeavesAHead(long seed) {
		Generator random = new Generator(seed);
		Page.Builder heads = new Page.Builder(Page.Limit.ofHeads(10_000, 10));
		heads.add(Generator.key("a"), random.entryUnderBallot(new Version(1, 1)));
		heads.add(Generator.key("b"), new Live(new Version(1, 1), 3, 5, "text/plain", Value.of(random.bytes(50))));
		heads.add(Generator.key("c"), new Tombstone(new Version(1, 1), 3));
		byte[] bytes = heads.build(true).toBytes();
		List<Page> received = new ArrayList<>();
		for (int bit = 0; bit < 8 * bytes.length; bit++) {
			bytes[bit / 8] ^= (byte) (1 << (bit % 8));
			try {
				received.add(Page.of(bytes.clone(), true));
			}
			catch (IllegalArgumentException | DamagedEntryException _) {
				// It is found.
			}
			bytes[bit / 8] ^= (byte) (1 << (bit % 8));
		}
		assertThat(received).isNotEmpty().allSatisfy(page -> {
			Page.Cursor cursor = page.cursor();
			while (cursor.advance()) {
				assertThat(cursor.isLarge() || cursor.entry() != null).isTrue();
			}
		});
	}

	@SeededTest
	void garbageIsNoPage(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 5000; i++) {
			byte[] garbage = random.bytes(1 + random.below(80));
			if (garbage.length > 5 && random.chance(80)) {
				// So that it is as long as it should be, more often than not.
				Arrays.fill(garbage, 0, 6, (byte) 0);
				garbage[1] = (byte) random.below(10);
				garbage[5] = (byte) Math.max(0, garbage.length - 6 - garbage[1]);
			}
			assertBroken(garbage, "garbage " + HexFormat.of().formatHex(garbage));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "aa", "ba", "abb", "bca" })
	void keysThatDoNotAscendAreNoPage(String keys) {
		Page.Builder page = new Page.Builder(ROOMY);
		keys.chars().forEach(key -> page.add(Key.of(new byte[] { 'k', (byte) key }), Generator.live(VERSION, "value")));

		assertThatIllegalArgumentException().isThrownBy(() -> Page.of(page.build(true).toBytes(), true))
			.withMessageStartingWith("a page of a range is broken at byte ");
	}

	/** Others than of the lengths that keys have. */
	@ParameterizedTest
	@ValueSource(ints = { 0, Key.MAX_LENGTH_BYTES + 1, 65_535 })
	void whatIsNoKeyIsNoPage(int keyLength) {
		byte[] bytes = new byte[ITEM_HEAD + keyLength + EntryFormat.EXPIRY_END];
		bytes[0] = (byte) (keyLength >>> 8);
		bytes[1] = (byte) keyLength;
		// Of a large entry, which has no checksum here.
		bytes[2] = 1;

		assertThatIllegalArgumentException().isThrownBy(() -> Page.of(bytes, true))
			.withMessage("a page of a range is broken at byte 0");
	}

	@Test
	void itTellsNoKeysAndNoValues() {
		assertThat(golden()).hasToString("Page[65 bytes, the last]");
		assertThat(Page.of(golden().toBytes(), false)).hasToString("Page[65 bytes]");
	}

	private static void assertBroken(byte[] bytes, String what) {
		assertBroken(() -> Page.of(bytes, true), what);
	}

	private static void assertBroken(Supplier<Page> read, String what) {
		try {
			var _ = read.get();
		}
		catch (IllegalArgumentException | DamagedEntryException _) {
			return;
		}
		throw new AssertionError("taken for a page: " + what);
	}

}
