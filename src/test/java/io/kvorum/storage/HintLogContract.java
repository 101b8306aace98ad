package io.kvorum.storage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What every log of hints does. */
public abstract class HintLogContract {

	private static final long NODE = 7;

	private static final Key KEY = Generator.key("key");

	/** The log of this test, open and empty. */
	protected abstract HintLog log();

	@Test
	void nothingWaitsInALogThatIsEmpty() {
		assertThat(log().targets()).isEmpty();
		assertThat(log().waiting(NODE)).isEqualTo(Waiting.NONE);
		assertThat(oldest(NODE)).isEmpty();
		Awaited.of(log().removeAll(NODE));
		Awaited.of(log().remove(new Hint(NODE, KEY, live(1))));
		assertThat(log().waiting(NODE)).isEqualTo(Waiting.NONE);
	}

	@Test
	void tenOverwritesLeaveOneHintWithTheNewestVersion() {
		for (int i = 1; i <= 10; i++) {
			assertThat(add(NODE, KEY, live(i))).isTrue();
		}
		assertThat(add(NODE, KEY, live(10))).isFalse();
		assertThat(add(NODE, KEY, live(3))).isFalse();

		assertThat(oldest(NODE)).containsExactly(new Hint(NODE, KEY, live(10)));
		assertThat(log().waiting(NODE)).isEqualTo(new Waiting(1, sizeOf(KEY, live(10)), 10));
	}

	@Test
	void hintsOfSeveralNodesAreKeptApart() {
		List<Long> nodes = List.of(0L, 1L, Long.MAX_VALUE, Long.MIN_VALUE, -1L);
		nodes.forEach(node -> add(node, KEY, live(1)));

		assertThat(log().targets()).containsExactlyInAnyOrderElementsOf(nodes);
		for (int i = 0; i < nodes.size(); i++) {
			assertThat(oldest(nodes.get(i))).containsExactly(new Hint(nodes.get(i), KEY, live(1)));
			Awaited.of(log().removeAll(nodes.get(i)));
			assertThat(oldest(nodes.get(i))).isEmpty();
			assertThat(log().targets()).containsExactlyInAnyOrderElementsOf(nodes.subList(i + 1, nodes.size()));
		}
	}

	@Test
	void theOldestComeFirstAndNoMoreThanAskedFor() {
		for (int i = 9; i >= 1; i--) {
			add(NODE, Generator.key("key " + i), live(i));
		}
		int each = bytesOf(Generator.key("key 1"), live(1));

		assertThat(oldest(NODE)).extracting(hint -> hint.entry().version().millis())
			.containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
		assertThat(Awaited.of(log().oldest(NODE, Integer.MAX_VALUE, 4, Deadline.NONE))).hasSize(4);
		assertThat(Awaited.of(log().oldest(NODE, 1, 100, Deadline.NONE))).hasSize(1);
		assertThat(Awaited.of(log().oldest(NODE, each, 100, Deadline.NONE))).hasSize(1);
		assertThat(Awaited.of(log().oldest(NODE, each + 1, 100, Deadline.NONE))).hasSize(2);
	}

	@Test
	void theRemovalOfASupersededHintLeavesTheNewerOne() {
		add(NODE, KEY, live(1));
		add(NODE, KEY, live(2));
		Awaited.of(log().remove(new Hint(NODE, KEY, live(1))));

		assertThat(oldest(NODE)).containsExactly(new Hint(NODE, KEY, live(2)));
		Awaited.of(log().remove(new Hint(NODE, KEY, live(2))));
		assertThat(oldest(NODE)).isEmpty();
		assertThat(log().waiting(NODE)).isEqualTo(Waiting.NONE);
		assertThat(add(NODE, KEY, live(1))).isTrue();
	}

	@Test
	void hintsForANodeComeAgainAfterAllWereRemoved() {
		add(NODE, KEY, live(2));
		Awaited.of(log().removeAll(NODE));

		assertThat(add(NODE, KEY, live(1))).isTrue();
		assertThat(oldest(NODE)).containsExactly(new Hint(NODE, KEY, live(1)));
		assertThat(log().waiting(NODE)).isEqualTo(new Waiting(1, sizeOf(KEY, live(1)), 1));
	}

	@Test
	void aTombstoneAndALargeValueAreHintsToo() {
		Live large = new Live(version(1), 3, Live.NEVER, "x", Value.of(new byte[1 << 20]));
		Tombstone tombstone = new Tombstone(version(2), 3);
		add(NODE, KEY, large);
		add(NODE, Generator.key("other"), tombstone);

		assertThat(oldest(NODE)).extracting(Hint::entry).containsExactly(large, tombstone);
	}

	@SeededTest
	void whatWaitsIsWhatAModelSays(long seed) {
		Generator random = new Generator(seed);
		Map<Long, Map<Key, Entry>> model = new HashMap<>();
		List<Key> keys = List.of(random.key(), random.key(), random.key(), random.key(), random.key(), random.key());
		for (int step = 0; step < 600; step++) {
			step(random, keys, model);
			for (long node = 0; node < 3; node++) {
				assertThat(log().waiting(node)).as("seed %d, step %d", seed, step)
					.isEqualTo(waiting(model.getOrDefault(node, Map.of())));
			}
		}
		assertIsLogOf(log(), model);
	}

	/** One random thing that is done to the log and to the model. */
	protected final void step(Generator random, List<Key> keys, Map<Long, Map<Key, Entry>> model) {
		long node = random.below(3);
		Map<Key, Entry> of = model.computeIfAbsent(node, _ -> new TreeMap<>());
		Key key = random.oneOf(keys);
		Entry there = of.get(key);
		if (random.chance(2)) {
			Awaited.of(log().removeAll(node));
			of.clear();
		}
		else if (random.chance(50)) {
			List<Hint> oldest = Objects.requireNonNull(Awaited.of(log().oldest(node, 1, 1, Deadline.NONE)));
			oldest.forEach(hint -> {
				Awaited.of(log().remove(hint));
				assertThat(of.remove(hint.key())).isEqualTo(hint.entry());
			});
		}
		else {
			Live entry = live(1 + random.below(50));
			boolean newer = there == null || entry.version().isNewerThan(there.version());
			assertThat(add(node, key, entry)).isEqualTo(newer);
			if (newer) {
				of.put(key, entry);
			}
		}
	}

	/** Compares with what can be computed of all hints. */
	protected static void assertIsLogOf(HintLog log, Map<Long, Map<Key, Entry>> model) {
		model.forEach((node, of) -> {
			assertThat(log.waiting(node)).isEqualTo(waiting(of));
			List<Hint> expected = new ArrayList<>();
			of.forEach((key, entry) -> expected.add(new Hint(node, key, entry)));
			assertThat(Awaited.of(log.oldest(node, Integer.MAX_VALUE, Integer.MAX_VALUE, Deadline.NONE)))
				.containsExactlyInAnyOrderElementsOf(expected)
				.isSortedAccordingTo((one, other) -> one.entry().version().compareTo(other.entry().version()));
			assertThat(log.targets().contains(node)).isEqualTo(!of.isEmpty());
		});
	}

	private static Waiting waiting(Map<Key, Entry> of) {
		long bytes = 0;
		long oldest = Long.MAX_VALUE;
		for (Map.Entry<Key, Entry> hint : of.entrySet()) {
			bytes += sizeOf(hint.getKey(), hint.getValue());
			oldest = Math.min(oldest, hint.getValue().version().millis());
		}
		return new Waiting(of.size(), bytes, oldest);
	}

	private static int sizeOf(Key key, Entry entry) {
		return HintLog.bytes(key.bytes().length, bytesOf(key, entry));
	}

	private static int bytesOf(Key key, Entry entry) {
		return EntryFormat.encode(key, entry).length;
	}

	private static Version version(long millis) {
		return new Version(millis << Version.COUNTER_BITS, 1);
	}

	private static Live live(long millis) {
		return Generator.live(version(millis), "value");
	}

	private boolean add(long target, Key key, Entry entry) {
		return Boolean.TRUE.equals(Awaited.of(log().add(target, key, entry)));
	}

	private List<Hint> oldest(long target) {
		return Objects.requireNonNull(Awaited.of(log().oldest(target, Integer.MAX_VALUE, 1000, Deadline.NONE)));
	}

}
