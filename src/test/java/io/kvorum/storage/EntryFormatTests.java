package io.kvorum.storage;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class EntryFormatTests {

	private static final Key KEY = Generator.key("key");

	private static final Version VERSION = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

	/** None, a tombstone, an expiry, and each of them under a ballot. */
	private static final List<Byte> ENTRY_FLAGS = List.of((byte) 0, (byte) 1, (byte) 2, (byte) 4, (byte) 5, (byte) 6);

	private static final Value VALUE = Value.of(new byte[] { (byte) 0xca, (byte) 0xfe });

	/** The bytes on the disks of users: they do not change. */
	@ParameterizedTest(name = "{0}")
	@MethodSource({ "golden", "goldenOfFormat2" })
	void whatIsOnDiskStaysReadable(String what, Entry entry, String hex) {
		byte[] golden = HexFormat.of().parseHex(hex.replace(" ", ""));

		assertThat(EntryFormat.decode(KEY, EntryFormat.fromFormat1(KEY, golden, 0))).as(what).isEqualTo(entry);
		assertThat(EntryFormat.versionOf(golden, golden.length)).isEqualTo(VERSION);
		assertThat(EntryFormat.copiesOf(golden, golden.length, 0)).isEqualTo(entry.copies());
		assertThat(EntryFormat.isTombstone(golden, golden.length)).isEqualTo(entry instanceof Tombstone);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("goldenOfFormat2")
	void whatIsWrittenToDiskStaysTheSame(String what, Entry entry, String hex) {
		assertThat(HexFormat.of().formatHex(EntryFormat.encode(KEY, entry))).as(what).isEqualTo(hex.replace(" ", ""));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("golden")
	void aPeerOfProtocol1GetsAndSendsFormat1(String what, Entry entry, String hex) {
		byte[] encoded = EntryFormat.encode(KEY, entry);
		byte[] format1 = EntryFormat.toFormat1(KEY, encoded, 3);

		assertThat(HexFormat.of().formatHex(format1)).as(what).isEqualTo(hex.replace(" ", ""));
		assertThat(EntryFormat.fromFormat1(KEY, format1, 0)).isEqualTo(encoded);
		assertThat(EntryFormat.fromFormat1(KEY, encoded, 0)).isSameAs(encoded);
	}

	@Test
	void inFormat1TheDefaultIsItsNumber() {
		byte[] encoded = EntryFormat.encode(KEY, new Tombstone(VERSION, Copies.DEFAULT));

		assertThat(EntryFormat.toFormat1(KEY, encoded, 3))
			.isEqualTo(EntryFormat.toFormat1(KEY, EntryFormat.encode(KEY, new Tombstone(VERSION, 3)), 5));
	}

	@Test
	void aNumberOfFormat1ThatIsNotAboveTheFactorIsTheDefault() {
		for (int number = 1; number <= 5; number++) {
			byte[] format1 = EntryFormat.toFormat1(KEY, EntryFormat.encode(KEY, new Tombstone(VERSION, number)), 3);
			Copies expected = (number <= 3) ? Copies.DEFAULT : Copies.of(number);

			assertThat(EntryFormat.decode(KEY, EntryFormat.fromFormat1(KEY, format1, 3)))
				.isEqualTo(new Tombstone(VERSION, expected));
			assertThat(EntryFormat.copiesOf(format1, EntryFormat.COPIES_END, 3)).isEqualTo(expected);
		}
	}

	@Test
	void anEntryOfFormat1IsReadAsSuchOnlyAndItsDamageIsFound() {
		byte[] format1 = EntryFormat.toFormat1(KEY, EntryFormat.encode(KEY, Generator.live(VERSION, "value")), 3);
		assertDamaged(KEY, format1, "an entry of format 1");

		for (int at = 1; at < format1.length; at++) {
			byte[] damaged = format1.clone();
			damaged[at] ^= 4;
			assertThatExceptionOfType(DamagedEntryException.class)
				.isThrownBy(() -> EntryFormat.fromFormat1(KEY, damaged, 3));
		}
	}

	static Stream<Arguments> golden() {
		return Stream.of(
				Arguments.of("a value of the default type",
						new Live(VERSION, 3, Live.NEVER, "application/octet-stream", VALUE),
						"01 018bcfe568000007 fedcba9876543210 648df3d9 00 03 00cafe"),
				Arguments.of("a value with a type", new Live(VERSION, 1, Live.NEVER, "text/\u00e9", VALUE),
						"01 018bcfe568000007 fedcba9876543210 c78090fe 00 01 06746578742fe9cafe"),
				Arguments.of("a value that expires",
						new Live(VERSION, 255, 1_800_000_000_000L, "application/octet-stream", VALUE),
						"01 018bcfe568000007 fedcba9876543210 8a6614fd 02 ff 000001a3185c500000cafe"),
				Arguments.of("a value with a type that expires",
						new Live(VERSION, 2, 1_800_000_000_000L, "a/b", Value.of(new byte[0])),
						"01 018bcfe568000007 fedcba9876543210 0dfb8f5c 02 02 000001a3185c500003612f62"),
				Arguments.of("a tombstone", new Tombstone(VERSION, 3),
						"01 018bcfe568000007 fedcba9876543210 2f85d6c7 01 03"));
	}

	static Stream<Arguments> goldenOfFormat2() {
		return Stream.of(
				Arguments.of("format 2: a value of the default type",
						new Live(VERSION, Copies.DEFAULT, Live.NEVER, "application/octet-stream", VALUE),
						"02 018bcfe568000007 fedcba9876543210 e291493c 00 00 00cafe"),
				Arguments.of("format 2: a value with a type", new Live(VERSION, 1, Live.NEVER, "text/\u00e9", VALUE),
						"02 018bcfe568000007 fedcba9876543210 24527b53 00 01 06746578742fe9cafe"),
				Arguments.of("format 2: a value that expires",
						new Live(VERSION, 255, 1_800_000_000_000L, "application/octet-stream", VALUE),
						"02 018bcfe568000007 fedcba9876543210 b4abd7e6 02 ff 000001a3185c500000cafe"),
				Arguments.of("format 2: a value with a type that expires",
						new Live(VERSION, Copies.DEFAULT, 1_800_000_000_000L, "a/b", Value.of(new byte[0])),
						"02 018bcfe568000007 fedcba9876543210 e5b65e01 02 00 000001a3185c500003612f62"),
				Arguments.of("format 2: a tombstone", new Tombstone(VERSION, Copies.DEFAULT),
						"02 018bcfe568000007 fedcba9876543210 f27486eb 01 00"));
	}

	@SeededTest
	void whatIsWrittenIsRead(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Key key = random.key();
			Entry entry = random.entry(random.version());
			byte[] bytes = EntryFormat.encode(key, entry);

			assertThat(EntryFormat.decode(key, bytes)).isEqualTo(entry);
			assertThat(EntryFormat.versionOf(Arrays.copyOf(bytes, EntryFormat.VERSION_END), bytes.length))
				.isEqualTo(entry.version());
		}
	}

	@Test
	void aValueIsServedFromTheBytesThatWereRead() {
		byte[] bytes = EntryFormat.encode(KEY, Generator.live(VERSION, "value"));

		assertThat(((Live) EntryFormat.decode(KEY, bytes)).value().array()).isSameAs(bytes);
	}

	@Test
	void aValueThatIsASliceIsWrittenWithoutWhatLiesAroundIt() {
		Value slice = Value.slice("before after".getBytes(StandardCharsets.US_ASCII), 7, 12);
		byte[] bytes = EntryFormat.encode(KEY, new Live(VERSION, 1, Live.NEVER, "text/plain", slice));

		assertThat(EntryFormat.decode(KEY, bytes)).isEqualTo(Generator.live(VERSION, "after"));
	}

	@SeededTest
	void everyFlippedBitIsFound(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 10; i++) {
			Key key = random.key();
			byte[] bytes = EntryFormat.encode(key, random.entry(random.version()));
			for (int bit = 0; bit < 8 * bytes.length; bit++) {
				bytes[bit / 8] ^= (byte) (1 << (bit % 8));
				assertDamaged(key, bytes, "bit %d of entry %d".formatted(bit, i));
				bytes[bit / 8] ^= (byte) (1 << (bit % 8));
			}
		}
	}

	@SeededTest
	void everyTruncationAndEveryByteTooManyIsFound(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 10; i++) {
			Key key = random.key();
			byte[] bytes = EntryFormat.encode(key, random.entry(random.version()));
			for (int length = 0; length < bytes.length; length++) {
				assertDamaged(key, Arrays.copyOf(bytes, length), "%d of %d bytes".formatted(length, bytes.length));
			}
			assertDamaged(key, Arrays.copyOf(bytes, bytes.length + 1), "one byte too many");
		}
	}

	@SeededTest
	void garbageIsNoEntry(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 5000; i++) {
			byte[] garbage = random.bytes(random.below(60));
			if (garbage.length > 0 && random.chance(80)) {
				garbage[0] = EntryFormat.FORMAT;
			}
			assertDamaged(random.key(), garbage, "garbage " + HexFormat.of().formatHex(garbage));
		}
	}

	@SeededTest
	void theEntryOfAnotherKeyIsNotTheOneOfThisKey(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Key key = random.key();
			byte[] bytes = EntryFormat.encode(key, random.entry(random.version()));
			assertDamaged(random.key(), bytes, "the entry of another key");
			byte[] near = key.bytes().clone();
			near[random.below(near.length)] ^= 1;
			assertDamaged(Key.of(near), bytes, "the entry of a key that differs in a bit");
		}
	}

	@SeededTest
	void anEntryUnderABallotIsReadAsItWasWrittenWithItsLineage(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 1000; i++) {
			Key key = random.key();
			Entry entry = random.entryUnderBallot(random.version());
			byte[] bytes = EntryFormat.encode(key, entry);

			assertThat(EntryFormat.decode(key, bytes)).isEqualTo(entry);
			assertThat(EntryFormat.hasLineage(bytes)).isTrue();
			assertThat(EntryFormat.versionOf(bytes, bytes.length)).isEqualTo(entry.version());
			assertThat(EntryFormat.isTombstone(bytes, bytes.length)).isEqualTo(entry instanceof Tombstone);
			assertThat(EntryFormat.isVisibleAt(bytes, 0, 1000)).isEqualTo(entry.isVisibleAt(1000));
			bytes[23 + random.below(bytes.length - 23)] ^= (byte) (1 << random.below(Byte.SIZE));
			assertDamaged(key, bytes, "a bit of its lineage or its value flipped");
		}
	}

	/** For a release that knows none. */
	@SeededTest
	void withoutItsLineageAnEntryIsThatOfItsVersion(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Key key = random.key();
			Entry entry = random.entryUnderBallot(random.version());
			Entry plain = switch (entry) {
				case Live live ->
					new Live(live.version(), live.copies(), live.expiresAtMillis(), live.contentType(), live.value());
				case Tombstone tombstone -> new Tombstone(tombstone.version(), tombstone.copies());
			};

			byte[] bytes = EntryFormat.encode(key, entry);
			assertThat(EntryFormat.withoutLineage(key, bytes)).isEqualTo(EntryFormat.encode(key, plain));
			assertThat(EntryFormat.withoutLineage(key, EntryFormat.encode(key, plain)))
				.isEqualTo(EntryFormat.encode(key, plain));
		}
	}

	/** Bytes that stores and peers of later releases find. */
	@Test
	void theLineageOfAnEntryStaysTheSame() {
		Version ballot = new Version(0x0102, 7);
		Version first = new Version(0x0101, 7);
		Version replaced = new Version(0x0100, 8);
		Lineage lineage = new Lineage(first, true, true,
				List.of(new Ancestor(replaced, replaced), new Ancestor(first, new Version(0x00ff, 9))));

		byte[] bytes = EntryFormat.encode(KEY, new Tombstone(ballot, Copies.DEFAULT, lineage));
		assertThat(HexFormat.of().formatHex(bytes, 21, bytes.length)).isEqualTo(
				"05" + "00" + "005a" + "0000000000000101" + "0000000000000007" + "0000000000000100" + "0000000000000008"
						+ "0000000000000101" + "0000000000000007" + "00000000000000ff" + "0000000000000009");
	}

	/** What a bug of a writer, or a checksum that fits by chance, could bring. */
	@SeededTest
	void nonsenseWithAChecksumThatFitsIsReadAsItIsOrIsDamagedAndNothingElse(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 5000; i++) {
			byte[] nonsense = random.bytes(23 + random.below(30));
			nonsense[0] = EntryFormat.FORMAT;
			nonsense[21] = (byte) random.below(16);
			EntryFormat.seal(KEY, nonsense);
			try {
				EntryFormat.decode(KEY, nonsense);
			}
			catch (DamagedEntryException _) {
				continue;
			}
			assertThat(nonsense[21]).as("flags of what was taken for an entry").isIn(ENTRY_FLAGS);
		}
	}

	@Test
	void aVersionIsNotReadFromLessThanTheHeadOfAnEntry() {
		byte[] bytes = EntryFormat.encode(KEY, new Tombstone(VERSION, 1));

		assertThatExceptionOfType(DamagedEntryException.class)
			.isThrownBy(() -> EntryFormat.versionOf(bytes, EntryFormat.VERSION_END - 1));
		for (byte unknown : new byte[] { 0, 4 }) {
			bytes[0] = unknown;
			assertThatExceptionOfType(DamagedEntryException.class)
				.isThrownBy(() -> EntryFormat.versionOf(bytes, bytes.length))
				.withMessage("a stored entry is damaged: it does not begin with a format from 1 to 3 and a version");
		}
	}

	@SeededTest
	void theBeginningOfAnEntryTellsAllButItsValueAndIsNoEntry(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Key key = random.key();
			Entry entry = random.entry(random.version());
			byte[] encoded = EntryFormat.encode(key, entry);
			if (encoded.length <= EntryFormat.EXPIRY_END) {
				continue;
			}
			byte[] beginning = EntryFormat.beginning(encoded);

			assertThat(EntryFormat.isBeginning(beginning, 0, beginning.length)).isTrue();
			assertThat(EntryFormat.isBeginning(encoded, 0, encoded.length)).isFalse();
			assertThat(EntryFormat.isBeginning(beginning, 0, EntryFormat.EXPIRY_END)).as("too short").isFalse();
			assertThat(EntryFormat.versionOf(beginning, beginning.length)).isEqualTo(entry.version());
			assertThat(EntryFormat.copiesOf(beginning, beginning.length, 3)).isEqualTo(entry.copies());
			assertThat(EntryFormat.isTombstone(beginning, beginning.length)).isEqualTo(entry instanceof Tombstone);
			assertThat(EntryFormat.hasLineage(beginning)).isEqualTo(entry.lineage() != null);
			assertThat(beginning.length).isLessThanOrEqualTo(EntryFormat.MAX_BEGINNING_BYTES);
			assertThatExceptionOfType(DamagedEntryException.class).isThrownBy(() -> EntryFormat.decode(key, beginning));

			assertThat(EntryFormat.toEntry(beginning, 0, beginning.length)).isEqualTo(encoded.length);
			assertThat(Arrays.copyOf(beginning, beginning.length - Integer.BYTES))
				.isEqualTo(Arrays.copyOf(encoded, beginning.length - Integer.BYTES));
		}
	}

	@SeededTest
	void anEntryAmongOtherBytesIsReadFromWhereItIs(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Key key = random.key();
			Entry entry = random.entry(random.version());
			byte[] encoded = EntryFormat.encode(key, entry);
			int from = random.below(50);
			byte[] around = random.bytes(from + encoded.length + random.below(50));
			System.arraycopy(encoded, 0, around, from, encoded.length);

			assertThat(EntryFormat.decode(key, around, from, from + encoded.length)).isEqualTo(entry);
			assertThat(EntryFormat.version(around, from)).isEqualTo(entry.version());
			assertThatExceptionOfType(DamagedEntryException.class).as("a byte too few")
				.isThrownBy(() -> EntryFormat.decode(key, around, from, from + encoded.length - 1));
			if (from > 0) {
				assertThatExceptionOfType(DamagedEntryException.class).as("a byte before it")
					.isThrownBy(() -> EntryFormat.decode(key, around, from - 1, from + encoded.length));
			}
		}
	}

	@SeededTest
	void whetherAnEntryIsVisibleIsToldByItsFirstBytes(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Entry entry = random.entry(random.version());
			byte[] encoded = EntryFormat.encode(KEY, entry);
			byte[] beginning = new byte[7 + EntryFormat.EXPIRY_END];
			System.arraycopy(encoded, 0, beginning, 7, Math.min(encoded.length, EntryFormat.EXPIRY_END));
			long expiry = (entry instanceof Live live) ? live.expiresAtMillis() : 0;

			for (long millis : new long[] { 0, Long.MIN_VALUE, Long.MAX_VALUE, expiry - 1, expiry, random.anyLong() }) {
				assertThat(EntryFormat.isVisibleAt(beginning, 7, millis))
					.as("%s at %d", entry.getClass().getSimpleName(), millis)
					.isEqualTo(visible(entry, millis));
			}
		}
	}

	/** What never expires is also there at the last of all instants. */
	private static boolean visible(Entry entry, long millis) {
		return entry instanceof Live live && (!live.expires() || millis < live.expiresAtMillis());
	}

	@SeededTest
	void versionsCompareInBytesAsTheyDoAsNumbersWithoutASign(long seed) {
		Generator random = new Generator(seed);
		List<Long> extremes = List.of(0L, 1L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, 0xffL, 0x100L);
		for (int i = 0; i < 2000; i++) {
			Version one = new Version(number(random, extremes), number(random, extremes));
			Version other = new Version(random.chance(50) ? one.timestamp() : number(random, extremes),
					number(random, extremes));
			byte[] bytes = new byte[100];
			System.arraycopy(EntryFormat.encode(KEY, new Tombstone(one, 1)), 0, bytes, 10, EntryFormat.COPIES_END);
			byte[] others = EntryFormat.encode(KEY, Generator.live(other, "value"));

			assertThat(Integer.signum(EntryFormat.compareVersions(bytes, 10, others, 0))).as("%s and %s", one, other)
				.isEqualTo(Integer.signum(one.compareTo(other)));
		}
	}

	private static long number(Generator random, List<Long> extremes) {
		return random.chance(70) ? random.oneOf(extremes) : random.anyLong();
	}

	private static void assertDamaged(Key key, byte[] bytes, String what) {
		assertThatExceptionOfType(DamagedEntryException.class).as(what)
			.isThrownBy(() -> EntryFormat.decode(key, bytes));
	}

}
