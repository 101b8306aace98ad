package io.kvorum.storage;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
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

	private static final Value VALUE = Value.of(new byte[] { (byte) 0xca, (byte) 0xfe });

	/** The bytes on the disks of users: they do not change. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("golden")
	void whatIsOnDiskStaysReadable(String what, Entry entry, String hex) {
		byte[] golden = HexFormat.of().parseHex(hex.replace(" ", ""));

		assertThat(HexFormat.of().formatHex(EntryFormat.encode(KEY, entry))).as(what).isEqualTo(hex.replace(" ", ""));
		assertThat(EntryFormat.decode(KEY, golden)).isEqualTo(entry);
		assertThat(EntryFormat.versionOf(golden, golden.length)).isEqualTo(VERSION);
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

	/** What a bug of a writer, or a checksum that fits by chance, could bring. */
	@SeededTest
	void nonsenseWithAChecksumThatFitsIsReadAsItIsOrIsDamagedAndNothingElse(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 5000; i++) {
			byte[] nonsense = random.bytes(23 + random.below(30));
			nonsense[0] = EntryFormat.FORMAT;
			nonsense[21] = (byte) random.below(4);
			nonsense[22] = (byte) random.below(2);
			EntryFormat.seal(KEY, nonsense);
			try {
				EntryFormat.decode(KEY, nonsense);
			}
			catch (DamagedEntryException _) {
				continue;
			}
			assertThat(nonsense[22]).as("copies of what was taken for an entry").isNotZero();
		}
	}

	@Test
	void aVersionIsNotReadFromLessThanTheHeadOfAnEntry() {
		byte[] bytes = EntryFormat.encode(KEY, new Tombstone(VERSION, 1));

		assertThatExceptionOfType(DamagedEntryException.class)
			.isThrownBy(() -> EntryFormat.versionOf(bytes, EntryFormat.VERSION_END - 1));
		bytes[0] = 2;
		assertThatExceptionOfType(DamagedEntryException.class)
			.isThrownBy(() -> EntryFormat.versionOf(bytes, bytes.length))
			.withMessage("a stored entry is damaged: it does not begin with format 1 and a version");
	}

	private static void assertDamaged(Key key, byte[] bytes, String what) {
		assertThatExceptionOfType(DamagedEntryException.class).as(what)
			.isThrownBy(() -> EntryFormat.decode(key, bytes));
	}

}
