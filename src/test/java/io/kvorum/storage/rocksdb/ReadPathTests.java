package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Poll;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which thread answers a read. */
class ReadPathTests {

	private static final Key KEY = Generator.key("key");

	private static final Entry ENTRY = Generator.live(new Version(1, 1), "value");

	private static final Duration DEADLINE = Duration.ofSeconds(10);

	@TempDir
	private Path directory;

	@Test
	void whatWasWrittenLatelyIsReadWithoutTheDatabase() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, ENTRY);

			assertThat(store.read(KEY)).isEqualTo(ENTRY);
			assertThat(threadOfRead(store)).isEqualTo(Thread.currentThread().getName());
			assertThat(store.events.readsFromRowCache).hasValue(2);
			assertThat(store.events.readsFromMemory).hasValue(0);
			assertThat(store.events.readsFromDisk).hasValue(0);
		}
	}

	@Test
	void anEntryTooLongForTheRowCacheIsReadFromTheMemtable() {
		Entry large = Generator.live(new Version(2, 1), "x".repeat(2000));
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, ENTRY);
			store.store(KEY, large);

			assertThat(store.read(KEY)).isEqualTo(large);
			assertThat(store.events.readsFromRowCache).hasValue(0);
			assertThat(store.events.readsFromMemory).hasValue(1);
		}
	}

	@Test
	void whatAMemtableHoldsIsReadOnTheCallingThread() {
		try (TestStore store = new TestStore(TestSettings.withoutRowCache(this.directory))) {
			store.store(KEY, ENTRY);

			assertThat(threadOfRead(store)).isEqualTo(Thread.currentThread().getName());
			assertThat(store.events.readsFromMemory).hasValue(1);
			assertThat(store.events.readsFromDisk).hasValue(0);
		}
	}

	@Test
	void whatIsOnDiskOnlyIsReadOnTheStorageSchedulerAndFromThenOnFromMemory() {
		closedWith(ENTRY);
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(threadOfRead(store)).startsWith("test-reads");
			assertThat(store.events.readsFromDisk).hasValue(1);
			assertThat(store.read(KEY)).isEqualTo(ENTRY);
			assertThat(threadOfRead(store)).isEqualTo(Thread.currentThread().getName());
			assertThat(store.events.readsFromDisk).hasValue(1);
		}
	}

	@ParameterizedTest
	@CsvSource({ "5, 1", "2000, 0" })
	void whatHasBeenReadIsKeptBeforeTheNextWriteIfItIsNotTooLong(int length, int readsFromRowCache) {
		Entry entry = Generator.live(new Version(1, 1), "x".repeat(length));
		closedWith(entry);
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isEqualTo(entry);
			store.store(Generator.key("other"), ENTRY);

			assertThat(store.read(KEY)).isEqualTo(entry);
			assertThat(store.events.readsFromRowCache).hasValue(readsFromRowCache);
		}
	}

	@Test
	void whatHasBeenReadIsKeptWithoutAnyWriteOnceItIsWorthWakingTheCommitter() throws InterruptedException {
		closedWith(ENTRY);
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < RowFills.ENOUGH; i++) {
				assertThat(store.read(KEY)).isEqualTo(ENTRY);
			}
			Poll.until(() -> "the row is kept", DEADLINE, () -> store.engine.rows().get(KEY) != null);
		}
	}

	@Test
	void aKeyThatMemoryKnowsToBeAbsentNeedsNoHop() {
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.read(KEY)).isNull();
			assertThat(store.events.readsFromDisk).hasValue(0);
		}
	}

	@Test
	void aReadThatFindsTheQueueFullIsRefusedWithTheNameOfTheLimitAndThoseInTheQueueAreAnswered() {
		closedWith(ENTRY);
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = new TestStore(TestSettings.withReadQueue(this.directory, 1))) {
			store.reads.schedule(() -> {
				taken.countDown();
				await(busy);
			});
			await(taken);
			// The one thread is taken, and the one place in the queue by this.
			CompletableFuture<@Nullable Entry> queued = store.engine.read(KEY, Deadline.NONE).toFuture();

			assertThatExceptionOfType(Overloaded.class).isThrownBy(() -> store.read(KEY))
				.withMessage("kvorum.storage.read-queue-length of 1 is reached");
			assertThat(store.events.overloaded).hasValue(1);
			busy.countDown();
			assertThat(queued.join()).isEqualTo(ENTRY);
		}
	}

	@Test
	void aReadWhoseTimeIsOverSaysSoAndNamesNoNegativeTime() {
		closedWith(ENTRY);
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = new TestStore(TestSettings.withReadQueue(this.directory, 2))) {
			store.reads.schedule(() -> await(busy));
			Deadline passed = new Deadline(store.time.nanos() - 1);

			assertThatExceptionOfType(ReadTimedOut.class).isThrownBy(() -> Awaited.of(store.engine.read(KEY, passed)))
				.withMessage("the time of the read was over before the disk was asked");
			busy.countDown();
		}
	}

	/**
	 * The database has a batch before the row cache does. Who has waited for the disk
	 * meanwhile must not be told of it before all others are.
	 */
	@Test
	void aReadThatWaitedForTheDiskIsNotAheadOfTheRowCache() {
		closedWith(ENTRY);
		Entry applied = Generator.live(new Version(2, 1), "applied");
		Entry written = Generator.live(new Version(3, 1), "written");
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = new TestStore(TestSettings.withReadQueue(this.directory, 2))) {
			store.reads.schedule(() -> await(busy));
			CompletableFuture<@Nullable Entry> waiting = store.engine.read(KEY, Deadline.NONE).toFuture();
			store.store(KEY, written);
			store.engine.rows().put(KEY, EntryFormat.encode(KEY, applied));

			busy.countDown();

			assertThat(waiting.join()).isEqualTo(applied);
			assertThat(store.read(KEY)).isEqualTo(applied);
		}
	}

	private void closedWith(Entry entry) {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, entry);
		}
	}

	private static String threadOfRead(TestStore store) {
		String thread = Awaited.of(store.engine.read(KEY, Deadline.NONE).map(_ -> Thread.currentThread().getName()));
		return String.valueOf(thread);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
