package io.kvorum.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

import static org.assertj.core.api.Assertions.assertThat;

/** What happens to others when an operation is cancelled. */
class CancelTests {

	private static final int ROUNDS = 100;

	private static final int OPERATIONS = 64;

	/**
	 * Few connections, so that each one is used again as soon as it is free, perhaps
	 * while the operation that had it is cancelled.
	 */
	@Test
	void othersDoNotNotice() throws InterruptedException {
		try (FakeNode node = new FakeNode().thenStored("1");
				KvorumClient client = KvorumClient.builder(List.of(node.url()))
					.maxConnections(16)
					.maxAttempts(1)
					.deadline(Duration.ofSeconds(30))
					.attemptTimeout(Duration.ofSeconds(30))
					.build()) {
			Entities<String> texts = client.entities(Codec.text());
			Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
			for (int round = 0; round < ROUNDS; round++) {
				CountDownLatch ended = new CountDownLatch(OPERATIONS / 2);
				List<Disposable> cancelled = new ArrayList<>();
				for (int i = 0; i < OPERATIONS; i++) {
					if (i % 2 == 0) {
						cancelled.add(texts.put("cancelled", "x").subscribe(version -> {
						}, error -> {
						}));
					}
					else {
						texts.put("kept", "x").doFinally(signal -> ended.countDown()).subscribe(version -> {
						}, errors::add);
					}
				}
				cancelled.forEach(Disposable::dispose);
				assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
			}
			assertThat(errors.stream().map(Throwable::getMessage).distinct()).isEmpty();
		}
	}

}
