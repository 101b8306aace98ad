package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.storage.HintLogContract;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Hints on disk: over restarts, in batches, and where they are damaged. */
class HintTests {

	private static final long NODE = 3;

	private static final Key KEY = Generator.key("key");

	@TempDir
	private Path directory;

	@SeededTest
	void hintsAndTheirCountsAreThereAfterACloseAndAfterAKill(long seed) {
		Path copy = this.directory.resolve("copy");
		Path original = this.directory.resolve("original");
		Generator random = new Generator(seed);
		Map<Long, Map<Key, Entry>> model = new HashMap<>();
		List<Key> keys = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			keys.add(random.key());
		}
		try (TestStore store = TestStore.on(original)) {
			Walk walk = new Walk(store.engine);
			for (int i = 0; i < 200; i++) {
				walk.walk(random, keys, model);
			}
			Disk.asAfterAKill(original, copy);
		}
		for (Path path : List.of(original, copy)) {
			try (TestStore store = TestStore.on(path)) {
				Walk.verify(store.engine, model);
			}
		}
	}

	@Test
	void whatABatchDoesToAHintIsSeenByWhatComesBehindItInTheBatch() {
		try (TestStore store = TestStore.on(this.directory)) {
			add(store, 5).join();
			store.callers.hold();
			store.engine.probe().subscribe();
			store.callers.awaitHeld();
			CompletableFuture<?> newer = add(store, 7);
			CompletableFuture<?> older = add(store, 6);
			CompletableFuture<?> removal = store.engine.remove(new Hint(NODE, KEY, entry(7))).toFuture();
			CompletableFuture<?> afterwards = add(store, 4);
			CompletableFuture<?> all = store.engine.removeAll(NODE).toFuture();
			CompletableFuture<?> last = add(store, 3);
			CompletableFuture<?> superseded = add(store, 2);
			store.callers.release();
			CompletableFuture.allOf(newer, older, removal, afterwards, all, last, superseded).join();

			assertThat(store.events.batches).last().isEqualTo(7);
			assertThat(newer).isCompletedWithValueMatching(Boolean.TRUE::equals);
			assertThat(older).isCompletedWithValueMatching(Boolean.FALSE::equals);
			assertThat(afterwards).isCompletedWithValueMatching(Boolean.TRUE::equals);
			assertThat(last).isCompletedWithValueMatching(Boolean.TRUE::equals);
			assertThat(superseded).isCompletedWithValueMatching(Boolean.FALSE::equals);
			Walk.verify(store.engine, Map.of(NODE, Map.of(KEY, entry(3))));
		}
	}

	@Test
	void withoutSpaceNoHintIsAddedAndHintsAreRemoved() {
		try (TestStore store = TestStore.on(this.directory)) {
			add(store, 5).join();
		}
		try (TestStore store = new TestStore(TestSettings.withMinFreeBytes(this.directory, Long.MAX_VALUE))) {
			assertThatExceptionOfType(NoSpace.class)
				.isThrownBy(() -> Awaited.of(store.engine.add(NODE, KEY, entry(6))));
			assertThat(store.engine.waiting(NODE).oldestMillis()).isEqualTo(5);
			Awaited.of(store.engine.remove(new Hint(NODE, KEY, entry(5))));
			assertThat(store.engine.waiting(NODE)).isEqualTo(Waiting.NONE);
		}
	}

	@Test
	void hintsOfADamagedTableAreDroppedWhenTheStoreIsOpenedAndOthersAreTaken() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			add(store, 5).join();
		}
		Tables.damage(this.directory, "hints");
		try (TestStore store = TestStore.on(this.directory)) {
			Walk.verify(store.engine, Map.of(NODE, Map.of()));
		}
	}

	@Test
	void hintsBeforeADamagedOneAreGivenAndThenItIsAnError() throws RocksDBException {
		Key other = Generator.key("other");
		try (TestStore store = TestStore.on(this.directory)) {
			add(store, 5).join();
			Awaited.of(store.engine.add(NODE, other, entry(6)));
		}
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.hints, HintRow.data(NODE, entry(6).version(), other.bytes()), new byte[50]);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Hint first = new Hint(NODE, KEY, entry(5));
			assertThat(Awaited.of(store.engine.oldest(NODE, 1000, 10, Deadline.NONE))).containsExactly(first);
			Awaited.of(store.engine.remove(first));
			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> Awaited.of(store.engine.oldest(NODE, 1000, 10, Deadline.NONE)));
		}
	}

	private static CompletableFuture<?> add(TestStore store, long millis) {
		return store.engine.add(NODE, KEY, entry(millis)).toFuture();
	}

	private static Entry entry(long millis) {
		return Generator.live(new Version(millis << Version.COUNTER_BITS, 1), "value");
	}

	/** Reaches the random walk of the contract. */
	private static final class Walk extends HintLogContract {

		private final HintLog log;

		Walk(HintLog log) {
			this.log = log;
		}

		@Override
		protected HintLog log() {
			return this.log;
		}

		void walk(Generator random, List<Key> keys, Map<Long, Map<Key, Entry>> model) {
			step(random, keys, model);
		}

		static void verify(HintLog log, Map<Long, Map<Key, Entry>> model) {
			assertIsLogOf(log, model);
		}

	}

}
