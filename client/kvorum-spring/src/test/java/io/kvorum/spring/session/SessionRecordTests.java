package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

import io.kvorum.spring.session.SessionRecord.Delta;
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
				Map.of("b", Optional.of(ONE), "a", Optional.empty()));
		Delta second = new Delta(Optional.of(NOW.plusSeconds(2)), Optional.of(Duration.ofHours(1)),
				Map.of("c", Optional.of(TWO)));
		SessionRecord expected = new SessionRecord(NOW, NOW.plusSeconds(2), Duration.ofHours(1),
				Map.of("ä", TWO, "b", ONE, "c", TWO));
		assertThat(this.session.with(first).with(second)).isEqualTo(expected);
		assertThat(this.session.with(second).with(first)).isEqualTo(expected);
	}

}
