package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.Inspection.Holding;
import io.kvorum.coordination.Inspection.State;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** Three nodes, the second one of a release without ballots. */
class InspectionTests {

	private static final Key KEY = Generator.key("key");

	private final SteeredTime time = new SteeredTime();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	private final Topology topology = Topology.of(List.of("http://one", "http://two", "http://three"), 3);

	private final List<InMemoryStorage> stores = new ArrayList<>();

	private final List<Replica> replicas = new ArrayList<>();

	InspectionTests() {
		this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		for (Member member : this.topology.members()) {
			InMemoryStorage storage = new InMemoryStorage();
			this.stores.add(storage);
			this.replicas.add(LocalReplica.alone(member, storage, this.clock, this.time));
		}
		this.replicas.set(1, new WithoutBallots(this.replicas.get(1)));
	}

	private Version version(long millis) {
		return new Version((this.time.millis() + millis) << Version.COUNTER_BITS, 1);
	}

	/** The state of the key on each node, by the index of the node. */
	private List<Holding> inspect() {
		Inspection inspection = new Inspection(this.topology, new RendezvousPlacement(this.topology), this.replicas,
				this.time, Duration.ofSeconds(1));
		List<Holding> holdings = new ArrayList<>(Objects.requireNonNull(Now.of(inspection.of(KEY))).holdings());
		holdings.sort((one, other) -> Integer.compare(one.member().index(), other.member().index()));
		return holdings;
	}

	@Test
	void eachNodeTellsItsPromiseAndWhatItsEntryWasMadeFromUnlessItKnowsNoBallots() {
		Live first = Generator.live(version(-30), "first");
		Version ballot = version(-20);
		Entry second = Generator.live(version(-20), "second").under(ballot, Lineage.of(ballot, true, first));
		Version higher = version(-10);
		for (InMemoryStorage storage : this.stores) {
			Now.of(storage.store(KEY, first, Deadline.NONE));
			Now.of(storage.accept(KEY, second, first.version(), Deadline.NONE));
		}
		Now.of(this.stores.get(2).prepare(KEY, higher, Deadline.NONE));

		List<Holding> holdings = inspect();
		assertThat(holdings).extracting(Holding::state).containsOnly(State.LIVE);
		assertThat(holdings).extracting(Holding::copies).containsOnly(1);
		assertThat(holdings).extracting(Holding::promise).containsExactly(ballot, null, higher);
		assertThat(holdings).extracting(Holding::entry).allSatisfy(entry -> {
			assertThat(entry).isInstanceOfSatisfying(Live.class, live -> assertThat(live.value().length()).isZero());
			assertThat(entry.version()).isEqualTo(ballot);
		});
		assertThat(holdings).extracting(holding -> Objects.requireNonNull(holding.entry()).lineage())
			.containsExactly(second.lineage(), null, second.lineage());
	}

	@Test
	void aKeyWithoutAnEntryMayHaveAPromise() {
		Now.of(this.stores.getFirst().prepare(KEY, version(-10), Deadline.NONE));

		List<Holding> holdings = inspect();
		assertThat(holdings).extracting(Holding::state).containsOnly(State.ABSENT);
		assertThat(holdings).extracting(Holding::promise).containsExactly(version(-10), null, Version.ABSENT);
	}

	@Test
	void anAnswerThatIsNoHeadOfTheKeyIsAFailureOfThatNode() {
		this.replicas.set(0, new ForwardedReplica(this.replicas.getFirst()) {
			@Override
			public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
				return Mono.just(new Answered(new byte[3]));
			}
		});

		List<Holding> holdings = inspect();
		assertThat(holdings).extracting(Holding::state).containsExactly(State.FAILED, State.ABSENT, State.ABSENT);
		assertThat(Objects.requireNonNull(holdings.getFirst().failed()).reason()).isEqualTo(Reason.INTERNAL);
	}

	/** Does not know the question, and is not asked it. */
	private static final class WithoutBallots extends ForwardedReplica {

		WithoutBallots(Replica replica) {
			super(replica);
		}

		@Override
		public boolean knowsBallots() {
			return false;
		}

		@Override
		public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
			throw new AssertionError("it is asked for " + query.kind());
		}

	}

}
