package io.kvorum.testing;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What another thread has to give: a store on a disk answers by its committer's thread,
 * or by one that reads. The waiting is the test's own; what needs none is {@link Now}.
 */
public final class Awaited {

	private Awaited() {
	}

	/** What it gives, or throws. */
	public static <T> @Nullable T of(Mono<T> answer) {
		// On the thread of a test, which has nothing else to do.
		return answer.block();
	}

}
