package io.kvorum.kv;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class KeyTests {

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, Key.MAX_LENGTH_BYTES })
	void aKeyHasOneTo1024Bytes(int length) {
		assertThat(Key.of(new byte[length]).bytes()).hasSize(length);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, Key.MAX_LENGTH_BYTES + 1 })
	void fewerOrMoreBytesAreRefusedWithBothNumbers(int length) {
		assertThatIllegalArgumentException().isThrownBy(() -> Key.of(new byte[length]))
			.withMessage("a key has 1 to 1024 bytes, this one has %d", length);
	}

	@Test
	void keysAreOrderedAsUnsignedBytesAndAPrefixComesFirst() {
		assertThat(key(0x7f)).isLessThan(key(0x80));
		assertThat(key(0x80)).isLessThan(key(0xff));
		assertThat(key(0x00)).isLessThan(key(0x00, 0x00));
		assertThat(key(0x61, 0xff)).isLessThan(key(0x62));
	}

	@SeededTest
	void theOrderIsTheOneOfUnsignedBytesAndAgreesWithEquals(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 1000; i++) {
			Key one = random.key();
			Key other = random.chance(10) ? Key.of(one.bytes().clone()) : random.key();
			int expected = Arrays.compareUnsigned(one.bytes(), other.bytes());
			assertThat(Integer.signum(one.compareTo(other))).isEqualTo(Integer.signum(expected));
			assertThat(Integer.signum(other.compareTo(one))).isEqualTo(-Integer.signum(one.compareTo(other)));
			assertThat(one.equals(other)).isEqualTo(expected == 0);
		}
	}

	@Test
	void equalBytesMakeEqualKeys() {
		assertThat(key(1, 2)).isEqualTo(key(1, 2)).hasSameHashCodeAs(key(1, 2)).isNotEqualTo(key(2, 1));
		assertThat(key(1)).isNotEqualTo("key");
	}

	@Test
	void aKeyThatIsPrintedTellsItsLengthAndNoneOfItsBytes() {
		Key secret = Key.of("secret".getBytes(StandardCharsets.US_ASCII));

		assertThat(secret).hasToString("Key[6 bytes]");
	}

	private static Key key(int... bytes) {
		byte[] key = new byte[bytes.length];
		for (int i = 0; i < bytes.length; i++) {
			key[i] = (byte) bytes[i];
		}
		return Key.of(key);
	}

}
