package io.kvorum.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class FieldCodecTests {

	@Test
	void noFieldsAreNoBytes() {
		assertEquals(0, FieldCodec.encode(Map.of()).length);
		assertEquals(Map.of(), FieldCodec.decode(new byte[0]));
	}

	@Test
	void aSmallFieldTakesTwoBytesMoreThanItsNameAndValue() {
		assertArrayEquals(new byte[] { 2, 'f', '0', 3, 1, 2, 3 },
				FieldCodec.encode(Map.of("f0", new byte[] { 1, 2, 3 })));
	}

	/** Lengths around those at which a varint takes one byte more. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152 })
	void aValueOfAnyLengthComesBack(int length) {
		byte[] value = new byte[length];
		new Random(length).nextBytes(value);
		Map<String, byte[]> fields = new LinkedHashMap<>();
		fields.put("before", new byte[] { 0 });
		fields.put("field", value);
		fields.put("after", new byte[] { -1 });
		assertSame(fields, FieldCodec.decode(FieldCodec.encode(fields)));
	}

	@Test
	void namesOfAnyCharactersComeBackInTheirOrder() {
		Map<String, byte[]> fields = new LinkedHashMap<>();
		for (String name : List.of("zwölf", "", "\n", "字段", "a".repeat(300))) {
			fields.put(name, name.getBytes(StandardCharsets.UTF_16));
		}
		assertSame(fields, FieldCodec.decode(FieldCodec.encode(fields)));
	}

	@Test
	void noBeginningOfAnEncodingBreaksADecoder() {
		byte[] whole = FieldCodec.encode(Map.of("field", new byte[200]));
		for (int length = 1; length < whole.length; length++) {
			byte[] beginning = Arrays.copyOf(whole, length);
			assertThrows(IllegalArgumentException.class, () -> FieldCodec.decode(beginning));
		}
	}

	@Test
	void whatIsNoEncodingIsRefused() {
		byte[] negativeLength = { -1, -1, -1, -1, 15 };
		byte[] endlessLength = { -1, -1, -1, -1, -1, -1 };
		byte[] sameFieldTwice = { 1, 'f', 0, 1, 'f', 0 };
		for (byte[] bytes : List.of(negativeLength, endlessLength, sameFieldTwice)) {
			assertThrows(IllegalArgumentException.class, () -> FieldCodec.decode(bytes));
		}
	}

	private static void assertSame(Map<String, byte[]> expected, Map<String, byte[]> actual) {
		assertEquals(List.copyOf(expected.keySet()), List.copyOf(actual.keySet()));
		expected.forEach((name, value) -> assertArrayEquals(value, actual.get(name), name));
	}

}
