package io.kvorum.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes, of which the clock of one is wrong by far, and what that leaves when it is
 * right again.
 */
@ExtendWith(WithoutWarnings.class)
class WrongClockTests {

	private static final Scenario CALM = new Scenario(3, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0);

	private static final Replicas MAJORITY = CALM.replicas();

	private static final Key KEY = Generator.key("key");

	private static final int VALUE = 7;

	private SimulatedCluster cluster = clusterOf(Design.PRODUCT);

	private static SimulatedCluster clusterOf(Design design) {
		Chance chance = new Chance(1);
		return new SimulatedCluster(chance.split(), CALM, design, ConvergenceSettings.any(chance), false);
	}

	private void at(int second, Runnable task) {
		this.cluster.timeline().after(Duration.ofSeconds(second).toNanos() - this.cluster.timeline().now(), task);
	}

	private <T> CompletableFuture<T> at(int second, int node, Asking<T> asking) {
		CompletableFuture<T> told = new CompletableFuture<>();
		at(second, () -> {
			Operations operations = this.cluster.nodes().get(node).operations();
			if (operations == null) {
				throw new AssertionError("node %d is down".formatted(node));
			}
			asking.ask(operations).subscribe(told::complete, told::completeExceptionally, () -> told.complete(null));
		});
		return told;
	}

	private CompletableFuture<?> put(int second, int node, int value, String ttl) {
		return at(second, node, operations -> operations.put(KEY, WriteOptions.of(MAJORITY), value,
				ttl.isEmpty() ? null : Ttl.parse(ttl)));
	}

	private void jump(int second, int node, Duration by, boolean restarts) {
		at(second, () -> {
			SimulatedNode jumping = this.cluster.nodes().get(node);
			jumping.time().jump((double) by.toMillis());
			if (restarts) {
				jumping.crash();
				jumping.start();
			}
		});
	}

	private void runUntil(int second) {
		at(second, this.cluster.timeline()::end);
		this.cluster.timeline().run();
		assertThat(this.cluster.failure()).isNull();
	}

	private static void assertRefused(CompletableFuture<?> write, String why) {
		assertThat(write).isCompletedExceptionally();
		assertThat(write.exceptionNow()).isInstanceOfSatisfying(OperationFailedException.class, failed -> {
			assertThat(failed.kind()).isEqualTo(Kind.NOT_ACCEPTED);
			assertThat(failed.mayHaveHappened()).isFalse();
			assertThat(failed).hasMessageContaining(why);
		});
	}

	@Test
	void aNodeThatOnceStartedWithItsClockAheadStoresNothingAheadWhenItIsRightAgainAndNoKeyIsFrozen() {
		jump(10, 0, Duration.ofHours(23), true);
		jump(20, 0, Duration.ofHours(-23), true);
		CompletableFuture<?> refused = put(40, 0, VALUE, "");
		List<CompletableFuture<?>> later = new ArrayList<>();
		for (int node = 1; node < 3; node++) {
			later.add(put(100 + node, node, VALUE + node, ""));
			later.add(at(110 + node, node, operations -> operations.delete(KEY, WriteOptions.of(MAJORITY))));
		}
		CompletableFuture<Integer> read = at(120, 0, operations -> operations.get(KEY, MAJORITY).map(Values::number));
		runUntil(130);

		assertRefused(refused, "ms ahead of its clock, the limit is 500 ms");
		assertThat(later).allSatisfy(write -> assertThat(write).isCompleted().isNotCompletedExceptionally());
		assertThat(read).isCompletedWithValue(null);
	}

	@Test
	void aClockThatIsHoursAheadForAWhileTakesNothingAway() {
		assertThat(heldAfterAClockWasAhead()).isInstanceOf(Live.class);
	}

	@Test
	void aNodeThatBuriesWhatHasExpiredByItsClockOfNowLosesWhatLives() {
		this.cluster = clusterOf(new Design() {
			@Override
			public Duration expiryMargin(Duration usual) {
				return Duration.ZERO;
			}
		});

		assertThat(heldAfterAClockWasAhead()).isInstanceOf(Tombstone.class);
	}

	private @Nullable Object heldAfterAClockWasAhead() {
		CompletableFuture<?> put = put(30, 1, VALUE, "1h");
		jump(40, 0, Duration.ofHours(2), false);
		jump(55, 0, Duration.ofHours(-2), false);
		runUntil(120);

		assertThat(put).isCompleted();
		return this.cluster.nodes().getFirst().disk().content().entries.get(KEY);
	}

	@Test
	void aValueThatIsGoneByTheClocksOfTheOthersWhenItComesIsNotAcknowledged() {
		jump(10, 0, Duration.ofSeconds(-5), false);
		CompletableFuture<?> put = put(20, 0, VALUE, "2s");
		CompletableFuture<?> longer = put(30, 0, VALUE + 1, "1m");
		CompletableFuture<Integer> read = at(31, 1, operations -> operations.get(KEY, MAJORITY).map(Values::number));
		runUntil(40);

		assertThat(put).isCompletedExceptionally();
		assertThat(put.exceptionNow()).hasMessageContaining("expired before it was stored");
		assertThat(longer).isCompleted().isNotCompletedExceptionally();
		assertThat(read).isCompletedWithValue(VALUE + 1);
	}

	@Test
	void aLockThatIsGoneByTheClocksOfTheOthersWhenItComesIsTakenByTheNextOne() {
		Condition absent = new Condition(null, Tags.ANY);
		jump(10, 0, Duration.ofSeconds(-5), false);
		CompletableFuture<?> lock = at(20, 0,
				operations -> operations.put(KEY, WriteOptions.of(MAJORITY, absent), VALUE, Ttl.parse("2s")));
		CompletableFuture<?> next = at(21, 2,
				operations -> operations.put(KEY, WriteOptions.of(MAJORITY, absent), VALUE + 1, Ttl.parse("2s")));
		runUntil(40);

		assertThat(lock).isCompletedExceptionally();
		assertThat(lock.exceptionNow()).hasMessageContaining("set the clocks");
		assertThat(next).isCompleted().isNotCompletedExceptionally();
	}

	/** What is asked of a node. */
	@FunctionalInterface
	private interface Asking<T> {

		Mono<T> ask(Operations operations);

	}

}
