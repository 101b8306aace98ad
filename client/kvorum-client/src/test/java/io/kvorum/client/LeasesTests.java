package io.kvorum.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

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

	private final AtomicLong nanos = new AtomicLong();

	private final Leases leases = new Leases(this.client, "leases/", this.nanos::get);

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

	/** Without an answer nobody would know that it ends earlier. */
	@Test
	@DisplayName("To renew one for less than is left makes it not shorter")
	void less() {
		this.node.thenStored("v1").thenStored("v2");

		Lease lease = one(this.leases.tryAcquire("job", Duration.ofSeconds(60)));
		Lease renewed = one(this.leases.renew(lease, Duration.ofSeconds(3)));
		assertThat(renewed.remaining()).isEqualTo(lease.remaining());
		assertThat(this.node.got()).extracting(got -> got.uri().replaceAll(".*(ttl=[^&]*).*", "$1"))
			.allMatch(this.node.got().get(0).uri().replaceAll(".*(ttl=[^&]*).*", "$1")::equals);
	}

	/** Answers when a lease of 30 s is over. */
	private FakeNode thenStoredTooLate(String version) {
		return this.node.then(reply -> {
			this.nanos.addAndGet(Duration.ofSeconds(30).toNanos());
			return reply.send(201, Map.of("Kvorum-Consistency", "linearizable", "ETag", "\"" + version + "\""), "");
		});
	}

	@Test
	@DisplayName("One that has ended before it was known to be taken is given back, and nobody has it")
	void takenTooLate() {
		thenStoredTooLate("v1").thenStored("v2");

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> this.leases.tryAcquire("job", Duration.ofSeconds(30)).block(PATIENCE))
			.withMessageContaining("after the end of the lease job")
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED));
		assertThat(this.node.got().get(1).method()).isEqualTo("DELETE");
		assertThat(this.node.got().get(1).header("If-Match")).isEqualTo("\"v1\"");
	}

	@Test
	@DisplayName("One that has ended and cannot be given back may be taken by nobody")
	void notGivenBack() {
		thenStoredTooLate("v1").thenProblem(401, "unauthorized");

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> this.leases.tryAcquire("job", Duration.ofSeconds(30)).block(PATIENCE))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
	}

	@Test
	@DisplayName("One that has ended before it was known to be renewed has ended, and is given back")
	void renewedTooLate() {
		this.node.thenStored("v1");
		thenStoredTooLate("v2").thenStored("v3");
		Lease lease = one(this.leases.tryAcquire("job", Duration.ofSeconds(30)));

		assertThat(this.leases.renew(lease, Duration.ofSeconds(30)).blockOptional(PATIENCE)).isEmpty();
		assertThat(this.node.got()).last().extracting(FakeNode.Got::method).isEqualTo("DELETE");
	}

	@Test
	@DisplayName("A short one is not waited for behind its end")
	void shortOne() {
		this.node.thenStored("v1");

		one(this.leases.tryAcquire("job", Duration.ofSeconds(2)));
		String told = this.node.got().get(0).uri();
		assertThat(Integer.parseInt(told.replaceAll(".*timeout=|ms", ""))).isLessThanOrEqualTo(900);
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
