package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

import io.kvorum.client.Version;
import io.kvorum.spring.session.SessionRecord.Delta;
import io.kvorum.spring.session.SessionRecord.Edit;
import io.kvorum.spring.session.SessionRecord.StoredAttribute;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("What is stored of a session")
class SessionRecordTests {

	private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

	private static final StoredAttribute ONE = new StoredAttribute("text/plain", new byte[] { '1' });

	private static final StoredAttribute TWO = new StoredAttribute("text/plain", new byte[] { '2' });

	private static final Version VERSION = new Version("v1");

	private final SessionRecordCodec codec = new SessionRecordCodec();

	private final SessionRecord session = new SessionRecord(NOW, NOW, Duration.ofMinutes(30),
			Map.of("a", ONE, "ä", TWO));

	@Test
	@DisplayName("comes back from its bytes")
	void copied() {
		SessionRecord copy = this.codec.decode(this.codec.encode(this.session), this.codec.contentType());
		assertThat(copy).usingRecursiveComparison().isEqualTo(this.session);
	}

	@Test
	@DisplayName("is not read if it is cut off at any byte, of another format or of another type")
	void damaged() {
		byte[] bytes = this.codec.encode(this.session);
		for (int length = 0; length < bytes.length; length++) {
			byte[] part = Arrays.copyOf(bytes, length);
			assertThatExceptionOfType(java.io.UncheckedIOException.class)
				.isThrownBy(() -> this.codec.decode(part, this.codec.contentType()));
		}
		bytes[0] = 2;
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.decode(bytes, this.codec.contentType()));
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.decode(bytes, "text/plain"));
	}

	@Test
	@DisplayName("has the changes of both requests, in any order, with the later access")
	void merged() {
		Delta first = new Delta(Optional.of(NOW.plusSeconds(1)), Optional.empty(),
				Map.of("b", new Edit<>(Optional.of(ONE), null), "a", new Edit<>(Optional.empty(), null)));
		Delta second = new Delta(Optional.of(NOW.plusSeconds(2)),
				Optional.of(new Edit<>(Optional.of(Duration.ofHours(1)), null)),
				Map.of("c", new Edit<>(Optional.of(TWO), null)));
		SessionRecord expected = new SessionRecord(NOW, NOW.plusSeconds(2), Duration.ofHours(1),
				Map.of("ä", TWO, "b", ONE, "c", TWO));
		assertThat(this.session.with(first, VERSION).with(second, VERSION)).isEqualTo(expected);
		assertThat(this.session.with(second, VERSION).with(first, VERSION)).isEqualTo(expected);
	}

}
