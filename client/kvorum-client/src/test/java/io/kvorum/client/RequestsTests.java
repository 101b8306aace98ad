package io.kvorum.client;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What a request asks for")
class RequestsTests {

	private static final Map<String, String> EVENTUAL = Map.of("Kvorum-Consistency", "eventual");

	@Test
	@DisplayName("operations without an order, at any level")
	void eventual() {
		ReadOptions reads = ReadOptions.DEFAULTS.eventual().level(2, 3).deadline(Duration.ofSeconds(1));
		WriteOptions writes = WriteOptions.DEFAULTS.level(2, 3).eventual();

		assertThat(Requests.get("key", reads).headers()).isEqualTo(EVENTUAL);
		assertThat(Requests.head("key", reads).target()).isEqualTo("/v0/entity?id=key&replicas=2/3");
		assertThat(Requests.put("key", new byte[0], "text/plain", writes).headers()).isEqualTo(EVENTUAL);
		assertThat(Requests.delete("key", writes).headers()).isEqualTo(EVENTUAL);
		assertThat(Requests.delete("key", writes).target()).isEqualTo("/v0/entity?id=key&replicas=2/3");
	}

	@Test
	@DisplayName("linearizable ones need no header")
	void byDefault() {
		assertThat(Requests.get("key", ReadOptions.DEFAULTS).headers()).isEmpty();
		assertThat(Requests.delete("key", WriteOptions.DEFAULTS).headers()).isEmpty();
	}

}
