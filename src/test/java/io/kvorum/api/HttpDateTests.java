package io.kvorum.api;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HttpDateTests {

	private static final DateTimeFormatter IMF_FIXDATE = DateTimeFormatter
		.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
		.withZone(ZoneOffset.UTC);

	@Test
	void theExampleOfTheStandard() {
		assertThat(HttpDate.format(784_111_777_999L)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
	}

	@Test
	void anyInstantUpToTheYear9999() {
		Random random = new Random(1);
		long end = Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();
		for (int i = 0; i < 10_000; i++) {
			long millis = random.nextLong(end + 1);
			assertThat(HttpDate.format(millis)).isEqualTo(IMF_FIXDATE.format(Instant.ofEpochMilli(millis)));
		}
		assertThat(HttpDate.format(end)).isEqualTo("Fri, 31 Dec 9999 23:59:59 GMT");
	}

}
