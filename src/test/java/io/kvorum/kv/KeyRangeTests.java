package io.kvorum.kv;

import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class KeyRangeTests {

	private static byte[] bytes(String text) {
		return Generator.key(text).bytes();
	}

	private static KeyRange range(String start, @Nullable String end) {
		return KeyRange.of(bytes(start), (end != null) ? bytes(end) : null);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none", value = { "b, d, a, false", "b, d, b, true", "b, d, ba, true", "b, d, czz, true",
			"b, d, d, false", "b, d, da, false", "b, none, a, false", "b, none, b, true", "b, none, \u00ff, true" })
	void theStartIsInItAndTheEndIsNot(String start, @Nullable String end, String key, boolean isIn) {
		assertThat(range(start, end).contains(Generator.key(key))).isEqualTo(isIn);
	}

	@SeededTest
	void theRangeOfAPrefixHasTheKeysThatBeginWithItAndNoOthers(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 1_000; i++) {
			byte[] prefix = fewBytes(random, 4);
			byte[] key = fewBytes(random, 6);
			if (key.length > 0) {
				boolean begins = key.length >= prefix.length
						&& Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);

				assertThat(KeyRange.ofPrefix(prefix).contains(Key.of(key))).isEqualTo(begins);
			}
		}
	}

	@SeededTest
	void theKeysOfTwoRangesAreThoseThatBothHave(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 1_000; i++) {
			KeyRange one = KeyRange.of(fewBytes(random, 3), random.chance(30) ? null : fewBytes(random, 3));
			KeyRange other = random.chance(50) ? KeyRange.ofPrefix(fewBytes(random, 3))
					: KeyRange.of(fewBytes(random, 3), random.chance(30) ? null : fewBytes(random, 3));
			Key key = Key.of(Arrays.copyOf(fewBytes(random, 4), 1 + random.below(3)));

			assertThat(one.and(other).contains(key)).isEqualTo(one.contains(key) && other.contains(key));
		}
	}

	/** Of a key of text: it never has 0xff. */
	@ParameterizedTest
	@CsvSource({ "a, a0, false", "a/, a/z, false", "a/, a0, true", "a/, b, true",
			"\uDBFF\uDFFF, \uDBFF\uDFFFz, false" })
	void behindAPrefixComesTheNextKeyWithoutIt(String prefix, String key, boolean isIn) {
		assertThat(KeyRange.all().afterAll(bytes(prefix)).contains(Generator.key(key))).isEqualTo(isIn);
	}

	private static byte[] fewBytes(Generator random, int length) {
		byte[] bytes = new byte[random.below(length + 1)];
		for (int i = 0; i < bytes.length; i++) {
			bytes[i] = random.oneOf(List.of((byte) 0, (byte) 'a', (byte) 'b', (byte) 0xfe, (byte) 0xff));
		}
		return bytes;
	}

	@Test
	void anEndOfNoBytesIsBeforeEverything() {
		KeyRange range = KeyRange.of(new byte[0], new byte[0]);

		assertThat(range.contains(Key.of(new byte[1]))).isFalse();
	}

	@Test
	void allKeysAreInTheRangeOfAll() {
		assertThat(KeyRange.all().contains(Key.of(new byte[1]))).isTrue();
		assertThat(KeyRange.all().contains(Key.of(new byte[] { -1, -1 }))).isTrue();
	}

	@Test
	void behindAKeyTheNextOneIsTheKeyWithAZeroBehindIt() {
		KeyRange range = range("a", "d").after(bytes("b"));

		assertThat(range.contains(Generator.key("b"))).isFalse();
		assertThat(range.contains(Key.of(new byte[] { 'b', 0 }))).isTrue();
		assertThat(range.contains(Generator.key("d"))).isFalse();
	}

	@Test
	void behindTheLongestKeyARangeStillHasABound() {
		byte[] longest = new byte[Key.MAX_LENGTH_BYTES];
		KeyRange behind = KeyRange.all().after(longest);

		assertThat(behind.start()).hasSize(KeyRange.MAX_BOUND_BYTES);
		assertThat(KeyRange.of(behind.start(), null).contains(Key.of(longest))).isFalse();
		longest[longest.length - 1] = 1;
		assertThat(behind.contains(Key.of(longest))).isTrue();
	}

	@Test
	void longerBoundsAreRefused() {
		byte[] most = new byte[KeyRange.MAX_BOUND_BYTES];
		byte[] tooMany = new byte[KeyRange.MAX_BOUND_BYTES + 1];

		assertThat(KeyRange.of(most, most).start()).isSameAs(most);
		assertThatIllegalArgumentException().isThrownBy(() -> KeyRange.of(tooMany, null))
			.withMessage("a bound of a range has up to 1025 bytes");
		assertThatIllegalArgumentException().isThrownBy(() -> KeyRange.of(new byte[1], tooMany));
	}

	@Test
	void itTellsNoBytesOfItsBounds() {
		assertThat(range("secret", "zecret")).hasToString("KeyRange[from 6 bytes to 6 bytes]");
		assertThat(range("secret", null)).hasToString("KeyRange[from 6 bytes]");
	}

	@SeededTest
	void whatIsBehindAKeyIsWhatComesBehindItInTheOrderOfKeys(long seed) {
		Generator random = new Generator(seed);
		NavigableSet<Key> keys = new TreeSet<>();
		for (int i = 0; i < 200; i++) {
			// Of few different bytes, so that keys are prefixes of others.
			byte[] bytes = random.bytes(1 + random.below(4));
			for (int at = 0; at < bytes.length; at++) {
				bytes[at] = (byte) (bytes[at] & 0x81);
			}
			keys.add(Key.of(bytes));
		}
		Key end = random.oneOf(List.copyOf(keys));
		KeyRange range = KeyRange.of(keys.first().bytes(), end.bytes());
		for (Key key : keys) {
			KeyRange behind = range.after(key.bytes());
			assertThat(keys.stream().filter(behind::contains))
				.containsExactlyElementsOf(keys.tailSet(key, false).stream().filter(range::contains).toList());
		}
	}

}
