package io.kvorum.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What a request waits for")
class SendingTests {

	private static final Duration PATIENCE = Duration.ofMillis(500);

	private final AtomicLong nanos = new AtomicLong();

	@Test
	@DisplayName("Where a connection is free, a node has all of the time, also until it has accepted it")
	void free() {
		Sending sending = new Sending(false, this.nanos::get);
		after(400);
		assertThat(sending.begin()).isTrue();
		after(99);
		assertThat(sending.hasWaited(PATIENCE)).isFalse();
		after(1);
		assertThat(sending.hasWaited(PATIENCE)).isTrue();
	}

	@Test
	@DisplayName("Where all connections are in use, a node has the time from when one became free")
	void crowded() {
		Sending sending = new Sending(true, this.nanos::get);
		after(1000);
		assertThat(sending.hasWaited(PATIENCE)).isFalse();
		assertThat(sending.begin()).isTrue();
		after(499);
		assertThat(sending.hasWaited(PATIENCE)).isFalse();
		after(1);
		assertThat(sending.hasWaited(PATIENCE)).isTrue();
	}

	@Test
	@DisplayName("What was given up before it was sent never is")
	void abandoned() {
		Sending sending = new Sending(true, this.nanos::get);
		assertThat(sending.abandon()).isTrue();
		assertThat(sending.begin()).isFalse();
		assertThat(sending.isHeldUpHere()).isTrue();
	}

	private void after(long millis) {
		this.nanos.addAndGet(Duration.ofMillis(millis).toNanos());
	}

}
