package io.kvorum.client;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.kvorum.client.KvorumException.NoAnswer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("Leases")
class LeasesTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final FakeNode node = new FakeNode();

	private final KvorumClient client = KvorumClient.builder(List.of(this.node.url()))
		.deadline(Duration.ofSeconds(2))
		.build();

	private final Leases leases = new Leases(this.client, "leases/");

	@AfterEach
	void close() {
		this.client.close();
		this.node.close();
	}

	private static <T> T one(Mono<T> mono) {
		return Objects.requireNonNull(mono.block(PATIENCE));
	}

	@Test
	@DisplayName("Of several days: to renew one lasts no longer than other operations")
	void days() {
		Duration ttl = Duration.ofDays(3);
		this.node.thenStored("v1").thenStored("v2").thenSilence();

		Lease renewed = one(this.leases.renew(one(this.leases.tryAcquire("job", ttl)), ttl));
		assertThat(renewed.token()).isEqualTo(new Version("v2"));
		assertThat(this.node.got().get(1).uri()).contains("timeout=");
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> this.leases.renew(renewed, ttl).block(PATIENCE));
	}

	@Test
	@DisplayName("One that was renewed without an answer is given back all the same")
	void renewedWithoutAnAnswer() {
		this.node.thenStored("v1")
			.thenProblem(412, "precondition-failed", ",\"outcome\":\"not-applied\",\"current\":\"\\\"v2\\\"\"");
		Lease lease = one(this.leases.tryAcquire("job", Duration.ofSeconds(30)));
		String owner = this.node.got().get(0).body();
		this.node.thenValue("v2", owner).thenStored("v3");

		assertThat(one(this.leases.release(lease))).isTrue();
		assertThat(this.node.got().get(3).method()).isEqualTo("DELETE");
		assertThat(this.node.got().get(3).header("If-Match")).isEqualTo("\"v2\"");
	}

	@Test
	@DisplayName("That of another holder is never given back")
	void ofAnother() {
		this.node.thenStored("v1")
			.thenProblem(412, "precondition-failed", ",\"outcome\":\"not-applied\",\"current\":\"\\\"v2\\\"\"")
			.thenValue("v2", "another");

		assertThat(one(this.leases.release(one(this.leases.tryAcquire("job", Duration.ofSeconds(30)))))).isFalse();
		assertThat(this.node.got()).hasSize(3);
	}

}
