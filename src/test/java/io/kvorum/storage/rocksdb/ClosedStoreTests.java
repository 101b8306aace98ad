package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.EngineMeasures.Measure;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.Together;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls into a closed database end the JVM: here they end in an error. */
class ClosedStoreTests {

	private static final Key KEY = Generator.key("key");

	private static final Entry ENTRY = Generator.live(new Version(1, 1), "value");

	@TempDir
	private Path directory;

	@Test
	void afterACloseEveryCallSaysThatTheStoreIsNotOpen() {
		TestStore store = TestStore.on(this.directory);
		store.store(KEY, ENTRY);
		store.close();

		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> store.read(KEY))
			.withMessage("the store is not open");
		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> store.store(KEY, ENTRY));
		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> Awaited.of(store.engine.probe()));
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::identity);
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::clockBoundMillis);
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::collectExpired);
		assertThat(store.engine.storeClockBound(1).toCompletableFuture()).isCompletedExceptionally();
		assertThat(store.engine.isOutOfSpace()).isFalse();
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::digests);
		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> store.engine.waiting(1));
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::targets);
		assertThatExceptionOfType(Unavailable.class).isThrownBy(store.engine::isNew);
		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> store.engine.recorded("name"));
		assertThatExceptionOfType(Unavailable.class)
			.isThrownBy(() -> Awaited.of(store.engine.remove(KEY, ENTRY.version())));
		assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> Awaited.of(store.engine.add(1, KEY, ENTRY)));
	}

	@Test
	void everyMeasureIsANumberWhileTheStoreIsOpenAndNoneAfterwards() {
		TestStore store = TestStore.on(this.directory);
		store.store(KEY, ENTRY);
		List<Measure> measures = store.engine.measures();

		assertThat(measures).allSatisfy(measure -> assertThat(measure.reader().getAsDouble()).isNotNaN());
		assertThat(measures).extracting(Measure::name).doesNotHaveDuplicates();
		store.close();
		assertThat(measures).allSatisfy(measure -> assertThat(measure.reader().getAsDouble()).isNaN());
	}

	@Test
	void measuresFollowTheStoreOverAReopening() {
		try (TestStore store = TestStore.on(this.directory)) {
			List<Measure> measures = store.engine.measures();
			store.engine.close();
			store.engine.open();

			assertThat(measures).allSatisfy(measure -> assertThat(measure.reader().getAsDouble()).isNotNaN());
		}
	}

	@Test
	void writesThatAreQueuedWhenTheStoreIsClosedAreWrittenAndAnswered() throws InterruptedException {
		List<CompletableFuture<@Nullable StoreOutcome>> queued = new ArrayList<>();
		try (TestStore store = TestStore.on(this.directory)) {
			store.callers.hold();
			store.engine.probe().subscribe();
			store.callers.awaitHeld();
			for (int i = 0; i < 2000; i++) {
				queued.add(store.engine.store(Generator.key("key " + i), ENTRY, Deadline.NONE).toFuture());
			}
			Thread closing = Thread.ofPlatform().start(store.engine::close);
			while (closing.getState() != Thread.State.WAITING) {
				// Not yet where it waits for the committer.
				Thread.onSpinWait();
			}
			store.callers.release();
			closing.join();
		}
		assertThat(queued).allSatisfy(write -> assertThat(write).isCompletedWithValue(StoreOutcome.STORED));
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < 2000; i++) {
				assertThat(store.read(Generator.key("key " + i))).isEqualTo(ENTRY);
			}
		}
	}

	/** Reads of a value this large take longer than all else that a close waits for. */
	@SeededTest
	void aCloseWaitsForReadsThatAreInsideTheDatabase(long seed) {
		Generator random = new Generator(seed);
		Entry large = new Live(new Version(1, 1), 1, Live.NEVER, "x/y", Value.of(random.bytes(24 << 20)));
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, large);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			AtomicInteger reads = new AtomicInteger();
			int before = 2 + random.below(5);
			Together.run(3, thread -> () -> (thread == 0) ? closeAfter(store, reads, before)
					: readUntilClosed(store, reads, large));
		}
	}

	private static boolean readUntilClosed(TestStore store, AtomicInteger reads, Entry expected) {
		try {
			while (true) {
				reads.incrementAndGet();
				assertThat(store.read(KEY)).isEqualTo(expected);
			}
		}
		catch (Unavailable _) {
			return true;
		}
	}

	@SeededTest
	void howeverManyCallWhileItIsClosedEachIsAnsweredAndWhatWasStoredIsThereAndWhatWasRefusedIsNot(long seed) {
		Map<Key, Entry> stored = new HashMap<>();
		List<Key> refused = new ArrayList<>();
		for (int round = 0; round < 6; round++) {
			try (TestStore store = TestStore.on(this.directory)) {
				AtomicInteger calls = new AtomicInteger();
				int before = new Generator(seed + round).below(3000);
				int each = round;
				Together.run(5, thread -> () -> (thread == 0) ? closeAfter(store, calls, before)
						: callUntilClosed(store, calls, new Caller(seed, each, thread, stored, refused)));
			}
		}
		assertThat(refused).isNotEmpty();
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(stored).allSatisfy((key, entry) -> assertThat(store.read(key)).isEqualTo(entry));
			assertThat(refused).allSatisfy(key -> assertThat(store.read(key)).isNull());
		}
	}

	private record Caller(long seed, int round, int thread, Map<Key, Entry> stored, List<Key> refused) {

		Key key(int call) {
			return Generator.key("%d/%d/%d".formatted(this.round, this.thread, call));
		}

		void note(Key key, boolean wasStored) {
			synchronized (this.stored) {
				if (wasStored) {
					this.stored.put(key, ENTRY);
				}
				else {
					this.refused.add(key);
				}
			}
		}

	}

	private static boolean closeAfter(TestStore store, AtomicInteger calls, int before) {
		while (calls.get() < before) {
			Thread.onSpinWait();
		}
		store.engine.close();
		return true;
	}

	private static boolean callUntilClosed(TestStore store, AtomicInteger calls, Caller caller) {
		Generator random = new Generator(caller.seed + caller.thread);
		List<Measure> measures = store.engine.measures();
		for (int call = 0;; call++) {
			calls.incrementAndGet();
			Key key = caller.key(call);
			// A write is the last call: else it would be left to chance that one is
			// refused.
			switch (random.below(4)) {
				case 0 -> {
					var _ = random.oneOf(measures).reader().getAsDouble();
				}
				case 1, 2 -> answer(store, caller.key(random.below(call + 1)));
				default -> {
					if (!stored(store, key, caller)) {
						return true;
					}
				}
			}
		}
	}

	private static void answer(TestStore store, Key key) {
		try {
			store.read(key);
		}
		catch (Unavailable _) {
			// Refused, which is an answer too.
		}
	}

	private static boolean stored(TestStore store, Key key, Caller caller) {
		try {
			store.store(key, ENTRY);
			caller.note(key, true);
			return true;
		}
		catch (Unavailable _) {
			caller.note(key, false);
			return false;
		}
	}

}
