package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;

/** Damaged blocks in what collectors read: the rows before and behind them are found. */
class CollectionDamageTests {

	private static final int ROWS = 6000;

	/** The rows of two blocks, at most. */
	private static final int TWO_BLOCKS = 1600;

	private static final int PAGE = 500;

	@TempDir
	private Path directory;

	@ParameterizedTest
	@ValueSource(doubles = { 0, 0.3, 0.6 })
	void tombstonesAreListedUpToADamagedBlockAndBehindIt(double place) throws RocksDBException {
		fill(i -> new Tombstone(version(i), Copies.DEFAULT));
		damage("tombstones", place);
		try (TestStore store = TestStore.on(this.directory)) {
			List<Key> listed = tombstones(store);

			assertThat(listed).doesNotHaveDuplicates().isSorted();
			assertThat(listed.size()).isBetween(ROWS - TWO_BLOCKS, ROWS - 1);
			assertThat(listed).contains(key(ROWS - 1));
			assertThat(store.events.unreadable).hasValue(1);
		}
	}

	@Test
	void tombstonesAreListedBetweenTwoDamagedBlocks() throws RocksDBException {
		fill(i -> new Tombstone(version(i), Copies.DEFAULT));
		damage("tombstones", 0);
		damage("tombstones", 0.6);
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(tombstones(store)).contains(key(ROWS / 3), key(ROWS - 1));
			assertThat(store.events.unreadable).hasValue(2);
		}
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, 0.3, 0.6 })
	void expiredEntriesAreCollectedUpToADamagedBlockAndBehindIt(double place) throws RocksDBException {
		fill(i -> Generator.live(version(i), "v", SteeredTime.START_MILLIS + 1 + i));
		damage("expiries", place);
		try (TestStore store = TestStore.on(this.directory)) {
			store.time.pass(Duration.ofHours(1));
			store.engine.collectExpired();

			assertThat(store.events.collected.get()).isBetween(ROWS - TWO_BLOCKS, ROWS - 1);
			assertThat(store.read(key(ROWS - 1))).isNull();
			assertThat(store.events.unreadable).hasValue(1);
		}
	}

	private void fill(IntFunction<Entry> entries) {
		try (TestStore store = TestStore.on(this.directory)) {
			Awaited.of(Flux.range(0, ROWS)
				.flatMap(i -> store.engine.store(key(i), entries.apply(i), Deadline.NONE), PAGE)
				.then());
		}
	}

	private void damage(String column, double place) throws RocksDBException {
		for (Path table : Tables.of(this.directory, column)) {
			// The first two thirds of such a table are rows.
			Disk.flipBit(table, 4 + (long) (place * Disk.size(table)));
		}
	}

	private static List<Key> tombstones(TestStore store) {
		List<Key> keys = new ArrayList<>();
		@Nullable TombstoneRecord last = null;
		List<TombstoneRecord> page;
		do {
			page = Objects.requireNonNull(
					Awaited.of(store.engine.tombstones(last, SteeredTime.START_MILLIS + ROWS, PAGE, Deadline.NONE)));
			page.forEach(tombstone -> keys.add(tombstone.header().key()));
			last = page.isEmpty() ? null : page.getLast();
		}
		while (page.size() == PAGE);
		return keys;
	}

	private static Key key(int i) {
		return Generator.key("key %05d".formatted(i));
	}

	private static Version version(int i) {
		return new Version((SteeredTime.START_MILLIS + i) << Version.COUNTER_BITS, 1);
	}

}
