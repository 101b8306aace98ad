package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Durability;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads of one key by several threads while it is written, and while other keys push it
 * out of the row cache again and again: none gives what is older than what a read has
 * given that ended before it began, or than what has been acknowledged by then.
 */
class ConcurrentReadTests {

	private static final Key KEY = Generator.key("key");

	private static final int ROUNDS = 4000;

	private static final int READERS = 2;

	/** After some of these the row cache of a test has lost the key. */
	private static final int OTHERS = 90;

	private final AtomicLong newestSeen = new AtomicLong();

	private final AtomicBoolean done = new AtomicBoolean();

	@TempDir
	private Path directory;

	@Test
	void noReadGoesBack() {
		try (TestStore store = new TestStore(TestSettings.of(this.directory, Durability.OS))) {
			store.store(KEY, entry(1));
			List<Long> reads = Together.run(1 + READERS, thread -> (thread == 0) ? writer(store) : reader(store));

			assertThat(reads.subList(1, 1 + READERS)).allMatch(count -> count > ROUNDS / 10);
			assertThat(store.events.readsFromRowCache.get()).isPositive();
			assertThat(store.events.readsFromMemory.get()).isPositive();
		}
	}

	private Callable<Long> writer(TestStore store) {
		return () -> {
			try {
				for (long round = 2; round < ROUNDS; round++) {
					CompletableFuture<?> stored = store.engine.store(KEY, entry(round), Deadline.NONE).toFuture();
					for (int i = 0; i < round % OTHERS; i++) {
						Key other = Generator.key("other " + i);
						store.engine.store(other, Generator.live(new Version(round, 1), "x".repeat(900)), Deadline.NONE)
							.subscribe();
					}
					stored.join();
					seen(round);
				}
			}
			finally {
				this.done.set(true);
			}
			return 0L;
		};
	}

	private Callable<Long> reader(TestStore store) {
		return () -> {
			long count = 0;
			for (; !this.done.get(); count++) {
				long before = this.newestSeen.get();
				long read = store.engine.read(KEY, Deadline.NONE)
					.map(found -> found.version().timestamp())
					.toFuture()
					.join();
				assertThat(read).isGreaterThanOrEqualTo(before);
				seen(read);
			}
			return count;
		};
	}

	private void seen(long round) {
		this.newestSeen.accumulateAndGet(round, Math::max);
	}

	/** Some are large, and so are not in the cache. */
	private static Entry entry(long round) {
		return Generator.live(new Version(round, 1), "x".repeat((round % 5 == 0) ? LargeRow.MIN_BYTES : 5));
	}

}
