package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

import io.kvorum.kv.Key;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RowCacheTests {

	private static final int PAIRS = 16;

	private static final int ROW_BYTES = 8 << 10;

	private static final int KEY_BYTES = 8;

	private static final int ROWS = 65;

	private static final int READERS = 2;

	private static final int ROUNDS = 100_000;

	private static final Key KEY = Generator.key("key");

	@Test
	void itHasWhatWasPutLast() {
		RowCache cache = new RowCache(4096, PAIRS);
		cache.put(KEY, bytes("one"));
		cache.put(KEY, bytes("another"));

		assertThat(cache.get(KEY)).isEqualTo(bytes("another"));
		assertThat(cache.get(Generator.key("other"))).isNull();
	}

	@Test
	void whatIsRemovedIsGone() {
		RowCache cache = new RowCache(4096, PAIRS);
		cache.put(KEY, bytes("one"));
		cache.remove(KEY);

		assertThat(cache.get(KEY)).isNull();
	}

	@Test
	void aRowThatIsTooLongTakesTheOneBeforeWithIt() {
		RowCache cache = new RowCache(4096, PAIRS);
		cache.put(KEY, bytes("one"));
		cache.put(KEY, new byte[4096 / 64]);

		assertThat(cache.get(KEY)).isNull();
	}

	@Test
	void withoutMemoryItKeepsNothing() {
		RowCache cache = new RowCache(0, PAIRS);
		cache.put(KEY, bytes("one"));
		cache.remove(KEY);
		cache.fill(KEY, bytes("one"), cache.now());

		assertThat(cache.hasRoomFor(KEY, bytes("one"))).isFalse();
		assertThat(cache.get(KEY)).isNull();
	}

	@Test
	void whatAReadHasFoundIsKept() {
		RowCache cache = new RowCache(4096, PAIRS);
		cache.fill(KEY, bytes("one"), cache.now());

		assertThat(cache.get(KEY)).isEqualTo(bytes("one"));
	}

	/** Also where nothing is left of that in the cache. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1000 })
	void whatAReadHasFoundIsNotKeptWhereTheKeyWasPutSince(int putAfterIt) {
		RowCache cache = new RowCache(4096, PAIRS);
		long asOf = cache.now();
		cache.put(KEY, bytes("newer"));
		keys(putAfterIt).forEach(other -> cache.put(other, bytes("other")));
		byte[] left = cache.get(KEY);
		assertThat(left).isEqualTo((putAfterIt == 0) ? bytes("newer") : null);

		cache.fill(KEY, bytes("older"), asOf);
		assertThat(cache.get(KEY)).isEqualTo(left);
	}

	/** Also where the cache did not have it, and where what was put was too long. */
	@Test
	void whatAReadHasFoundIsNotKeptWhereTheKeyWasRemovedSince() {
		RowCache cache = new RowCache(4096, PAIRS);
		long asOf = cache.now();
		cache.remove(KEY);
		cache.fill(KEY, bytes("older"), asOf);
		assertThat(cache.get(KEY)).isNull();

		asOf = cache.now();
		cache.put(KEY, new byte[4096 / 64]);
		cache.fill(KEY, bytes("older"), asOf);
		assertThat(cache.get(KEY)).isNull();

		cache.fill(KEY, bytes("newest"), cache.now());
		assertThat(cache.get(KEY)).isEqualTo(bytes("newest"));
	}

	@Test
	void theOldestIsOverwrittenWhenTheMemoryIsFull() {
		RowCache cache = new RowCache(64 * 64, PAIRS);
		Key other = Generator.key("other key");
		byte[] row = new byte[64 - 8 - other.bytes().length];
		cache.put(KEY, new byte[64 - 8 - KEY.bytes().length]);
		for (int i = 0; i < 63; i++) {
			cache.put(other, row);
		}
		assertThat(cache.get(KEY)).isNotNull();

		cache.put(other, row);
		assertThat(cache.get(KEY)).isNull();
		assertThat(cache.get(other)).isEqualTo(row);
	}

	@Test
	void ofThreeKeysInTheSameTwoPlacesTheOldestGoes() {
		List<Key> keys = keys(40);
		int crowded = 0;
		for (Key second : keys.subList(1, 40)) {
			for (Key third : keys.subList(1, 40)) {
				RowCache cache = new RowCache(2048, PAIRS);
				List<Key> three = List.of(keys.getFirst(), second, third);
				three.forEach(key -> cache.put(key, new byte[1]));
				List<Key> left = three.stream().filter(key -> cache.get(key) != null).toList();
				assertThat(left).contains(second, third);
				crowded += (left.size() == 2) ? 1 : 0;
			}
		}
		assertThat(crowded).isPositive();
	}

	@SeededTest
	void itNeverHasAnythingButTheNewest(long seed) {
		Generator random = new Generator(seed);
		RowCache cache = new RowCache(8192, PAIRS);
		List<Key> keys = keys(150);
		Map<Key, byte[]> newest = new HashMap<>();
		Deque<Runnable> fills = new ArrayDeque<>();
		int hits = 0;
		for (int step = 0; step < 20_000; step++) {
			Key key = random.oneOf(keys);
			byte[] found = newest.get(key);
			if (found != null && random.chance(30)) {
				long asOf = cache.now();
				fills.add(() -> cache.fill(key, found, asOf));
			}
			if (fills.size() > random.below(50)) {
				fills.remove().run();
			}
			if (random.chance(5)) {
				cache.remove(key);
				newest.remove(key);
			}
			else if (random.chance(50)) {
				byte[] row = bytes("x".repeat(step % 40) + step);
				cache.put(key, row);
				newest.put(key, row);
			}
			byte[] row = cache.get(key);
			hits += (row != null) ? 1 : 0;
			if (row != null) {
				assertThat(row).as("seed %d, step %d", seed, step).isEqualTo(newest.get(key));
			}
		}
		assertThat(hits).as("seed %d", seed).isGreaterThan(2000);
	}

	/**
	 * Rows so long that all spend their time with copying them, and are in the middle of
	 * one whenever they lose the processor. As many keys as there are rows: the one that
	 * is overwritten is still asked for. Each row is one number all over.
	 */
	@Test
	void whoReadsWhileRowsAreOverwrittenGetsWholeRowsAndNeverAnOlderOne() throws Exception {
		RowCache cache = new RowCache(ROWS * (ROW_BYTES + 8 + KEY_BYTES), PAIRS);
		List<Key> keys = keys(ROWS);
		AtomicBoolean done = new AtomicBoolean();
		CountDownLatch reading = new CountDownLatch(READERS);
		try (ExecutorService readers = Executors.newFixedThreadPool(READERS)) {
			List<Future<Integer>> results = new ArrayList<>();
			for (int i = 0; i < READERS; i++) {
				results.add(readers.submit(() -> readUntil(done, reading, cache, keys)));
			}
			reading.await();
			for (int round = 0; round < ROUNDS; round++) {
				cache.put(keys.get(round % keys.size()), row(round));
			}
			done.set(true);
			for (Future<Integer> result : results) {
				assertThat(result.get()).isPositive();
			}
		}
	}

	private static int readUntil(AtomicBoolean done, CountDownLatch reading, RowCache cache, List<Key> keys) {
		int[] last = new int[keys.size()];
		int hits = 0;
		while (!done.get()) {
			int key = ThreadLocalRandom.current().nextInt(keys.size());
			byte[] row = cache.get(keys.get(key));
			if (row != null) {
				int round = ByteBuffer.wrap(row).getInt();
				assertThat(round % keys.size()).isEqualTo(key);
				assertThat(round).isGreaterThanOrEqualTo(last[key]);
				assertThat(Arrays.equals(row, row(round))).isTrue();
				last[key] = round;
				hits++;
			}
			reading.countDown();
		}
		return hits;
	}

	private static byte[] row(int round) {
		byte[] row = new byte[ROW_BYTES - Integer.BYTES * (round * 7 % 50)];
		IntBuffer ints = ByteBuffer.wrap(row).asIntBuffer();
		while (ints.hasRemaining()) {
			ints.put(round);
		}
		return row;
	}

	private static List<Key> keys(int count) {
		List<Key> keys = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			keys.add(Generator.key("%08d".formatted(i)));
		}
		return keys;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
