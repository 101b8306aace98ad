package io.kvorum.observability;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.SteeredConvergence;
import io.kvorum.convergence.antientropy.RepairEvents.Direction;
import io.kvorum.convergence.hints.HintEvents.Cause;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ConvergenceMetersTests {

	private static final Member B = SteeredConvergence.B;

	private static final Member C = SteeredConvergence.C;

	private final SimpleMeterRegistry all = new SimpleMeterRegistry();

	private final ConvergenceMeters events = new ConvergenceMeters(this.all);

	@BeforeEach
	void became() {
		this.events.became(SteeredConvergence.TOPOLOGY, SteeredConvergence.SELF);
	}

	private double counter(String name, String... tags) {
		return this.all.get(name).tags(tags).counter().count();
	}

	private double counter(String name, Member peer) {
		return counter(name, "peer", peer.address());
	}

	private double moved(String name, Member peer, String direction) {
		return counter(name, "peer", peer.address(), "direction", direction);
	}

	private double dropped(Member peer, String cause) {
		return counter("kvorum.hints.dropped", "peer", peer.address(), "cause", cause);
	}

	private Timer runs(Member peer, String outcome) {
		return this.all.get("kvorum.repair.runs").tags("peer", peer.address(), "outcome", outcome).timer();
	}

	@Test
	void whatRepairsExchangeCountsForTheirPeer() {
		this.events.compared(B, 1_000);
		this.events.compared(B, 24);
		this.events.differing(B, 7);
		this.events.moved(B, Direction.HERE, 3, 300);
		this.events.moved(B, Direction.THERE, 1, 50);
		this.events.moved(C, Direction.THERE, 2, 20);
		this.events.letGo(4);

		assertThat(counter("kvorum.repair.compared", B)).isEqualTo(1_024);
		assertThat(counter("kvorum.repair.compared", C)).isZero();
		assertThat(counter("kvorum.repair.differing", B)).isEqualTo(7);
		assertThat(moved("kvorum.repair.moved", B, "here")).isEqualTo(3);
		assertThat(moved("kvorum.repair.moved.size", B, "here")).isEqualTo(300);
		assertThat(moved("kvorum.repair.moved", B, "there")).isEqualTo(1);
		assertThat(moved("kvorum.repair.moved.size", B, "there")).isEqualTo(50);
		assertThat(moved("kvorum.repair.moved", C, "here")).isZero();
		assertThat(moved("kvorum.repair.moved.size", C, "there")).isEqualTo(20);
		assertThat(counter("kvorum.repair.let.go")).isEqualTo(4);
	}

	@Test
	void repairsAreTimedByWhatBecameOfThem() {
		this.events.ended(B, true, 5_000_000);
		this.events.ended(B, true, 7_000_000);
		this.events.ended(B, false, 1_000_000);

		assertThat(runs(B, "complete").count()).isEqualTo(2);
		assertThat(runs(B, "complete").totalTime(TimeUnit.MILLISECONDS)).isEqualTo(12);
		assertThat(runs(B, "partial").count()).isEqualTo(1);
		assertThat(runs(C, "complete").count()).isZero();
	}

	@Test
	void hintsAreCountedByWhatBecameOfThem() {
		this.events.kept(B);
		this.events.kept(B);
		this.events.replayed(B, 100);
		this.events.dropped(B, Cause.WINDOW, 1);
		this.events.dropped(C, Cause.SIZE, 1);
		this.events.dropped(C, Cause.OVERLOAD, 1);
		this.events.dropped(C, Cause.OVERLOAD, 1);
		this.events.dropped(C, Cause.UNREADABLE, 40);

		assertThat(counter("kvorum.hints.kept", B)).isEqualTo(2);
		assertThat(counter("kvorum.hints.kept", C)).isZero();
		assertThat(counter("kvorum.hints.replayed", B)).isEqualTo(1);
		assertThat(counter("kvorum.hints.replayed.size", B)).isEqualTo(100);
		List<String> causes = List.of("window", "size", "overload", "unreadable");
		assertThat(causes.stream().map(cause -> dropped(B, cause))).containsExactly(1.0, 0.0, 0.0, 0.0);
		assertThat(causes.stream().map(cause -> dropped(C, cause))).containsExactly(0.0, 1.0, 2.0, 40.0);
	}

	@Test
	void tombstonesThatWaitAreThoseOfTheLastRound() {
		this.events.waiting(5, 3);
		this.events.collected(2);
		this.events.waiting(4, 0);
		this.events.collected(1);

		assertThat(this.all.get("kvorum.tombstones.waiting").tag("reason", "repair").gauge().value()).isEqualTo(4);
		assertThat(this.all.get("kvorum.tombstones.waiting").tag("reason", "hints").gauge().value()).isZero();
		assertThat(counter("kvorum.tombstones.collected")).isEqualTo(3);
	}

	@Test
	void aNodeIsNoPeerOfItself() {
		assertThat(this.all.getMeters()).extracting(meter -> meter.getId().getTag("peer"))
			.doesNotContain(SteeredConvergence.SELF.address());
	}

	@Test
	void aNodeAloneHasNoMetersOfPeers() {
		SimpleMeterRegistry meterRegistry = new SimpleMeterRegistry();
		Topology alone = Topology.alone();
		new ConvergenceMeters(meterRegistry).became(alone, alone.members().getFirst());

		List<String> names = meterRegistry.getMeters()
			.stream()
			.map(Meter::getId)
			.map(Meter.Id::getName)
			.distinct()
			.toList();
		assertThat(names).containsExactlyInAnyOrder("kvorum.repair.let.go", "kvorum.tombstones.collected",
				"kvorum.tombstones.waiting");
	}

}
