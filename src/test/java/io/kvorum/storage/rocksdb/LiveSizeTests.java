package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The size of a store, to estimate what has to be copied. */
class LiveSizeTests {

	private static final int ENTRIES = 500;

	private static final int VALUE_BYTES = 2_000;

	private static final long ALL_BYTES = ENTRIES * (VALUE_BYTES + 40L);

	@TempDir
	private Path directory;

	private static Entry entry(int millis, boolean compresses) {
		byte[] value = new byte[VALUE_BYTES];
		if (!compresses) {
			ThreadLocalRandom.current().nextBytes(value);
		}
		return new Live(new Version(Version.lastTimestampOf(millis), 1), Copies.DEFAULT, Live.NEVER, "text/plain",
				Value.of(value), null);
	}

	private static void storeAll(TestStore store, int millis, boolean compresses) {
		for (int i = 0; i < ENTRIES; i++) {
			store.store(Generator.key("key-%05d".formatted(i)), entry(millis, compresses));
		}
	}

	private static long liveBytes(TestStore store) {
		return Objects.requireNonNull(Awaited.of(store.engine.liveBytes()));
	}

	@Test
	void anEmptyStoreHasNone() {
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(liveBytes(store)).isZero();
		}
	}

	@Test
	void aFewSmallEntriesAreNotTakenForTheMemoryOfAMemtable() {
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < 10; i++) {
				store.store(Generator.key("key-%05d".formatted(i)), Generator.live(new Version(1 << 16, 1), "value"));
			}
			assertThat(liveBytes(store)).isBetween(10 * 30L, 10 * 100L);
		}
	}

	@Test
	void itIsTheSameInMemoryAndInTablesAndWhetherThoseCompressOrNot() {
		try (TestStore store = TestStore.on(this.directory)) {
			storeAll(store, 10, true);
			assertThat(liveBytes(store)).as("in memory").isCloseTo(ALL_BYTES, Percentage.withPercentage(10));
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(liveBytes(store)).as("in tables").isCloseTo(ALL_BYTES, Percentage.withPercentage(10));
		}
	}

	@Test
	void whatIsOverwrittenDoesNotCountOnceItIsInTables() {
		for (int millis = 10; millis < 13; millis++) {
			try (TestStore store = TestStore.on(this.directory)) {
				storeAll(store, millis, false);
			}
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(liveBytes(store)).isCloseTo(ALL_BYTES, Percentage.withPercentage(60));
		}
	}

	@Test
	void onlyWhatRepairsHaveBroughtIsCountedAsThat() {
		try (TestStore store = TestStore.on(this.directory)) {
			Key key = Generator.key("key-00001");
			Entry entry = entry(10, false);
			store.store(Generator.key("key-00002"), entry);
			assertThat(store.engine.repairedBytes()).isZero();

			Awaited.of(store.engine.repair(key, entry, Deadline.NONE));
			assertThat(store.engine.repairedBytes()).isCloseTo(ALL_BYTES / ENTRIES, Percentage.withPercentage(10));
			long once = store.engine.repairedBytes();
			Awaited.of(store.engine.repair(key, entry, Deadline.NONE));
			assertThat(store.engine.repairedBytes()).as("it was there").isEqualTo(once);
		}
	}

}
