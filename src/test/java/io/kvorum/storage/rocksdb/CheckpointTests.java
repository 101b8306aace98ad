package io.kvorum.storage.rocksdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Checkpoints.CheckpointException;
import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class CheckpointTests {

	@TempDir
	private Path directory;

	private static void atOnce(long bytes) {
	}

	private Path path(String name) {
		return this.directory.resolve(name);
	}

	@ParameterizedTest
	@EnumSource
	void everyWriteThatWasAcknowledgedBeforeIsInACopyWhileOthersGoOn(Durability durability) throws Exception {
		Map<Key, Entry> before = new ConcurrentHashMap<>();
		AtomicBoolean stopped = new AtomicBoolean();
		CountDownLatch some = new CountDownLatch(200);
		try (TestStore store = new TestStore(TestSettings.of(path("store"), durability))) {
			Thread writer = Thread.ofPlatform().start(() -> {
				for (int i = 0; !stopped.get(); i++) {
					Key key = Generator.key("key " + i % 500);
					Entry entry = Generator.live(new Version(1 + i, 1), "value " + i);
					store.store(key, entry);
					before.put(key, entry);
					some.countDown();
				}
			});
			some.await();
			Map<Key, Entry> acknowledged = Map.copyOf(before);
			store.engine.checkpoints().checkpoint(path("copy"));
			stopped.set(true);
			writer.join();

			assertThat(store.engine.checkpoints().verify(path("copy"), CheckpointTests::atOnce)).isPositive();
			try (TestStore copy = TestStore.on(path("copy"))) {
				assertThat(acknowledged).allSatisfy((key, entry) -> {
					Entry found = copy.read(key);
					assertThat((found != null) ? found.version() : Version.ABSENT)
						.isGreaterThanOrEqualTo(entry.version());
				});
			}
		}
	}

	@Test
	void tablesAreLinkedAndTheStoreGoesOnWithoutChangingThem() throws Exception {
		try (TestStore store = TestStore.on(path("store"))) {
			store.store(Generator.key("key"), Generator.live(new Version(1, 1), "one"));
			store.engine.checkpoints().checkpoint(path("copy"));
			Path table = Disk.largest(path("copy"), ".sst");
			assertThat(Files.getAttribute(table, "unix:nlink")).isEqualTo(2);
			store.store(Generator.key("key"), Generator.live(new Version(2, 1), "two"));
		}
		try (TestStore copy = TestStore.on(path("copy"))) {
			assertThat(copy.read(Generator.key("key"))).isEqualTo(Generator.live(new Version(1, 1), "one"));
		}
	}

	@Test
	void aCopyIsLookedAtWithoutBeingChangedAndDamageInIsFound() {
		try (TestStore store = TestStore.on(path("store"))) {
			Generator random = new Generator(1);
			for (int i = 0; i < 100; i++) {
				store.store(random.key(), random.entry(new Version(1 + i, 1)));
			}
			store.engine.checkpoints().checkpoint(path("copy"));
			Path asItWas = Disk.asAfterAKill(path("copy"), path("as it was"));
			assertThat(store.engine.checkpoints().verify(path("copy"), CheckpointTests::atOnce)).isPositive();
			for (Path file : Disk.files(asItWas, "")) {
				assertThat(path("copy").resolve(file.getFileName())).hasSameBinaryContentAs(file);
			}

			Disk.flipBit(Disk.largest(asItWas, ".sst"), 40);
			assertThatExceptionOfType(CheckpointException.class)
				.isThrownBy(() -> store.engine.checkpoints().verify(asItWas, CheckpointTests::atOnce))
				.withMessageContaining(asItWas.toString());
		}
	}

	@Test
	void everyTableOfACopyIsReadOnceAsSoonAsItMayBe() throws Exception {
		try (TestStore store = TestStore.on(path("store"))) {
			store.store(Generator.key("key"), Generator.live(new Version(1, 1), "one"));
			store.engine.checkpoints().checkpoint(path("copy"));
			List<Long> sizes = new ArrayList<>();
			for (Path table : Disk.files(path("copy"), ".sst")) {
				sizes.add(Files.size(table));
			}
			List<Long> asked = new ArrayList<>();
			store.engine.checkpoints().verify(path("copy"), asked::add);
			assertThat(asked).isNotEmpty().containsExactlyInAnyOrderElementsOf(sizes);

			for (Path table : Disk.files(path("copy"), ".sst")) {
				Path damaged = Disk.asAfterAKill(path("copy"), path("damaged " + table.getFileName()));
				Disk.flipBit(damaged.resolve(table.getFileName()), 40);
				assertThatExceptionOfType(CheckpointException.class).as("%s", table)
					.isThrownBy(() -> store.engine.checkpoints().verify(damaged, CheckpointTests::atOnce));
			}
		}
	}

	@Test
	void aCopyThatLacksAFileIsFound() throws Exception {
		try (TestStore store = TestStore.on(path("store"))) {
			store.store(Generator.key("key"), Generator.live(new Version(1, 1), "one"));
			store.engine.checkpoints().checkpoint(path("copy"));
			Files.delete(Disk.largest(path("copy"), ".sst"));
			assertThatExceptionOfType(CheckpointException.class)
				.isThrownBy(() -> store.engine.checkpoints().verify(path("copy"), CheckpointTests::atOnce));
		}
	}

	@Test
	void aCopyThatIsAdoptedHasTheEntriesTheClockAnotherIdentityAndTheRecordsItIsGiven() {
		try (TestStore store = TestStore.on(path("store"))) {
			store.store(Generator.key("key"), Generator.live(new Version(1, 1), "one"));
			store.engine.storeClockBound(77).toCompletableFuture().join();
			Awaited.of(store.engine.record("kept", new byte[] { 1 }));
			Awaited.of(store.engine.record("gone", new byte[] { 2 }));
			store.engine.checkpoints().checkpoint(path("copy"));
			store.engine.checkpoints().adopt(path("copy"), recorded -> {
				assertThat(recorded).containsOnlyKeys("kept", "gone");
				recorded.remove("gone");
				recorded.put("new", new byte[] { 3 });
				return recorded;
			});
			try (TestStore copy = TestStore.on(path("copy"))) {
				assertThat(copy.engine.identity()).isNotEqualTo(store.engine.identity());
				assertThat(copy.engine.clockBoundMillis()).isEqualTo(77);
				assertThat(copy.engine.recorded("kept")).containsExactly(1);
				assertThat(copy.engine.recorded("gone")).isNull();
				assertThat(copy.engine.recorded("new")).containsExactly(3);
				assertThat(copy.read(Generator.key("key"))).isEqualTo(Generator.live(new Version(1, 1), "one"));
			}
		}
	}

	@Test
	void aStoreThatIsNotOpenIsNotCopied() {
		TestStore store = TestStore.on(path("store"));
		store.close();
		assertThatExceptionOfType(Unavailable.class)
			.isThrownBy(() -> store.engine.checkpoints().checkpoint(path("copy")));
		assertThat(path("copy")).doesNotExist();
	}

}
