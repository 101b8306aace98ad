package io.kvorum.access;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TokenBucketTests {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	/** Clocks of nanoseconds may begin anywhere, below zero too. */
	private static final long START = -5 * SECOND;

	@Test
	void aFullBucketGivesABurstAndThenOneTokenAtATime() {
		TokenBucket bucket = new TokenBucket(new Rate(10, 3), START);

		assertThat(bucket.take(START)).isZero();
		assertThat(bucket.take(START)).isZero();
		assertThat(bucket.take(START)).isZero();
		assertThat(bucket.take(START)).isEqualTo(SECOND / 10);
		assertThat(bucket.take(START + SECOND / 10 - 1)).isEqualTo(1);
		assertThat(bucket.take(START + SECOND / 10)).isZero();
		assertThat(bucket.take(START + SECOND / 10)).isEqualTo(SECOND / 10);
	}

	@Test
	void aLongPauseFillsItAndNoMore() {
		TokenBucket bucket = new TokenBucket(new Rate(1, 2), START);
		bucket.take(START);
		long later = START + 1000 * SECOND;

		assertThat(bucket.remaining(later)).isEqualTo(2);
		assertThat(bucket.take(later)).isZero();
		assertThat(bucket.take(later)).isZero();
		assertThat(bucket.take(later)).isEqualTo(SECOND);
	}

	@Test
	void itTellsWhatIsLeftAndWhenItIsFull() {
		TokenBucket bucket = new TokenBucket(new Rate(2, 4), START);
		bucket.take(START);
		bucket.take(START);
		bucket.take(START);

		assertThat(bucket.remaining(START)).isEqualTo(1);
		assertThat(bucket.secondsUntilFull(START)).isEqualTo(2);
		assertThat(bucket.windowSeconds()).isEqualTo(2);
	}

	/** Against the dumb rule, a count of tokens, where none has a fraction. */
	@SeededTest
	void itGivesWhatACountOfTokensWouldGive(long seed) {
		Generator random = new Generator(seed);
		int burst = 1 + random.below(5);
		TokenBucket bucket = new TokenBucket(new Rate(4, burst), START);
		long step = SECOND / 4;
		long tokens = burst;
		long now = START;
		for (int i = 0; i < 1000; i++) {
			long steps = random.chance(50) ? 0 : random.below(4);
			now += steps * step;
			tokens = Math.min(burst, tokens + steps);
			assertThat(bucket.remaining(now)).as("seed %d, step %d", seed, i).isEqualTo(tokens);
			assertThat(bucket.take(now) == 0).as("seed %d, step %d", seed, i).isEqualTo(tokens > 0);
			tokens = Math.max(0, tokens - 1);
		}
	}

	@Test
	void manyThreadsTakeNoTokenTwice() {
		TokenBucket bucket = new TokenBucket(new Rate(1, 5000), START);
		List<Integer> taken = Together.run(4, _ -> () -> {
			int tokens = 0;
			for (int i = 0; i < 2000; i++) {
				tokens += (bucket.take(START) == 0) ? 1 : 0;
			}
			return tokens;
		});

		assertThat(taken.stream().mapToInt(Integer::intValue).sum()).isEqualTo(5000);
	}

}
