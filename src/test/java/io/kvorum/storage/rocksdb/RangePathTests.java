package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.EngineMeasures.Measure;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.Together;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How pages of ranges are read: where, beside what, and over what is damaged. */
class RangePathTests {

	private static final int ENTRIES = 400;

	private static final Page.Limit ROOMY = Page.Limit.of(Page.Limit.MAX_BYTES, 10_000);

	private static final Entry ENTRY = Generator.live(new Version(1, 1), "value");

	@TempDir
	private Path directory;

	private static Key key(int i) {
		return Generator.key("key %05d".formatted(i));
	}

	/** Of values that do not compress. */
	private List<Entry> fill() {
		Generator random = new Generator(1);
		List<Entry> stored = new ArrayList<>();
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < ENTRIES; i++) {
				stored.add(new Live(new Version(1, i), 1, Live.NEVER, "x/y", Value.of(random.bytes(500))));
				store.store(key(i), stored.get(i));
			}
		}
		return stored;
	}

	private static Page scan(TestStore store, KeyRange range, Page.Limit limit) {
		Page page = Awaited.of(store.engine.scan(range, limit, Deadline.NONE));
		if (page == null) {
			throw new AssertionError("there is no page");
		}
		return page;
	}

	private static CompletableFuture<@Nullable Page> asked(TestStore store) {
		return store.engine.scan(KeyRange.all(), ROOMY, Deadline.NONE).toFuture();
	}

	private static List<Key> keys(Page page) {
		List<Key> keys = new ArrayList<>();
		for (Page.Cursor cursor = page.cursor(); cursor.advance();) {
			keys.add(Key.of(cursor.keyBytes()));
		}
		return keys;
	}

	/** Takes the only thread that reads pages, until the latch is open. */
	private static void hold(TestStore store, CountDownLatch until) {
		CountDownLatch taken = new CountDownLatch(1);
		store.ranges.schedule(() -> {
			taken.countDown();
			await(until);
		});
		await(taken);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@SeededTest
	void aDamagedBlockEndsTheRangeWithAnErrorBehindAllThatCameBeforeItAndWhatComesBehindItIsThere(long seed) {
		Generator random = new Generator(seed);
		List<Entry> stored = fill();
		Path table = Disk.largest(this.directory, ".sst");
		Disk.flipBit(table, 5000 + random.below((int) (Disk.size(table) / 2)));
		try (TestStore store = TestStore.on(this.directory)) {
			Page.Limit limit = Page.Limit.of(1 + random.below(20_000), 1 + random.below(100));
			int damaged = readToTheDamage(store, limit, stored);

			assertThat(damaged).isBetween(1, ENTRIES - 1);
			assertThat(store.events.unreadable).hasValue(1);
			assertThatExceptionOfType(Unreadable.class).as("the entry where it stopped")
				.isThrownBy(() -> store.read(key(damaged)));
			int behind = damaged + 30;
			assertThat(keys(scan(store, KeyRange.of(key(behind).bytes(), null), ROOMY))).first().isEqualTo(key(behind));
		}
	}

	/** Gives the number of the entry that could not be read. */
	private static int readToTheDamage(TestStore store, Page.Limit limit, List<Entry> stored) {
		int at = 0;
		for (KeyRange rest = KeyRange.all();;) {
			Page page;
			try {
				page = scan(store, rest, limit);
			}
			catch (Unreadable _) {
				return at;
			}
			assertThat(page.isLast()).as("behind entry %d", at).isFalse();
			for (Page.Cursor cursor = page.cursor(); cursor.advance(); at++) {
				assertThat(cursor.entry()).as("entry %d", at).isEqualTo(stored.get(at));
			}
			rest = page.behind(rest);
		}
	}

	@Test
	void anEntryWhoseChecksumDoesNotMatchEndsTheRangeWithAnErrorToo() throws RocksDBException {
		byte[] damaged = EntryFormat.encode(key(3), ENTRY);
		damaged[damaged.length - 1] ^= 1;
		plant(key(3), damaged);
		plant(key(5), new byte[] { 9, 9 });
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i : new int[] { 0, 1, 2, 4, 6 }) {
				store.store(key(i), ENTRY);
			}
			Page before = scan(store, KeyRange.all(), ROOMY);
			assertThat(keys(before)).containsExactly(key(0), key(1), key(2));
			assertThat(before.isLast()).isFalse();

			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> scan(store, before.behind(KeyRange.all()), ROOMY))
				.withMessageContaining("checksum");
			Page between = scan(store, KeyRange.all().after(key(3).bytes()), ROOMY);
			assertThat(keys(between)).containsExactly(key(4));
			assertThat(between.isLast()).isFalse();
			assertThatExceptionOfType(Unreadable.class)
				.isThrownBy(() -> scan(store, between.behind(KeyRange.all()), ROOMY));
			assertThat(store.events.unreadable).hasValue(2);
			Page behind = scan(store, KeyRange.all().after(key(5).bytes()), ROOMY);
			assertThat(keys(behind)).containsExactly(key(6));
			assertThat(behind.isLast()).isTrue();
		}
	}

	private void plant(Key key, byte[] bytes) throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, key.bytes(), bytes);
		}
	}

	@Test
	void afterACloseAPageSaysThatTheStoreIsNotOpen() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.engine.close();

			assertThatExceptionOfType(Unavailable.class).isThrownBy(() -> scan(store, KeyRange.all(), ROOMY))
				.withMessage("the store is not open");
		}
	}

	@SeededTest
	void howeverManyPagesAreReadWhileItIsClosedEachIsWholeOrSaysThatTheStoreIsNotOpen(long seed) {
		List<Entry> stored = fill();
		for (int round = 0; round < 5; round++) {
			try (TestStore store = TestStore.on(this.directory)) {
				AtomicInteger pages = new AtomicInteger();
				int before = new Generator(seed + round).below(200);
				Together.run(4, thread -> () -> (thread == 0) ? closeAfter(store, pages, before)
						: readUntilClosed(store, pages, stored.size()));
			}
		}
	}

	private static boolean closeAfter(TestStore store, AtomicInteger pages, int before) {
		while (pages.get() < before) {
			Thread.onSpinWait();
		}
		store.engine.close();
		return true;
	}

	private static boolean readUntilClosed(TestStore store, AtomicInteger pages, int expected) {
		try {
			while (true) {
				assertThat(keys(scan(store, KeyRange.all(), ROOMY))).hasSize(expected);
				pages.incrementAndGet();
			}
		}
		catch (Unavailable _) {
			return true;
		}
	}

	@Test
	void aPageThatFindsTheQueueFullIsRefusedWithTheNameOfTheLimitAndThoseInTheQueueAreRead() {
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(key(0), ENTRY);
			hold(store, busy);
			List<CompletableFuture<@Nullable Page>> queued = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				queued.add(asked(store));
			}

			assertThatExceptionOfType(Overloaded.class).isThrownBy(() -> scan(store, KeyRange.all(), ROOMY))
				.withMessage("kvorum.range.queue-length of 10 is reached");
			assertThat(store.events.overloaded).hasValue(1);
			busy.countDown();
			assertThat(queued).allSatisfy(page -> assertThat(page.join()).isNotNull());
		}
	}

	@Test
	void readsOfSingleEntriesGoOnWhileAllThreadsOfRangesAreTaken() {
		List<Entry> stored = fill();
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = TestStore.on(this.directory)) {
			hold(store, busy);
			CompletableFuture<@Nullable Page> waiting = asked(store);

			assertThat(store.read(key(7))).isEqualTo(stored.get(7));
			assertThat(store.events.readsFromDisk).hasValue(1);
			assertThat(waiting).isNotDone();
			busy.countDown();
			assertThat(waiting.join()).isNotNull();
		}
	}

	@Test
	void aPageThatIsNotReadByItsDeadlineTimesOut() {
		CountDownLatch busy = new CountDownLatch(1);
		try (TestStore store = TestStore.on(this.directory)) {
			hold(store, busy);
			Deadline passed = new Deadline(store.time.nanos() - 1);

			assertThatExceptionOfType(ReadTimedOut.class)
				.isThrownBy(() -> Awaited.of(store.engine.scan(KeyRange.all(), ROOMY, passed)));
			busy.countDown();
		}
	}

	@Test
	void aPageIsReadOnAThreadOfRangesAndHandedOverByTheExecutorOfTheCaller() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(key(0), ENTRY);
			store.callers.hold();
			CompletableFuture<@Nullable Page> page = asked(store);
			store.callers.awaitHeld();
			assertThat(page).isNotDone();
			store.callers.release();

			assertThat(page.join()).isNotNull();
		}
	}

	@Test
	void whatAScanReadsDoesNotStayInTheBlockCacheAndWhatIsReadByItselfDoes() throws InterruptedException {
		fill();
		try (TestStore store = TestStore.on(this.directory)) {
			store.awaitDigests();
			Measure used = store.engine.measures()
				.stream()
				.filter(measure -> measure.name().equals("kvorum.rocksdb.cache.used"))
				.findFirst()
				.orElseThrow();
			// Index and filter come with the first page, and stay.
			scan(store, KeyRange.all(), Page.Limit.of(1, 1));
			double before = used.reader().getAsDouble();
			assertThat(keys(scan(store, KeyRange.all(), ROOMY))).hasSize(ENTRIES);
			assertThat(used.reader().getAsDouble()).isEqualTo(before);

			store.read(key(0));
			assertThat(used.reader().getAsDouble()).isGreaterThan(before);
		}
	}

}
