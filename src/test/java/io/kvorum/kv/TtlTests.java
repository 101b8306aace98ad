package io.kvorum.kv;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TtlTests {

	@ParameterizedTest
	@CsvSource({ "1s, PT1S", "30s, PT30S", "15m, PT15M", "12h, PT12H", "7d, P7D", "007d, P7D", "3650d, P3650D",
			"87600h, P3650D", "315360000s, P3650D", "PT30S, PT30S", "pt30s, PT30S", "P1DT1H, PT25H", "PT1.5S, PT1.5S",
			"P3650D, P3650D" })
	void itIsReadFromANumberWithAUnitOrFromIso8601(String text, Duration expected) {
		assertThat(Ttl.parse(text).duration()).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0s", "0d", "PT0S", "PT0.999S", "PT-30S", "-PT30S", "3651d", "315360001s", "999999999d",
			"P3650DT0.001S" })
	void outOfBoundsItIsRefusedWithTheBounds(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Ttl.parse(text))
			.withMessage("a ttl is 1 second to 3650 days");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "30", "s", "-1s", "+1s", "1.5s", "30 s", " 30s", "30s ", "30S", "30ms", "1w",
			"1y", "9999999999s", "P", "PT", "P1Y", "P1M", "forever", "\u0663s", "PT9999999999999999999H" })
	void anythingElseIsRefusedWithTheSpellings(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Ttl.parse(text))
			.withMessage("a ttl is a number with a unit (30s, 15m, 12h, 7d) or an ISO 8601 duration (PT30S)");
	}

	@Test
	void theBoundsThemselvesAreAllowed() {
		assertThat(new Ttl(Ttl.MIN).duration()).isEqualTo(Duration.ofSeconds(1));
		assertThat(new Ttl(Ttl.MAX).duration()).isEqualTo(Duration.ofDays(3650));
	}

	@Test
	void aValueExpiresThatLongAfterItWasWritten() {
		assertThat(Ttl.parse("30s").expiresAtMillis(1_700_000_000_000L)).isEqualTo(1_700_000_030_000L);
	}

}
