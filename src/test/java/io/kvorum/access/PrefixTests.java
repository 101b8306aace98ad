package io.kvorum.access;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The ranges inside a prefix; by bytes, in hexadecimal. */
class PrefixTests {

	private static byte[] bytes(String hex) {
		return HexFormat.of().parseHex(hex);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "6161, 6161, 6162, true", "6161, 6161, 616161, true", "6161, 616100, 6161ff, true",
					"6161, 6160, 6162, false", "6161, 6161, 616200, false", "6161, 6161, 6163, false",
					"6161, 6161, none, false", "6161, 61, 6162, false", "6161, 62, 63, false", "'', 61, none, true",
					"'', 00, ff, true", "61ff, 61ff, 62, true", "61ff, 61ff, 6200, false", "61ff, 61ff, none, false",
					"ff, ff, none, true", "ffff, ffff, none, true", "ffff, ffff, ffffff, true", "ffff, ff, none, false",
					"ff, fe, none, false" })
	void aRangeLiesInsideByItsBounds(String prefix, String start, @Nullable String end, boolean inside) {
		KeyRange range = KeyRange.of(bytes(start), (end != null) ? bytes(end) : null);

		assertThat(new Prefix(bytes(prefix)).covers(range)).isEqualTo(inside);
	}

	@ParameterizedTest
	@CsvSource({ "6161, 6161, true", "6161, 616161, true", "6161, 61, false", "6161, 6162, false", "'', 00, true",
			"ff, ff, true", "ff, fe, false", "6161, 6061, false" })
	void aKeyLiesInsideByItsFirstBytes(String prefix, String key, boolean inside) {
		assertThat(new Prefix(bytes(prefix)).covers(bytes(key))).isEqualTo(inside);
	}

	/**
	 * Against the dumb rule: each of all keys that the range contains begins with the
	 * prefix. Of bytes next to each other and next to both ends, so that what comes right
	 * behind a prefix is among the keys.
	 */
	@SeededTest
	void aRangeLiesInsideIfAndOnlyIfAllItsKeysDo(long seed) {
		Generator random = new Generator(seed);
		List<Byte> alphabet = List.of((byte) 0, (byte) 1, (byte) 2, (byte) 0xfe, (byte) 0xff);
		List<byte[]> words = words(alphabet, 3);
		List<byte[]> prefixes = words(List.of((byte) 0, (byte) 1, (byte) 0xfe, (byte) 0xff), 2);
		int inside = 0;
		for (int i = 0; i < 4000; i++) {
			byte[] prefix = random.oneOf(prefixes);
			byte[] start = random.chance(60) ? startingWith(prefix, random, words) : random.oneOf(words);
			byte[] end = random.chance(15) ? null
					: random.chance(50) ? startingWith(prefix, random, words) : random.oneOf(words);
			KeyRange range = KeyRange.of(start, end);
			List<byte[]> keys = words.stream().filter(word -> word.length > 0 && range.contains(Key.of(word))).toList();
			if (keys.isEmpty() || start.length == 0) {
				continue; // Whether an empty range is let in harms nobody; a start has
							// bytes.
			}
			boolean all = keys.stream()
				.allMatch(
						key -> Arrays.equals(Arrays.copyOf(key, prefix.length), prefix) && key.length >= prefix.length);
			inside += all ? 1 : 0;
			assertThat(new Prefix(prefix).covers(range))
				.as("seed %d: prefix %s, from %s to %s", seed, hex(prefix), hex(start), (end != null) ? hex(end) : "-")
				.isEqualTo(all);
		}
		assertThat(inside).as("ranges that lie inside").isGreaterThan(200);
	}

	private static byte[] startingWith(byte[] prefix, Generator random, List<byte[]> words) {
		byte[] rest = random.oneOf(words);
		byte[] word = Arrays.copyOf(prefix, Math.min(3, prefix.length + rest.length));
		System.arraycopy(rest, 0, word, prefix.length, word.length - prefix.length);
		return word;
	}

	private static List<byte[]> words(List<Byte> alphabet, int longest) {
		List<byte[]> words = new ArrayList<>(List.of(new byte[0]));
		for (int i = 0; i < words.size(); i++) {
			byte[] word = words.get(i);
			for (byte letter : (word.length < longest) ? alphabet : List.<Byte>of()) {
				byte[] longer = Arrays.copyOf(word, word.length + 1);
				longer[word.length] = letter;
				words.add(longer);
			}
		}
		return words;
	}

	private static String hex(byte[] bytes) {
		return HexFormat.of().formatHex(bytes);
	}

}
