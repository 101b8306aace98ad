package io.kvorum.observability;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.SteeredConvergence;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ConvergenceGaugesTests {

	private static final Member B = SteeredConvergence.B;

	private static final Member C = SteeredConvergence.C;

	private final SimpleMeterRegistry all = new SimpleMeterRegistry();

	private final SteeredConvergence node = new SteeredConvergence();

	private final SteeredTime time = new SteeredTime();

	ConvergenceGaugesTests() {
		new ConvergenceGauges(this.node.convergence(), this.time).bindTo(this.all);
	}

	private double gauge(String name) {
		return this.all.get(name).gauge().value();
	}

	private double gauge(String name, Member peer) {
		return this.all.get(name).tag("peer", peer.address()).gauge().value();
	}

	private double seconds(String name, Member peer) {
		return this.all.get(name).tag("peer", peer.address()).timeGauge().value(TimeUnit.SECONDS);
	}

	@Test
	void hintsThatWaitAreToldForEachPeer() {
		this.node.hints.put(B, new Waiting(3, 300, SteeredTime.START_MILLIS - 2_000));
		this.time.pass(Duration.ofSeconds(10));

		assertThat(gauge("kvorum.hints.waiting", B)).isEqualTo(3);
		assertThat(gauge("kvorum.hints.waiting.size", B)).isEqualTo(300);
		assertThat(seconds("kvorum.hints.oldest.age", B)).isEqualTo(12);
		assertThat(gauge("kvorum.hints.waiting", C)).isZero();
		assertThat(gauge("kvorum.hints.waiting.size", C)).isZero();
		assertThat(seconds("kvorum.hints.oldest.age", C)).isZero();
	}

	@Test
	void hintsFromAClockThatRunsAheadAreNotYoungerThanNow() {
		this.node.hints.put(B, new Waiting(1, 10, SteeredTime.START_MILLIS + 5_000));

		assertThat(seconds("kvorum.hints.oldest.age", B)).isZero();
	}

	@Test
	void theAgeOfRepairsIsThatOfTheOldest() {
		assertThat(seconds("kvorum.repair.oldest.age", B)).isEqualTo(60);
		this.time.pass(Duration.ofHours(1));
		assertThat(seconds("kvorum.repair.oldest.age", B)).isEqualTo(3_660);
	}

	@Test
	void whereASliceWasNeverRepairedTheAgeIsThatOfTheNode() {
		this.node.repairs.put(B, SteeredConvergence.repair(B, false, 0, 0, RepairLog.NEVER, ""));
		this.time.pass(Duration.ofSeconds(90));
		this.time.jump(Duration.ofHours(1));

		assertThat(seconds("kvorum.repair.oldest.age", B)).isEqualTo(90);
	}

	@Test
	void aNodeInQuarantineDoesNotVote() {
		assertThat(gauge("kvorum.voting")).isEqualTo(1);
		assertThat(gauge("kvorum.quarantine.parts.left")).isZero();

		this.node.quarantine = new QuarantineProgress("lost", "it has lost its disk", 64, 12);

		assertThat(gauge("kvorum.voting")).isZero();
		assertThat(gauge("kvorum.quarantine.parts.left")).isEqualTo(52);
		assertThat(gauge("kvorum.converged")).isZero();
	}

	@Test
	void needsAreThoseOfTheLog() {
		this.node.slicesInNeed = 17;

		assertThat(gauge("kvorum.repair.needs")).isEqualTo(17);
	}

	@Test
	void aNodeHasConvergedWhileAllPeersAreThereAndNothingIsToRepairOrHandOver() {
		assertThat(gauge("kvorum.converged")).isEqualTo(1);
		this.node.there = Set.of(B.address());
		assertThat(gauge("kvorum.converged")).isZero();

		this.node.there = Set.of(B.address(), C.address());
		this.node.equal = false;
		assertThat(gauge("kvorum.converged")).isZero();

		this.node.equal = true;
		this.node.hints.put(B, new Waiting(1, 10, SteeredTime.START_MILLIS));
		assertThat(gauge("kvorum.converged")).isZero();
	}

	@Test
	void allAreHeldOverAGarbageCollection() {
		System.gc();
		assertThat(this.all.getMeters()).hasSize(12).allSatisfy(meter -> assertThat(meter.measure()).isNotEmpty());
		assertThat(gauge("kvorum.converged")).isEqualTo(1);
		assertThat(seconds("kvorum.repair.oldest.age", C)).isEqualTo(60);
	}

	@Test
	void aNodeAloneHasNone() {
		SimpleMeterRegistry meterRegistry = new SimpleMeterRegistry();
		new ConvergenceGauges(Convergence.alone(), this.time).bindTo(meterRegistry);

		assertThat(meterRegistry.getMeters()).isEmpty();
	}

}
