package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a disk does to files: never a wrong value, and never a loss in silence. */
class DamageTests {

	private static final int ENTRIES = 400;

	@TempDir
	private Path directory;

	@SeededTest
	void aDamagedBlockIsAnErrorForItsKeysAndTheOthersAreServed(long seed) {
		Generator random = new Generator(seed);
		Path path = this.directory.resolve("store");
		List<Entry> stored = fill(path, random);
		Path table = Disk.largest(path, ".sst");
		// Data blocks come first in a table; with values that do not compress they are
		// most of it.
		Disk.flipBit(table, random.below((int) (Disk.size(table) / 2)));
		try (TestStore store = TestStore.on(path)) {
			int damaged = 0;
			for (int i = 0; i < ENTRIES; i++) {
				damaged += isDamaged(store, i, stored.get(i)) ? 1 : 0;
			}
			assertThat(damaged).as("entries in the damaged block").isBetween(1, 30);
			assertThat(store.events.unreadable).hasValue(damaged);
		}
	}

	@Test
	void aDamagedFilterIsMetAtTheStartAndToldAndNothingIsServedWithoutIt() throws RocksDBException {
		Path path = this.directory.resolve("store");
		fill(path, new Generator(1));
		Tables.damageFilters(path);

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(path))
			.withMessageStartingWith("The data directory " + path + " is damaged");
	}

	private static boolean isDamaged(TestStore store, int i, Entry expected) {
		@Nullable Entry read;
		try {
			read = store.read(key(i));
		}
		catch (Unreadable _) {
			return true;
		}
		assertThat(read).as("entry %d", i).isEqualTo(expected);
		return false;
	}

	@Test
	void aWriteToAKeyInADamagedBlockFailsAloneAndTheStoreGoesOn() {
		Path path = this.directory.resolve("store");
		fill(path, new Generator(1));
		Path table = Disk.largest(path, ".sst");
		Disk.flipBit(table, Disk.size(table) / 4);
		try (TestStore store = TestStore.on(path)) {
			int failed = 0;
			for (int i = 0; i < ENTRIES; i++) {
				try {
					Entry newer = Generator.live(new Version(2, i), "newer");
					assertThat(store.store(key(i), newer)).isEqualTo(StoreOutcome.STORED);
				}
				catch (Unreadable _) {
					failed++;
				}
			}
			assertThat(failed).isBetween(1, 30);
			assertThat(store.failures).isEmpty();
		}
	}

	@Test
	void anEntryWhoseChecksumDoesNotMatchIsAnErrorForReadsAndTheOthersAreServed() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			byte[] entry = EntryFormat.encode(key(0), Generator.live(new Version(1, 1), "value"));
			entry[entry.length - 1] ^= 1;
			database.db.put(database.entries, key(0).bytes(), entry);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(key(1), Generator.live(new Version(1, 1), "value"));

			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.read(key(0)))
				.withMessageContaining("checksum");
			assertThatExceptionOfType(Unreadable.class).as("from memory, too").isThrownBy(() -> store.read(key(0)));
			assertThat(store.events.unreadable).hasValue(2);
			assertThat(store.read(key(1))).isNotNull();
		}
	}

	@Test
	void bytesThatBeginNoEntryFailTheWriteToTheirKeyAndNoOther() throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			database.db.put(database.entries, key(0).bytes(), new byte[] { 9, 9 });
		}
		try (TestStore store = TestStore.on(this.directory)) {
			Entry entry = Generator.live(new Version(1, 1), "value");

			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.store(key(0), entry));
			assertThat(store.store(key(1), entry)).isEqualTo(StoreOutcome.STORED);
			assertThatExceptionOfType(Unreadable.class).as("still no entry").isThrownBy(() -> store.read(key(0)));
		}
	}

	@SeededTest
	void aBitFlippedInTheMiddleOfTheLogStopsTheOpeningWithASentenceAndChangesNothing(long seed) {
		Path killed = killedWith(new Generator(seed));
		Path log = Disk.largest(killed, ".log");
		long middle = Disk.size(log) / 4 + new Generator(seed).below((int) (Disk.size(log) / 2));
		Disk.flipBit(log, middle);

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(killed))
			.withMessageStartingWith("The data directory " + killed + " is damaged")
			.matches(ex -> ex.action().contains("Restore the directory from a backup"));
		Disk.flipBit(log, middle);
		try (TestStore store = TestStore.on(killed)) {
			assertThat(store.read(key(ENTRIES - 1))).as("with the bit flipped back all is there").isNotNull();
		}
	}

	/**
	 * What a power loss leaves where the sync did not lie can only lack what was not
	 * acknowledged; but where the end of a synced WAL is lost afterwards, what is left
	 * looks exactly like that. No node can tell alone: its replicas can.
	 */
	@SeededTest
	void aLogWithATornTailOpensWithAllThatWasSyncedBefore(long seed) {
		Generator random = new Generator(seed);
		Path killed = killedWith(random);
		Path log = Disk.largest(killed, ".log");
		// Within the last write: it has more than 100 bytes.
		Disk.truncate(log, Disk.size(log) - 1 - random.below(100));
		try (TestStore store = TestStore.on(killed)) {
			for (int i = 0; i < ENTRIES - 1; i++) {
				assertThat(store.read(key(i))).as("entry %d", i).isNotNull();
			}
			assertThat(store.read(key(ENTRIES - 1))).as("the torn one").isNull();
		}
	}

	/** RocksDB would begin anew at the second start, and remove all tables. */
	@Test
	void withoutItsFileCurrentAStoreIsNotOpenedAtTheSecondStartEither() throws IOException {
		Path path = this.directory.resolve("store");
		List<Entry> stored = fill(path, new Generator(1));
		Path current = path.resolve("CURRENT");
		byte[] content = Files.readAllBytes(current);
		Files.delete(current);
		for (int start = 0; start < 2; start++) {
			assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(path))
				.withMessageContaining("CURRENT is missing");
		}

		Files.write(current, content);
		try (TestStore store = TestStore.on(path)) {
			assertThat(store.read(key(0))).isEqualTo(stored.getFirst());
		}
	}

	@Test
	void withoutAnyLogAStoreIsNotOpened() throws IOException {
		Path killed = killedWith(new Generator(1));
		for (Path log : Disk.files(killed, ".log")) {
			Files.delete(log);
		}

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(killed))
			.withMessageContaining("it has no log (*.log)");
	}

	/** RocksDB was ended before it had its first log. */
	@Test
	void aStoreThatWasBeingMadeIsMadeAgain() throws IOException {
		Path path = this.directory.resolve("store");
		Files.createDirectories(path);
		Files.createFile(path.resolve("MANIFEST-000001"));
		TestStore.on(path).close();
	}

	@Test
	void aMissingTableStopsTheOpening() throws IOException {
		Path path = this.directory.resolve("store");
		fill(path, new Generator(1));
		Files.delete(Disk.largest(path, ".sst"));

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(path))
			.withMessageContaining(path.toString());
	}

	private Path killedWith(Generator random) {
		Path original = this.directory.resolve("original");
		try (TestStore store = TestStore.on(original)) {
			for (int i = 0; i < ENTRIES; i++) {
				store.store(key(i), entry(random, i));
			}
			return Disk.asAfterAKill(original, this.directory.resolve("killed"));
		}
	}

	private static List<Entry> fill(Path path, Generator random) {
		List<Entry> stored = new ArrayList<>();
		try (TestStore store = TestStore.on(path)) {
			for (int i = 0; i < ENTRIES; i++) {
				stored.add(entry(random, i));
				store.store(key(i), stored.get(i));
			}
		}
		return stored;
	}

	private static Key key(int i) {
		return Generator.key("key %05d".formatted(i));
	}

	private static Entry entry(Generator random, int i) {
		return new Live(new Version(1, i), 1, Live.NEVER, "x/y", Value.of(random.bytes(500)));
	}

}
