package io.kvorum.storage;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The promises of a store that its entries do not tell. An entry that was stored under a
 * ballot is a promise of it, and needs no row here.
 * <p>
 * Errors are {@link StorageException}s; results arrive as those of a
 * {@link StorageEngine}.
 */
public interface PromiseLog {

	/** The promises that {@link #all} reads at a time. */
	int PAGE = 1024;

	/**
	 * Promises in the order of their keys.
	 * @param after the last key of the previous call; null to begin
	 * @param limit the most promises
	 */
	Mono<List<PromiseRecord>> promises(@Nullable Key after, int limit, Deadline deadline);

	/**
	 * As {@link #promises}, but leaves out what cannot be read, and fails only if that is
	 * all. A replica refuses to store what it cannot compare with a promise.
	 */
	default Mono<List<PromiseRecord>> readable(@Nullable Key after, int limit, Deadline deadline) {
		return promises(after, limit, deadline);
	}

	/**
	 * All promises behind a key, read page by page as they are asked for.
	 * @param after null to begin with the first
	 * @param pageTimeout the time of each page
	 */
	default Flux<PromiseRecord> all(@Nullable Key after, TimeSource time, Duration pageTimeout) {
		return pages(from -> promises(from, PAGE, Deadline.after(time, pageTimeout)), after);
	}

	/** As {@link #all}, of {@link #readable} promises. */
	default Flux<PromiseRecord> allReadable(@Nullable Key after, TimeSource time, Duration pageTimeout) {
		return pages(from -> readable(from, PAGE, Deadline.after(time, pageTimeout)), after);
	}

	private static Flux<PromiseRecord> pages(Function<@Nullable Key, Mono<List<PromiseRecord>>> page,
			@Nullable Key after) {
		return page.apply(after)
			.expand(read -> (read.size() < PAGE) ? Mono.empty() : page.apply(read.getLast().key()))
			.flatMapIterable(Function.identity(), 1);
	}

	/** Keeps a promise that another replica has made, unless a higher one is here. */
	Mono<Void> keep(Key key, Version promise);

	/** Removes a promise, unless a higher one has been made since. */
	Mono<Void> forget(PromiseRecord promise);

}
