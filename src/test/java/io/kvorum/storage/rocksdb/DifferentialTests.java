package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The engine and the model give the same answers, over restarts of the engine too. */
class DifferentialTests {

	private final List<Key> keys = new ArrayList<>();

	/** Same version, same bytes. */
	private final Map<String, Entry> entries = new HashMap<>();

	@TempDir
	private Path directory;

	@SeededTest
	void randomOperationsHaveTheSameAnswersOnDiskAsInTheModel(long seed) {
		Generator random = new Generator(seed);
		InMemoryStorage model = new InMemoryStorage();
		for (int i = 0; i < 20; i++) {
			this.keys.add(random.key());
		}
		for (int restart = 0; restart < 4; restart++) {
			try (TestStore store = TestStore.on(this.directory)) {
				for (int step = 0; step < 300; step++) {
					step(random, store, model, "seed %d, restart %d, step %d".formatted(seed, restart, step));
				}
			}
		}
	}

	private void step(Generator random, TestStore store, InMemoryStorage model, String where) {
		Key key = random.oneOf(this.keys);
		if (random.chance(40)) {
			assertThat(store.read(key)).as(where).isEqualTo(Awaited.of(model.read(key, Deadline.NONE)));
			return;
		}
		Version version = random.closeVersion();
		Entry entry = this.entries.computeIfAbsent(key.hashCode() + "/" + version, _ -> random.entry(version));
		assertThat(store.store(key, entry)).as(where).isEqualTo(Awaited.of(model.store(key, entry, Deadline.NONE)));
	}

}
