package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a power loss leaves while the last batch was being synced: the length of the log
 * is on disk, some of its pages are not.
 */
class TornLogTests {

	private static final int PAGE = 4096;

	private static final int ENTRIES = 50;

	/** The head of a record: four bytes of checksum, two of length, the type. */
	private static final int HEAD = 7;

	/** A record without a batch, with its checksum. */
	private static final byte[] EMPTY_RECORD = HexFormat.of().parseHex("052b2843000001");

	private final Generator random = new Generator(1);

	@TempDir
	private Path directory;

	/** The size of the log when the last write began. */
	private long synced;

	@ParameterizedTest
	@CsvSource({ "9000, 0, 100", "60000, 0, 100", "60000, 0, 1", "60000, 8, 1", "900000, 100, 2", "900000, 218, 100" })
	void theStoreOpensWithAllThatWasAcknowledged(int lastBytes, int fromPage, int pages) throws IOException {
		Path killed = killedAfter(lastBytes);
		lose(killed, firstUnsyncedPage() + fromPage, pages);

		try (TestStore store = TestStore.on(killed)) {
			for (int i = 0; i < ENTRIES; i++) {
				assertThat(store.read(key(i))).as("acknowledged entry %d", i).isNotNull();
			}
			assertThat(store.read(key(ENTRIES))).as("the one in flight").isNull();
			store.store(key(ENTRIES + 1), entry(ENTRIES + 1, 100));
		}
		try (TestStore store = TestStore.on(killed)) {
			assertThat(store.read(key(ENTRIES + 1))).as("one after it").isNotNull();
		}
	}

	/** The disk has lost a page that was synced. */
	@Test
	void aHoleWithBatchesBehindItIsDamage() throws IOException {
		Path killed = killedAfter(100);
		lose(killed, 2, 1);

		assertIsDamaged(killed);
	}

	@Test
	void wrongBytesInTheLastBatchAreDamage() throws IOException {
		Path killed = killedAfter(60_000);
		Disk.flipBit(Disk.largest(killed, ".log"), this.synced + 30_000);

		assertIsDamaged(killed);
	}

	/**
	 * RocksDB takes a record that seems to go beyond the end for one that was cut off.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aDamagedHeadInTheLastBlockIsDamage(boolean isZero) throws IOException {
		Path killed;
		try (TestStore store = TestStore.on(this.directory.resolve("store"))) {
			for (int i = 0; i < 20; i++) {
				store.store(key(i), entry(i, 500));
			}
			killed = Disk.asAfterAKill(this.directory.resolve("store"), this.directory.resolve("killed"));
		}
		Path log = Disk.largest(killed, ".log");
		byte[] bytes = Files.readAllBytes(log);
		List<Integer> records = new ArrayList<>();
		for (int at = 0; at < bytes.length; at += HEAD + (bytes[at + 4] & 0xff) + ((bytes[at + 5] & 0xff) << 8)) {
			records.add(at);
		}
		int damaged = records.get(records.size() - 6);
		if (isZero) {
			Arrays.fill(bytes, damaged, damaged + 512, (byte) 0);
		}
		else {
			bytes[damaged + 5] ^= 0x40;
		}
		Files.write(log, bytes);

		assertIsDamaged(killed);
	}

	/** A client may store what looks like records of a log, as that of another store. */
	@ParameterizedTest
	@CsvSource({ "false, 0", "true, 0", "true, 3000000" })
	void aBatchThatIsCutOffIsNoneThoughItsValueHasRecordsOfALog(boolean isOfAnotherStore, int before)
			throws IOException {
		byte[] value = Arrays.copyOf(EMPTY_RECORD, 507);
		if (isOfAnotherStore) {
			Path other = this.directory.resolve("other");
			try (TestStore store = TestStore.on(other)) {
				store.store(key(1), entry(1, 50));
				store.store(key(2), entry(2, 50));
				other = Disk.asAfterAKill(other, this.directory.resolve("copy"));
			}
			value = new byte[before + 507];
			byte[] records = Files.readAllBytes(Disk.largest(other, ".log"));
			System.arraycopy(records, 0, value, before, Math.min(records.length, 507));
		}
		Path path = this.directory.resolve("store");
		Path killed;
		try (TestStore store = TestStore.on(path)) {
			for (int i = 0; i < ENTRIES; i++) {
				store.store(key(i), entry(i, 500));
			}
			store.store(key(ENTRIES), new Live(new Version(1, ENTRIES), 1, Live.NEVER, "x/y", Value.of(value)));
			killed = Disk.asAfterAKill(path, this.directory.resolve("killed"));
		}
		Path log = Disk.largest(killed, ".log");
		byte[] bytes = Files.readAllBytes(log);
		Files.write(log, Arrays.copyOf(bytes, bytes.length - 10));

		try (TestStore store = TestStore.on(killed)) {
			assertThat(store.read(key(ENTRIES - 1))).as("the last acknowledged one").isNotNull();
			assertThat(store.read(key(ENTRIES))).as("the one in flight").isNull();
		}
	}

	/** The lost page has the end of what was synced before, and zeros behind it. */
	@Test
	void aTornBatchWhoseFirstPageIsTheLastSyncedOneIsCutOff() throws IOException {
		Path path = this.directory.resolve("store");
		Path killed;
		int entries = 0;
		try (TestStore store = TestStore.on(path)) {
			do {
				store.store(key(entries), entry(entries, 100));
				entries++;
				this.synced = Disk.size(Disk.largest(path, ".log"));
			}
			while (this.synced % PAGE <= PAGE - 512 || this.synced % PAGE > PAGE - HEAD);
			store.store(key(entries), entry(entries, 60_000));
			killed = Disk.asAfterAKill(path, this.directory.resolve("killed"));
		}
		Path log = Disk.largest(killed, ".log");
		byte[] bytes = Files.readAllBytes(log);
		Arrays.fill(bytes, (int) this.synced, firstUnsyncedPage() * PAGE, (byte) 0);
		Files.write(log, bytes);

		try (TestStore store = TestStore.on(killed)) {
			for (int i = 0; i < entries; i++) {
				assertThat(store.read(key(i))).as("acknowledged entry %d", i).isNotNull();
			}
			assertThat(store.read(key(entries))).as("the one in flight").isNull();
		}
	}

	private static void assertIsDamaged(Path killed) {
		long size = Disk.size(Disk.largest(killed, ".log"));
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> TestStore.on(killed))
			.withMessageStartingWith("The data directory " + killed + " is damaged");
		assertThat(Disk.largest(killed, ".log")).hasSize(size);
	}

	private int firstUnsyncedPage() {
		return (int) ((this.synced + PAGE - 1) / PAGE);
	}

	/** Some synced entries, and a last one of a size, as they are on the disk. */
	private Path killedAfter(int lastBytes) {
		Path path = this.directory.resolve("store");
		try (TestStore store = TestStore.on(path)) {
			for (int i = 0; i < ENTRIES; i++) {
				store.store(key(i), entry(i, 500));
			}
			this.synced = Disk.size(Disk.largest(path, ".log"));
			store.store(key(ENTRIES), entry(ENTRIES, lastBytes));
			return Disk.asAfterAKill(path, this.directory.resolve("killed"));
		}
	}

	private static void lose(Path killed, int page, int pages) throws IOException {
		Path log = Disk.largest(killed, ".log");
		byte[] bytes = Files.readAllBytes(log);
		Arrays.fill(bytes, page * PAGE, Math.min((page + pages) * PAGE, bytes.length), (byte) 0);
		Files.write(log, bytes);
	}

	private static Key key(int i) {
		return Generator.key("key %05d".formatted(i));
	}

	private Live entry(int i, int bytes) {
		return new Live(new Version(1, i), 1, Live.NEVER, "x/y", Value.of(this.random.bytes(bytes)));
	}

}
