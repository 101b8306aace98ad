package io.kvorum.kv;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ValueTests {

	private final byte[] bytes = { 1, 2, 3, 4 };

	@Test
	void aValueIsServedFromTheArrayItCameIn() {
		Value slice = Value.slice(this.bytes, 1, 4);

		assertThat(slice.array()).isSameAs(this.bytes);
		assertThat(slice.offset()).isEqualTo(1);
		assertThat(slice.length()).isEqualTo(3);
		assertThat(slice.toBytes()).containsExactly(2, 3, 4);
	}

	@Test
	void atTheEndOfAnArrayAValueIsEmpty() {
		assertThat(Value.slice(this.bytes, 4, 4).toBytes()).isEmpty();
		assertThat(Value.of(new byte[0]).length()).isZero();
	}

	@Test
	void beyondTheEndOfAnArrayThereIsNone() {
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> Value.slice(this.bytes, 5, 4));
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> Value.slice(this.bytes, -1, 4));
	}

	@Test
	void valuesAreEqualByTheirBytesWhereverTheseLie() {
		Value slice = Value.slice(this.bytes, 2, 4);
		Value whole = Value.of(new byte[] { 3, 4 });

		assertThat(slice).isEqualTo(whole).hasSameHashCodeAs(whole);
		assertThat(slice).isNotEqualTo(Value.slice(this.bytes, 3, 4)).isNotEqualTo("value");
	}

	@Test
	void aCopyOfTheBytesIsTheirsWhoAskedForIt() {
		Value value = Value.of(this.bytes);
		value.toBytes()[0] = 9;

		assertThat(value.toBytes()).containsExactly(1, 2, 3, 4);
	}

	@Test
	void aValueThatIsPrintedTellsItsLengthAndNoneOfItsBytes() {
		assertThat(Value.of(this.bytes)).hasToString("Value[4 bytes]");
	}

}
