package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Group commit, and the limits of the queue before it. */
class WriteQueueTests {

	private static final long LARGE = 64 << 20;

	private static final Duration LONG = Duration.ofHours(1);

	@TempDir
	private Path directory;

	@Test
	void whatGathersWhileABatchIsHandedBackGoesIntoOneBatch() {
		try (TestStore store = TestStore.on(this.directory)) {
			keepCommitterBusy(store);
			List<CompletableFuture<@Nullable StoreOutcome>> gathered = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				gathered.add(submit(store, "key " + i, "value"));
			}
			store.callers.release();

			assertThat(gathered).allSatisfy(write -> assertThat(write.join()).isEqualTo(StoreOutcome.STORED));
			assertThat(store.events.batches).containsExactly(1, 20);
		}
	}

	@Test
	void ofSeveralWritesOfOneKeyInABatchTheNewestRemainsWhateverTheirOrder() {
		try (TestStore store = TestStore.on(this.directory)) {
			Key key = Generator.key("key");
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> middle = submit(store, key, new Version(2, 1));
			CompletableFuture<@Nullable StoreOutcome> newest = submit(store, key, new Version(3, 1));
			CompletableFuture<@Nullable StoreOutcome> oldest = submit(store, key, new Version(1, 1));
			CompletableFuture<@Nullable StoreOutcome> same = submit(store, key, new Version(3, 1));
			store.callers.release();

			assertThat(middle.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(newest.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(oldest.join()).isEqualTo(StoreOutcome.SUPERSEDED);
			assertThat(same.join()).isEqualTo(StoreOutcome.SUPERSEDED);
			assertThat(store.events.batches).containsExactly(1, 4);
			assertThat(store.read(key)).isEqualTo(Generator.live(new Version(3, 1), "value"));
		}
	}

	@Test
	void aWriteThatFindsTheQueueFullIsRefusedWithTheNameOfTheLimitAndNeverStored() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 2, LARGE, LONG))) {
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> first = submit(store, "a", "value");
			CompletableFuture<@Nullable StoreOutcome> second = submit(store, "b", "value");

			assertRefused(submit(store, "c", "value"), "kvorum.storage.write-queue-length of 2 is reached");
			assertThat(store.events.overloaded).hasValue(1);
			store.callers.release();
			assertThat(first.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(second.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(store.read(Generator.key("c"))).isNull();
			assertThat(submit(store, "c", "later").join()).isEqualTo(StoreOutcome.STORED);
		}
	}

	@Test
	void aWriteThatFindsTheBytesOfTheQueueUsedUpIsRefusedWithTheNameOfTheLimitAndNeverStored() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 100, 10_000, LONG))) {
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> large = submit(store, "large", "x".repeat(9000));

			assertRefused(submit(store, "c", "x".repeat(2000)), "kvorum.storage.write-queue-size of 10000 is reached");
			assertThat(store.events.overloaded).hasValue(1);
			CompletableFuture<@Nullable StoreOutcome> small = submit(store, "small", "fits");
			store.callers.release();
			assertThat(large.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(small.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(store.read(Generator.key("c"))).isNull();
			assertThat(submit(store, "c", "x".repeat(9000)).join()).isEqualTo(StoreOutcome.STORED);
		}
	}

	@Test
	void aProbeThatFindsTheQueueFullFailsOnlyIfTheDiskHangs() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 1, LARGE, LONG))) {
			keepCommitterBusy(store);
			var _ = submit(store, "waits", "value");
			store.time.pass(Duration.ofSeconds(5));
			assertThat(store.engine.probe().toFuture()).isCompletedWithValue(null);

			store.time.pass(Duration.ofMillis(1));
			assertRefused(store.engine.probe().toFuture(), "kvorum.storage.write-queue-length of 1 is reached");
		}
	}

	@Test
	void whoAsksBeforehandIsRefusedWhileTheQueueIsFullAndCountedAndNotBeforeOrAfter() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 2, LARGE, LONG))) {
			keepCommitterBusy(store);
			assertThat(store.engine.refuseWrite(0)).isNull();
			var _ = submit(store, "a", "value");
			assertThat(store.engine.refuseWrite(0)).isNull();
			CompletableFuture<@Nullable StoreOutcome> last = submit(store, "b", "value");
			assertThat(store.engine.hasRoomFor(0)).isFalse();
			assertThat(store.events.overloaded).hasValue(0);

			assertThat(store.engine.refuseWrite(0)).hasMessage("kvorum.storage.write-queue-length of 2 is reached");
			assertThat(store.events.overloaded).hasValue(1);
			store.callers.release();
			last.join();
			assertThat(store.engine.hasRoomFor(0)).isTrue();
			assertThat(store.engine.refuseWrite(0)).isNull();
			assertThat(store.events.overloaded).hasValue(1);
			store.engine.close();
			assertThat(store.engine.hasRoomFor(0)).isTrue();
			assertThat(store.engine.refuseWrite(0)).isNull();
		}
	}

	@Test
	void whoAsksBeforehandIsRefusedWhereItsValueHasNoRoomAndASmallerOneIsNot() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 100, 10_000, LONG))) {
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> large = submit(store, "large", "x".repeat(9000));

			assertThat(store.engine.refuseWrite(2000))
				.hasMessage("kvorum.storage.write-queue-size of 10000 is reached");
			assertThat(store.engine.hasRoomFor(2000)).isFalse();
			assertThat(store.engine.refuseWrite(100)).isNull();
			assertThat(store.engine.hasRoomFor(100)).isTrue();
			assertThat(store.events.overloaded).hasValue(1);
			store.callers.release();
			large.join();
			assertThat(store.engine.refuseWrite(9000)).isNull();
		}
	}

	@Test
	void aWriteThatHasWaitedTooLongIsRefusedWithTheNameOfTheLimitAndNeverStored() {
		Duration limit = Duration.ofSeconds(1);
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 100, LARGE, limit))) {
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> late = submit(store, "late", "value");
			store.time.pass(Duration.ofMillis(1));
			CompletableFuture<@Nullable StoreOutcome> inTime = submit(store, "in time", "value");
			store.time.pass(limit);
			store.callers.release();

			assertRefused(late, "kvorum.storage.write-queue-time of PT1S is reached");
			assertThat(inTime.join()).isEqualTo(StoreOutcome.STORED);
			assertThat(store.read(Generator.key("late"))).isNull();
			assertThat(store.events.overloaded).hasValue(1);
		}
	}

	@Test
	void aWriteWhoseCallerWaitsNoLongerNamesNoLimitOfTheNode() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 100, LARGE, LONG))) {
			keepCommitterBusy(store);
			CompletableFuture<@Nullable StoreOutcome> late = store.engine
				.store(Generator.key("late"), Generator.live(new Version(1, 1), "value"),
						Deadline.after(store.time, Duration.ofMillis(5)))
				.toFuture();
			store.time.pass(Duration.ofMillis(6));
			store.callers.release();

			assertRefused(late, "the time of the operation was over before its turn came");
			assertThat(store.read(Generator.key("late"))).isNull();
		}
	}

	@Test
	void refusedWritesLeaveTheQueueAsLongAsItWas() {
		try (TestStore store = new TestStore(TestSettings.withWriteQueue(this.directory, 3, 5000, LONG))) {
			for (int round = 0; round < 5; round++) {
				keepCommitterBusy(store);
				CompletableFuture<@Nullable StoreOutcome> last = submit(store, "a" + round, "value");
				for (int i = 0; i < 10; i++) {
					assertThat(submit(store, "big", "x".repeat(5000))).isCompletedExceptionally();
				}
				store.callers.release();
				last.join();
			}
			assertThat(measure(store, "kvorum.storage.committer.queued")).isZero();
			assertThat(measure(store, "kvorum.storage.committer.queued.size")).isZero();
		}
	}

	/** Others ask again for what they do not know to be here. */
	@Test
	void withoutSpaceAStoreOfWhatIsThereIsAcknowledgedSinceItAddsNothing() {
		Key key = Generator.key("key");
		Entry held = Generator.live(new Version(2, 1), "value");
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(key, held);
		}
		try (TestStore store = new TestStore(TestSettings.withMinFreeBytes(this.directory, Long.MAX_VALUE))) {
			for (Entry each : List.of(held, Generator.live(new Version(1, 1), "older"))) {
				assertThat(Awaited.of(store.engine.store(key, each, Deadline.NONE))).isEqualTo(StoreOutcome.SUPERSEDED);
			}
			assertThat(store.events.outOfSpace).hasValue(0);
			assertThatExceptionOfType(NoSpace.class)
				.isThrownBy(() -> store.store(key, Generator.live(new Version(3, 1), "newer")));
			assertThatExceptionOfType(NoSpace.class)
				.isThrownBy(() -> Awaited.of(store.engine.prepare(key, new Version(3, 1), Deadline.NONE)));
			assertThat(store.events.outOfSpace).hasValue(2);
		}
	}

	@Test
	void withLessSpaceThanAskedForWritesAreRefusedBeforeTheyAreTriedAndReadsAndTheClockGoOn() {
		Key key = Generator.key("key");
		Entry entry = Generator.live(new Version(1, 1), "value");
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(key, entry);
		}
		try (TestStore store = new TestStore(TestSettings.withMinFreeBytes(this.directory, Long.MAX_VALUE))) {
			assertThatExceptionOfType(NoSpace.class)
				.isThrownBy(() -> store.store(key, Generator.live(new Version(2, 1), "newer")))
				.withMessageContaining("kvorum.storage.min-free-space of " + Long.MAX_VALUE)
				.matches(ex -> !ex.mayHaveBeenStored());
			assertThat(store.events.outOfSpace).hasValue(1);
			assertThat(store.engine.isOutOfSpace()).isTrue();
			assertThat(store.read(key)).isEqualTo(entry);
			store.engine.storeClockBound(1).toCompletableFuture().join();
			assertThatExceptionOfType(NoSpace.class).isThrownBy(() -> Awaited.of(store.engine.probe()));
			assertThat(store.events.outOfSpace).as("a probe is no write that was refused").hasValue(1);
			assertThat(store.failures).isEmpty();
		}
	}

	@Test
	void aCallerThatGivesUpLeavesTheWriteToBeDone() {
		try (TestStore store = TestStore.on(this.directory)) {
			keepCommitterBusy(store);
			store.engine.store(Generator.key("key"), Generator.live(new Version(1, 1), "value"), Deadline.NONE)
				.subscribe()
				.dispose();
			CompletableFuture<@Nullable StoreOutcome> next = submit(store, "next", "value");
			store.callers.release();
			next.join();

			assertThat(store.read(Generator.key("key"))).isEqualTo(Generator.live(new Version(1, 1), "value"));
		}
	}

	/** Returns when the committer has written one batch and waits in handing it back. */
	private static void keepCommitterBusy(TestStore store) {
		store.callers.hold();
		var _ = submit(store, "busy", "value");
		store.callers.awaitHeld();
	}

	private static CompletableFuture<@Nullable StoreOutcome> submit(TestStore store, String key, String value) {
		return store.engine.store(Generator.key(key), Generator.live(new Version(1, 1), value), Deadline.NONE)
			.toFuture();
	}

	private static CompletableFuture<@Nullable StoreOutcome> submit(TestStore store, Key key, Version version) {
		return store.engine.store(key, Generator.live(version, "value"), Deadline.NONE).toFuture();
	}

	private static void assertRefused(CompletableFuture<?> write, String message) {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(write::join)
			.havingCause()
			.isInstanceOf(Overloaded.class)
			.withMessage(message)
			.matches(ex -> ex instanceof Overloaded overloaded && !overloaded.mayHaveBeenStored());
	}

	private static double measure(TestStore store, String name) {
		return store.engine.measures()
			.stream()
			.filter(measure -> measure.name().equals(name))
			.findFirst()
			.orElseThrow()
			.reader()
			.getAsDouble();
	}

}
