package io.kvorum.coordination;

import java.time.Duration;

import io.kvorum.coordination.CoordinationSettings.Idempotency;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RequestLimitTests {

	private static final Duration KEPT = Duration.ofMinutes(10);

	private final SteeredTime time = new SteeredTime();

	private final RequestLimit limit = new RequestLimit(this.time, new Idempotency(KEPT, 3));

	@Test
	void recordsCountUntilTheyExpire() {
		assertThat(this.limit.tryMake()).isTrue();
		this.time.pass(KEPT.dividedBy(2));
		assertThat(this.limit.tryMake()).isTrue();
		assertThat(this.limit.tryMake()).isTrue();
		assertThat(this.limit.tryMake()).as("one more than the limit").isFalse();
		assertThat(this.limit.size()).isEqualTo(3);

		this.time.pass(KEPT.dividedBy(2));
		assertThat(this.limit.size()).isGreaterThanOrEqualTo(2);
		this.time.pass(KEPT.dividedBy(60).multipliedBy(2));
		assertThat(this.limit.size()).isEqualTo(2);
		assertThat(this.limit.tryMake()).isTrue();
	}

	@Test
	void afterALongTimeNoneCounts() {
		while (this.limit.tryMake()) {
			this.time.pass(Duration.ofSeconds(1));
		}
		this.time.pass(Duration.ofDays(1));
		assertThat(this.limit.size()).isZero();
	}

	@Test
	void aRequestIsUnderWayOnce() {
		assertThat(this.limit.begin(Generator.key("one"))).isTrue();
		assertThat(this.limit.begin(Generator.key("one"))).isFalse();
		assertThat(this.limit.begin(Generator.key("other"))).isTrue();
		this.limit.end(Generator.key("one"));
		assertThat(this.limit.begin(Generator.key("one"))).isTrue();
	}

}
