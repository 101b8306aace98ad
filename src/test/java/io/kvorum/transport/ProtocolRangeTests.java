package io.kvorum.transport;

import java.util.Objects;
import java.util.OptionalInt;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Two nodes speak the newest version that both know. */
class ProtocolRangeTests {

	private static @Nullable ProtocolRange range(@Nullable String text) {
		String[] ends = String.valueOf(text).split("-", 2);
		return ProtocolRange.of(ends[0], (ends.length > 1) ? ends[1] : null);
	}

	@ParameterizedTest
	@CsvSource({ "4, 4, 4", "4-5, 4, 4", "4, 4-5, 4", "4-5, 4-5, 5", "4-5, 5-6, 5", "4-9, 5-6, 6", "4, 5, 0",
			"4-5, 6-7, 0" })
	void theNewestThatBothKnow(String one, String other, int version) {
		ProtocolRange first = Objects.requireNonNull(range(one));
		ProtocolRange second = Objects.requireNonNull(range(other));
		OptionalInt expected = (version != 0) ? OptionalInt.of(version) : OptionalInt.empty();
		assertThat(first.common(second)).isEqualTo(expected);
		assertThat(second.common(first)).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "null", value = { "''", "0", "x", "5-4", "5-", "-5", "12345", "4-99999", "+4", "null" })
	void whatIsNoRangeIsNone(@Nullable String text) {
		assertThat(range(text)).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "4, version 4", "4-4, version 4", "4-5, versions 4 to 5" })
	void peopleReadIt(String text, String words) {
		assertThat(range(text)).hasToString(words);
	}

}
