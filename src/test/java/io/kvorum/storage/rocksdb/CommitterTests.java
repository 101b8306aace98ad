package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Digests;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Poll;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of the one thread that writes, and of those who wait for it. */
class CommitterTests {

	private static final Executor INLINE = Runnable::run;

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Duration DEADLINE = Duration.ofSeconds(10);

	private static final int SLICE_OF_KEY = Partitions.sliceOf(Partitions.ofHash(Generator.key("key").hashCode()));

	@TempDir
	private Path directory;

	private final RecordedEvents events = new RecordedEvents();

	private final List<Throwable> failures = new ArrayList<>();

	private final Digests digests = new Digests(1);

	private final SteeredTime time = new SteeredTime();

	private @Nullable Database opened;

	private @Nullable Committer started;

	@BeforeEach
	void open() {
		RocksSettings settings = TestSettings.of(this.directory);
		this.opened = Database.open(settings);
		this.started = new Committer(this.opened, Derived.of(this.digests, hints(this.opened), 0), settings, this.time,
				this.events, this::failed);
	}

	private static HintCounts hints(Database database) {
		try {
			return HintCounts.read(database);
		}
		catch (RocksDBException ex) {
			throw new AssertionError(ex);
		}
	}

	private void failed(Throwable cause) {
		this.failures.add(cause);
		throw new IllegalStateException("whoever should end the process is in trouble");
	}

	@AfterEach
	void close() {
		committer().close();
		database().close();
	}

	@Test
	void resultsThatAreReadyTogetherAreHandedOverInOneTaskForEachCaller() {
		CountingExecutor one = new CountingExecutor();
		CountingExecutor other = new CountingExecutor();
		List<CompletableFuture<?>> writes = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			writes.add(store("key " + i, (i % 2 == 0) ? one : other));
		}
		committer().start();
		CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).join();

		assertThat(this.events.batches).containsExactly(10);
		assertThat(one.tasks).hasValue(1);
		assertThat(other.tasks).hasValue(1);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void aDiskThatHangsIsToldOfOnceAndThatItAnswersAgain(CapturedOutput output) throws InterruptedException {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		CompletableFuture<?> stored = store("key", task -> {
			if (begun.getCount() > 0) {
				begun.countDown();
				await(answered);
			}
			task.run();
		});
		committer().start();
		begun.await();
		try {
			committer().failOverdue();
			assertThat(output).doesNotContain("hangs");
			this.time.pass(LONG);
			committer().failOverdue();
			committer().failOverdue();
			assertThat(output).containsOnlyOnce("The disk hangs").doesNotContain("answers again");
		}
		finally {
			answered.countDown();
		}
		assertThat(stored).failsWithin(DEADLINE);
		Poll.until(() -> "the disk answers again", DEADLINE, () -> {
			committer().failOverdue();
			return output.getAll().contains("The disk answers again");
		});
		committer().failOverdue();

		assertThat(output).containsOnlyOnce("The disk hangs").containsOnlyOnce("The disk answers again");
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void aResultIsTheCallersOnlyAfterItsBatchIsWritten() {
		CompletableFuture<Boolean> stored = new CompletableFuture<>();
		var _ = store("key", task -> {
			stored.complete(isStored("key"));
			task.run();
		});
		committer().start();

		assertThat(stored.join()).isTrue();
	}

	@Test
	void aCallerThatTakesNoMoreTasksIsServedByTheCommitter() {
		CompletableFuture<?> write = store("key", _ -> {
			throw new RejectedExecutionException("the event loop is shutting down");
		});
		committer().start();

		assertThat(write.join()).isEqualTo(StoreOutcome.STORED);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void aCallerThatThrowsKeepsNoResultFromTheOthersAndDoesNotEndTheCommitter() {
		CompletableFuture<?> before = store("a", INLINE);
		var _ = this.<Void>mono(_ -> null, INLINE).doOnSuccess(_ -> {
			throw Exceptions.bubble(new IllegalStateException("the caller is in trouble"));
		}).subscribe();
		CompletableFuture<?> after = store("b", INLINE);
		committer().start();

		before.join();
		after.join();
		assertThat(store("c", INLINE).join()).isEqualTo(StoreOutcome.STORED);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void aWriteThatCannotReadWhatIsThereFailsAlone() {
		CompletableFuture<?> unreadable = submit(new RocksDBException("a damaged block"));
		CompletableFuture<?> other = store("key", INLINE);
		committer().start();
		committer().close();

		assertFails(unreadable, Unreadable.class);
		assertThat(other.join()).isEqualTo(StoreOutcome.STORED);
		assertThat(this.events.unreadable).hasValue(1);
		assertThat(this.failures).isEmpty();
		assertThat(committer().hasWrittenAll()).isTrue();
	}

	@Test
	void aDiskThatFailsAWriteEndsTheCommitterAndAllAreAnsweredAndItIsToldOnce() throws RocksDBException {
		database().db.dropColumnFamily(database().meta);
		CompletableFuture<?> stored = store("key", INLINE);
		CompletableFuture<?> failing = meta();
		committer().start();
		committer().close();

		assertFails(stored, WriteFailed.class);
		assertFails(failing, WriteFailed.class);
		assertFails(store("later", INLINE), Unavailable.class);
		assertThat(this.failures).hasSize(1);
		assertThat(committer().hasWrittenAll()).isFalse();
		// What was not written is not in the digests.
		assertThat(this.digests.slices()).doesNotContain(SLICE_OF_KEY);
	}

	@Test
	void aBugInAWriteEndsTheCommitterAndAllAreAnsweredAndItIsToldOnce() {
		CompletableFuture<?> first = store("key", INLINE);
		CompletableFuture<?> bug = submit(new IllegalStateException("a bug"));
		CompletableFuture<?> last = store("other", INLINE);
		committer().start();
		committer().close();

		assertFails(first, WriteFailed.class);
		assertFails(bug, WriteFailed.class);
		assertFails(last, WriteFailed.class);
		assertFails(store("later", INLINE), Unavailable.class);
		assertThat(this.failures).hasSize(1);
		assertThat(committer().hasWrittenAll()).isFalse();
	}

	@Test
	void whatIsQueuedBehindAFailureIsAnsweredToo() throws RocksDBException {
		database().db.dropColumnFamily(database().meta);
		CompletableFuture<?> failing = meta();
		List<CompletableFuture<?>> behind = new ArrayList<>();
		for (int i = 0; i < 3000; i++) {
			behind.add(store("key " + i, INLINE));
		}
		committer().start();
		committer().close();

		assertFails(failing, WriteFailed.class);
		assertThat(behind).allSatisfy(write -> assertFails(write, StorageException.class));
		assertThat(committer().queuedWrites()).isZero();
		assertThat(committer().queuedBytes()).isZero();
	}

	@Test
	void whatIsQueuedWhenItIsClosedIsWritten() {
		List<CompletableFuture<?>> queued = new ArrayList<>();
		for (int i = 0; i < 3000; i++) {
			queued.add(store("key " + i, INLINE));
		}
		committer().start();
		committer().close();

		assertThat(queued)
			.allSatisfy(write -> assertThat(write).isCompletedWithValueMatching(StoreOutcome.STORED::equals));
		assertFails(store("later", INLINE), Unavailable.class);
	}

	@Test
	void aWriteThatIsTakenJustWhenTheCommitterEndsIsAnswered() {
		committer().start();
		CompletableFuture<?> write = mono(new Change<Void>() {

			@Override
			public @Nullable Void addTo(Batch batch) {
				return null;
			}

			@Override
			public int addedBytes() {
				// Called after the committer was found open.
				committer().close();
				return 0;
			}

		}, INLINE).toFuture();

		assertFails(write, Unavailable.class);
		assertThat(committer().queuedWrites()).isZero();
		assertThat(committer().queuedBytes()).isZero();
	}

	private Committer committer() {
		return Objects.requireNonNull(this.started);
	}

	private Database database() {
		return Objects.requireNonNull(this.opened);
	}

	private boolean isStored(String key) {
		try {
			return database().db.get(database().entries, Generator.key(key).bytes()) != null;
		}
		catch (RocksDBException ex) {
			throw new AssertionError(ex);
		}
	}

	private CompletableFuture<? extends @Nullable Object> store(String name, Executor caller) {
		var key = Generator.key(name);
		Live entry = Generator.live(new Version(1, 1), "value");
		return mono(new Change.Store(IndexedKey.of(key, Key::hashCode), EncodedEntry.of(key, entry), Acceptor::store),
				caller)
			.toFuture();
	}

	private CompletableFuture<? extends @Nullable Object> meta() {
		return this.<Void>mono(batch -> {
			batch.putMeta(new byte[] { 1 }, new byte[] { 1 });
			return null;
		}, INLINE).toFuture();
	}

	/** A write that fails before it is in the batch. */
	private CompletableFuture<? extends @Nullable Object> submit(Exception failure) {
		return this.<Void>mono(_ -> {
			if (failure instanceof RocksDBException ex) {
				throw ex;
			}
			throw new IllegalStateException(failure);
		}, INLINE).toFuture();
	}

	private <T> Mono<T> mono(Change<T> change, Executor caller) {
		return Mono.create(sink -> committer().submit(new Write<>(change, sink, caller, 0, Deadline.NONE)));
	}

	/** Of a committer that has ended, so that nothing is left to wait for. */
	private static void assertFails(CompletableFuture<?> write, Class<? extends Throwable> with) {
		assertThat(write).isCompletedExceptionally();
		assertThat(write.exceptionNow()).isInstanceOf(with);
	}

	/** Counts the tasks it is given. */
	private static final class CountingExecutor implements Executor {

		private final AtomicInteger tasks = new AtomicInteger();

		@Override
		public void execute(Runnable task) {
			this.tasks.incrementAndGet();
			task.run();
		}

	}

}
