package io.kvorum.api;

import java.time.Duration;

import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class SlowRequestsTests {

	private final SteeredTime time = new SteeredTime();

	private final SlowRequests slow = new SlowRequests(Duration.ofMillis(500), this.time.nanos());

	@Test
	void aSlowRequestIsToldWithItsSteps(CapturedOutput output) {
		end(499);
		assertThat(output.getAll()).doesNotContain("Slow:");
		end(500);
		assertThat(output.getAll()).contains(
				"Slow: PUT /v0/entity was answered with 201: total;dur=500.000, store;dur=3.000, replica;desc=\"http://node:9090 store pending\"");
	}

	@Test
	void thereIsOneLineASecondWhichCountsTheOthers(CapturedOutput output) {
		for (int i = 0; i < 10; i++) {
			end(600);
		}
		assertThat(output.getAll().split("Slow:", -1)).hasSize(1 + 5);
		assertThat(output.getAll()).contains("; 2 slow requests since the last such line");
	}

	@Test
	void aClientThatLeftIsTold(CapturedOutput output) {
		this.slow.ended("GET", "/v0/entities", 0, begun(700), this.time.nanos());
		assertThat(output.getAll()).contains("Slow: GET /v0/entities was left by its client: total;dur=700.000");
	}

	@Test
	void noneIsLoggedByDefault(CapturedOutput output) {
		SlowRequests none = new SlowRequests(null, this.time.nanos());
		none.ended("GET", "/v0/entity", 200, begun(3_600_000), this.time.nanos());
		assertThat(none.areLogged()).isFalse();
		assertThat(output.getAll()).doesNotContain("Slow:");
	}

	private void end(long millis) {
		this.slow.ended("PUT", "/v0/entity", 201, begun(millis), this.time.nanos());
	}

	/** The times of a request that has taken so long. */
	private ServerTiming begun(long millis) {
		ServerTiming timing = new ServerTiming(this.time);
		timing.asked("http://node:9090", Step.STORE, false);
		timing.took(Step.STORE, 3_000_000);
		this.time.pass(Duration.ofMillis(millis));
		return timing;
	}

}
