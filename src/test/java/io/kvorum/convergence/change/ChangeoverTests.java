package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

/** Which comparisons count for a node that is added to three, as one of them leaves. */
class ChangeoverTests {

	private static final Topology FROM_A_TO_B = Topology.changing(
			Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3),
			Topology.of(List.of("http://b:1", "http://c:1", "http://d:1"), 3));

	private static final Layout LAYOUT = new Layout(1, FROM_A_TO_B);

	private final SteeredTime time = new SteeredTime();

	private final Map<String, ChangeState> states = new HashMap<>();

	/** Those that have all that they have acknowledged. */
	private final Set<String> members = new HashSet<>(Set.of("a", "b", "c"));

	/** Those that have said that they lack some of it. */
	private final Set<String> rebuilding = new HashSet<>();

	private final Compared compared = new Compared();

	/** Whose promises were copied. */
	private final List<String> promised = new ArrayList<>();

	private Sinks.One<Long> alarm = Sinks.one();

	private static String name(Member member) {
		return member.address().substring("http://".length(), "http://".length() + 1);
	}

	private static Member member(String name) {
		return FROM_A_TO_B.member("http://" + name + ":1");
	}

	private ChangeState state(String name, boolean mayVote) {
		ChangeState state = new ChangeState(LAYOUT, new InMemoryRecord(1), StoreSize.NONE);
		Now.of(state.adopt(member(name), mayVote, null));
		state.announce();
		return state;
	}

	private Replica replica(String name) {
		ChangeState state = state(name, true);
		this.states.put(name, state);
		return new LocalReplica(member(name), new InMemoryStorage(), new HybridLogicalClock(this.time), this.time,
				VotingRight.TRUSTED, state.orElse(PeerQueries.NONE), _ -> false);
	}

	private ChangeState of(String name) {
		return Objects.requireNonNull(this.states.get(name));
	}

	private void take(String name, Step step) {
		Now.of(of(name).take(step));
	}

	/** Lets the node look at the others again. */
	private List<String> look() {
		this.compared.begun.clear();
		this.alarm.tryEmitValue(0L);
		return List.copyOf(this.compared.begun);
	}

	@BeforeEach
	void begin() {
		List<Replica> others = List.of(replica("a"), replica("b"), replica("c"));
		take("a", Step.CLOSED);
		new Changeover(LAYOUT, member("d"), this.states.computeIfAbsent("d", name -> state(name, false)), others,
				this.compared, (from, settles) -> {
					assertThat(settles).as("what they have not all accepted is settled").isTrue();
					from.forEach(member -> this.promised.add(name(member)));
					return Mono.empty();
				}, member -> this.members.contains(name(member)), member -> this.rebuilding.contains(name(member)),
				() -> {
				}, Duration.ofMinutes(1), this.time, _ -> {
					this.alarm = Sinks.one();
					return this.alarm.asMono();
				})
			.run()
			.subscribe();
	}

	private Step step() {
		return of("d").step();
	}

	@Test
	void nothingCountsBeforeEnoughNodesAreClosed() {
		assertThat(look()).isEmpty();
	}

	@Test
	void comparisonsWithANodeCountFromTheMomentOnAtWhichItIsClosed() {
		take("b", Step.CLOSED);
		assertThat(look()).containsExactly("a", "b");
		this.compared.isWith.addAll(List.of("a", "b", "c"));
		assertThat(look()).isEmpty();
		assertThat(this.promised).as("the third may give more").isEmpty();

		take("c", Step.CLOSED);
		assertThat(look()).containsExactly("c");
		this.compared.isWith.add("c");
		assertThat(look()).as("the second time").containsExactlyInAnyOrder("a", "b", "c");
		assertThat(this.promised).containsExactly("a", "b", "c");
		this.compared.isWith.addAll(List.of("a", "b", "c"));
		look();
		assertThat(step()).isEqualTo(Step.SYNCED);
	}

	@Test
	void comparisonsWithANodeThatMayLackWhatItHasAcknowledgedDoNotCount() {
		this.members.remove("b");
		List.of("b", "c").forEach(name -> take(name, Step.CLOSED));
		assertThat(look()).containsExactly("a", "c");
		this.compared.isWith.addAll(List.of("a", "b"));
		look();
		assertThat(this.promised).isEmpty();

		this.members.add("b");
		assertThat(look()).as("it has got all back").containsExactly("b");
	}

	@Test
	void aNodeThatHasSaidNothingYetIsWaitedFor() {
		this.members.remove("b");
		List.of("b", "c").forEach(name -> take(name, Step.CLOSED));
		look();
		this.compared.isWith.addAll(List.of("a", "c"));
		look();
		assertThat(this.promised).isEmpty();
	}

	@Test
	void aNodeThatHasLostItsDiskAfterItsComparisonIsComparedAgainWhenItIsRebuilt() {
		List.of("b", "c").forEach(name -> take(name, Step.CLOSED));
		look();
		this.compared.isWith.addAll(List.of("a", "b"));
		look();
		this.members.remove("b");
		this.rebuilding.add("b");
		look();
		assertThat(this.promised).isEmpty();

		this.compared.isWith.add("c");
		look();
		assertThat(this.promised).as("b cannot give its own").containsExactly("a", "c");
		this.rebuilding.clear();
		this.members.add("b");
		assertThat(look()).contains("b");
	}

	@Test
	void aNodeThatMayLackWhatItHasAcknowledgedIsNotWaitedForIfTheOthersSuffice() {
		this.members.remove("b");
		this.rebuilding.add("b");
		List.of("b", "c").forEach(name -> take(name, Step.CLOSED));
		look();
		this.compared.isWith.addAll(List.of("a", "c"));
		look();
		assertThat(this.promised).containsExactly("a", "c");
	}

	@Test
	void aNodeThatCannotReadAllThatItHasIsNotWaitedForIfTheOthersSuffice() {
		List.of("b", "c").forEach(name -> take(name, Step.CLOSED));
		look();
		this.compared.isWith.addAll(List.of("a", "b"));
		look();
		assertThat(this.promised).isEmpty();

		this.compared.unreadable.add("c");
		look();
		assertThat(this.promised).containsExactly("a", "b");
	}

	/** The comparisons of the node, which a test completes. */
	private static final class Compared implements Changeover.Comparison {

		private final List<String> begun = new ArrayList<>();

		private final Set<String> isWith = new HashSet<>();

		private final Set<String> unreadable = new HashSet<>();

		@Override
		public void compareAnew(Member other) {
			this.begun.add(name(other));
			this.isWith.remove(name(other));
		}

		@Override
		public boolean isComparedAnew(Member other) {
			return this.isWith.contains(name(other));
		}

		@Override
		public boolean cannotRead(Member other) {
			return this.unreadable.contains(name(other));
		}

	}

}
