package io.kvorum.spring.cache;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

class PendingWritesTests {

	private final PendingWrites writes = new PendingWrites();

	private final List<String> begun = new ArrayList<>();

	private Mono<Void> write(String name, Sinks.Empty<Void> end) {
		return Mono.defer(() -> {
			this.begun.add(name);
			return end.asMono();
		});
	}

	private Mono<Void> done(String name) {
		return Mono.fromRunnable(() -> this.begun.add(name));
	}

	@Test
	void ofThoseThatWaitForTheOneUnderWayTheLastIsDone() {
		Sinks.Empty<Void> first = Sinks.empty();
		Sinks.Empty<Void> last = Sinks.empty();
		this.writes.begin("key", write("first", first));
		for (int i = 0; i < 1_000; i++) {
			this.writes.begin("key", done("between"));
		}
		this.writes.begin("key", write("last", last));
		this.writes.begin("other", done("of another key"));
		CompletableFuture<?> settled = this.writes.settled("key").toFuture();

		assertThat(this.begun).containsExactly("first", "of another key");
		first.tryEmitError(new IllegalStateException("as it was told")).orThrow();
		assertThat(this.begun).containsExactly("first", "of another key", "last");
		assertThat(settled).isNotDone();
		last.tryEmitEmpty().orThrow();
		assertThat(settled).isCompleted();
		assertThat(this.writes.allSettled().toFuture()).isCompleted();

		this.writes.begin("key", done("afterwards"));
		assertThat(this.begun).endsWith("afterwards");
	}

	@Test
	void whatBeginsLaterIsNotWaitedFor() {
		List<Sinks.Empty<Void>> ends = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			ends.add(Sinks.empty());
		}
		this.writes.begin("key", write("first", ends.get(0)));
		CompletableFuture<?> afterFirst = this.writes.settled("key").toFuture();
		this.writes.begin("key", write("second", ends.get(1)));
		CompletableFuture<?> afterSecond = this.writes.settled("key").toFuture();
		CompletableFuture<?> afterAll = this.writes.allSettled().toFuture();
		this.writes.begin("key", write("instead of it", ends.get(2)));

		ends.get(0).tryEmitEmpty().orThrow();
		assertThat(afterFirst).isCompleted();
		this.writes.begin("key", write("fourth", ends.get(3)));
		assertThat(afterSecond).isNotDone();
		assertThat(afterAll).isNotDone();
		ends.get(2).tryEmitEmpty().orThrow();
		assertThat(afterSecond).isCompleted();
		assertThat(afterAll).isCompleted();
		assertThat(this.begun).containsExactly("first", "instead of it", "fourth");
	}

	@Test
	void aWriteThatBeginsAnotherOneDoesNotRecurse() {
		for (int i = 0; i < 100_000; i++) {
			this.writes.begin("key", done("write"));
		}
		assertThat(this.begun).hasSize(100_000);
	}

}
