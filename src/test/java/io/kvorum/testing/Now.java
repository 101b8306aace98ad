package io.kvorum.testing;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What needs no other thread, and is there when it is asked for. */
public final class Now {

	private Now() {
	}

	/** What it gives, or throws; it fails where that would have to be waited for. */
	public static <T> @Nullable T of(Mono<T> mono) {
		CompletableFuture<@Nullable T> future = mono.toFuture();
		assertThat(future).isDone();
		if (future.isCompletedExceptionally() && future.exceptionNow() instanceof RuntimeException ex) {
			throw ex;
		}
		return future.getNow(null);
	}

}
