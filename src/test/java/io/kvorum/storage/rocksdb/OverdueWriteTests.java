package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.kvorum.clock.Deadline;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.WriteTimedOut;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What the caller of a write is told when the disk hangs. */
class OverdueWriteTests {

	private final AtomicReference<Write<?>> created = new AtomicReference<>();

	private final CompletableFuture<@Nullable Void> told = Mono
		.<Void>create(sink -> this.created.set(new Write<>(_ -> null, sink, Runnable::run, 0, Deadline.NONE)))
		.toFuture();

	@Test
	void oneThatWaitsIsToldThatItWasNotTriedAndIsNotTriedAfterwards() {
		timeOut();

		assertThat(failure()).isInstanceOfSatisfying(Overloaded.class,
				told -> assertThat(told.mayHaveBeenStored()).isFalse());
		assertThat(write().begin()).isFalse();
	}

	@Test
	void oneThatHasBegunIsToldThatNobodyKnowsAndItsResultIsDropped() {
		assertThat(write().begin()).isTrue();
		timeOut();
		write().complete();

		assertThat(failure()).isInstanceOfSatisfying(WriteTimedOut.class,
				told -> assertThat(told.mayHaveBeenStored()).isTrue());
	}

	@Test
	void oneThatHasBeenToldItsResultIsToldNothingElse() {
		assertThat(write().begin()).isTrue();
		write().complete();
		timeOut();

		assertThat(this.told).isCompletedWithValue(null);
	}

	private void timeOut() {
		write().timeOut(() -> new Overloaded("kvorum.storage.write-queue-time", "1s"),
				() -> new WriteTimedOut(Duration.ofSeconds(2)));
	}

	private Write<?> write() {
		Write<?> write = this.created.get();
		assertThat(write).isNotNull();
		return write;
	}

	private @Nullable Throwable failure() {
		return this.told.exceptionNow();
	}

}
