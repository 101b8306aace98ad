package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.StoreSize;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EarlierChangesTests {

	private static final Topology A = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final Topology B = Topology.of(List.of("http://b:1", "http://c:1", "http://d:1"), 3);

	private static final List<Long> FROM_A_TO_B = List.of(A.fingerprint(), B.fingerprint());

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration LONGEST = Duration.ofSeconds(5);

	private final SteeredTime time = new SteeredTime();

	private final List<String> done = new ArrayList<>();

	private final EarlierChanges.Effects effects = new EarlierChanges.Effects() {

		@Override
		public void refused() {
			EarlierChangesTests.this.done.add("refused");
		}

		@Override
		public void over() {
			EarlierChangesTests.this.done.add("over");
		}

	};

	private static ChangeState first() {
		return new ChangeState(new Layout(0, A), new InMemoryRecord(1), StoreSize.NONE);
	}

	private static ChangeState next(ChangeState before, Layout layout) {
		ChangeState state = new ChangeState(layout, new InMemoryRecord(1), StoreSize.NONE);
		Now.of(state.adopt(layout.after().members().getFirst(), true, before));
		state.announce();
		return state;
	}

	/** The decisions: 1 staged, 2 applied, 3 paused, 4 goes on, 5 is over. */
	@Test
	void aChangeThatWasPausedIsNotRefusedAtOnceByTheLayoutThatItLedTo() {
		ChangeState moving = next(first(), new Layout(2, Topology.changing(A, B)));
		ChangeState moved = next(moving, new Layout(5, B));
		ChangeState givenUp = next(moving, new Layout(5, A));

		assertThat(moved.accepts(2, FROM_A_TO_B)).isTrue();
		assertThat(givenUp.accepts(2, FROM_A_TO_B)).isTrue();
	}

	@Test
	void aChangeThatIsNotTheOneBeforeIsRefused() {
		ChangeState moved = next(first(), new Layout(5, B));

		assertThat(moved.accepts(4, FROM_A_TO_B)).isTrue();
		assertThat(moved.accepts(3, FROM_A_TO_B)).isFalse();
	}

	@Test
	void nodesInAnEarlierChangeAreRefusedAfterAWhileAndTheirTimeIsOverWhenAllHaveRefusedThemForTheLongestOperation() {
		ChangeState here = next(next(first(), new Layout(1, Topology.changing(A, B))), new Layout(2, B));
		ChangeState there = next(next(first(), new Layout(1, Topology.changing(A, B))), new Layout(2, B));
		EarlierChanges changes = new EarlierChanges(here, List.of(replica(there)), PATIENCE, LONGEST, this.effects,
				this.time);
		changes.told();
		this.time.pass(PATIENCE.minusMillis(1));
		round(changes);
		assertThat(here.accepts(1, FROM_A_TO_B)).isTrue();

		this.time.pass(Duration.ofSeconds(2));
		round(changes);
		assertThat(here.accepts(1, FROM_A_TO_B)).isFalse();
		assertThat(this.done).containsExactly("refused");

		this.time.pass(LONGEST.multipliedBy(2));
		round(changes);
		there.refuseEarlier();
		this.time.pass(Duration.ofSeconds(2));
		round(changes);
		assertThat(here.isEarlierOver()).as("operations of such nodes may be under way").isFalse();

		this.time.pass(LONGEST);
		round(changes);
		round(changes);
		assertThat(here.isEarlierOver()).isTrue();
		assertThat(this.done).containsExactly("refused", "over");
	}

	private static void round(EarlierChanges changes) {
		Now.of(changes.round());
	}

	private Replica replica(ChangeState state) {
		return new LocalReplica(B.members().getLast(), new InMemoryStorage(), new HybridLogicalClock(this.time),
				this.time, VotingRight.TRUSTED, state.orElse(PeerQueries.NONE), _ -> false);
	}

}
