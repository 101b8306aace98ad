package io.kvorum.observability;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.Joining;
import io.kvorum.convergence.SteeredConvergence;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.Step;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import reactor.test.StepVerifier;

import static org.assertj.core.api.Assertions.assertThat;

class ConvergenceHealthTests {

	private static final Member B = SteeredConvergence.B;

	private static final Member C = SteeredConvergence.C;

	private static final String EQUAL = "equal as of 2027-01-15T07:59:00Z";

	private final SteeredConvergence node = new SteeredConvergence();

	private final SteeredTime time = new SteeredTime();

	private final Joining joining = startedTwoMinutesAgo();

	private Joining startedTwoMinutesAgo() {
		this.time.jump(Duration.ofMinutes(-2));
		Joining started = new Joining(this.time);
		this.time.jump(Duration.ofMinutes(2));
		return started;
	}

	private Map<String, Object> details() {
		return details(this.node.convergence());
	}

	private Map<String, Object> details(Convergence convergence) {
		Health told = health(convergence);
		assertThat(told.getStatus()).as("whatever happens").isIn(Status.UP, Status.UNKNOWN);
		return told.getDetails();
	}

	private Health health(Convergence convergence) {
		Health[] told = new Health[1];
		StepVerifier.create(new ConvergenceHealth(convergence, this.joining, this.time).health())
			.assertNext(health -> told[0] = health)
			.verifyComplete();
		return told[0];
	}

	@Test
	void aMemberThatIsEqualToAllPeersHasConverged() {
		assertThat(details()).isEqualTo(Map.of("converged", true, "joined", true, "membership", "member", "hints",
				Map.of(B.address(), "0", C.address(), "0"), "repairs", Map.of(B.address(), EQUAL, C.address(), EQUAL)));
	}

	@Test
	void aNodeAloneHasConverged() {
		assertThat(details(Convergence.alone()))
			.isEqualTo(Map.of("converged", true, "joined", true, "membership", "alone"));
	}

	@Test
	void untilItHasJoinedItIsUnknownAndSaysWhatItWaitsFor() {
		this.node.there = Set.of(C.address());
		assertThat(health(this.node.convergence()).getStatus()).isEqualTo(Status.UNKNOWN);
		assertThat(details()).containsEntry("joined", false)
			.containsEntry("waitsFor", Map.of(B.address(), "it is away"));

		this.node.there = Set.of(B.address(), C.address());
		assertThat(health(this.node.convergence()).getStatus()).isEqualTo(Status.UP);
		assertThat(details()).containsEntry("joined", true).doesNotContainKey("waitsFor");
	}

	@Test
	void aChangeOfTheNodesIsTold() {
		this.node.change = new ChangeStatus(Step.OPEN, List.of(B), "to be in the change");
		assertThat(details()).containsEntry("change",
				Map.of("step", "open", "waitsFor", List.of(B.address()), "why", "to be in the change"));

		this.node.change = new ChangeStatus(Step.DONE, List.of(), "");
		assertThat(details()).containsEntry("change", Map.of("step", "done", "waitsFor", List.of()));
	}

	@Test
	void aNodeInQuarantineSaysWhyAndHowFarItIs() {
		this.node.quarantine = new QuarantineProgress("lost", "http://a:7000 does not vote: it has lost its disk", 64,
				12);

		assertThat(details()).containsEntry("converged", false)
			.containsEntry("membership", "lost")
			.containsEntry("doubt", "http://a:7000 does not vote: it has lost its disk")
			.containsEntry("rebuilt", "12 of 64 parts");
	}

	@Test
	void aNodeThatHasJustStartedHasNothingToRebuild() {
		this.node.quarantine = new QuarantineProgress("member", "it has just started", 0, 0);

		assertThat(details()).containsEntry("converged", false)
			.containsEntry("doubt", "it has just started")
			.doesNotContainKey("rebuilt");
	}

	@Test
	void hintsThatWaitAreCountedAndKeepTheNodeFromHavingConverged() {
		this.node.hints.put(B, new Waiting(123, 4567, SteeredTime.START_MILLIS - 2_500));
		this.time.pass(Duration.ofSeconds(10));

		assertThat(details()).containsEntry("converged", false)
			.containsEntry("hints",
					Map.of(B.address(), "123 hints, 4567 bytes, the oldest 12 s old", C.address(), "0"));
	}

	@Test
	void aKnownDifferenceKeepsTheNodeFromHavingConverged() {
		this.node.equal = false;

		assertThat(details()).containsEntry("converged", false);
	}

	@Test
	void aPeerThatIsAwayKeepsTheNodeFromHavingConverged() {
		this.node.there = Set.of(C.address());

		assertThat(details()).containsEntry("converged", false);
	}

	@Test
	void repairsSayHowTheyGo() {
		this.node.repairs.put(B, SteeredConvergence.repair(B, true, 4096, 12, RepairLog.NEVER, "it was away"));
		this.node.repairs.put(C, SteeredConvergence.repair(C, false, 4096, 12, 1, "http://c:7000: overloaded"));

		assertThat(details()).containsEntry("repairs", Map.of(B.address(), "under way: 12 of 4096 slices", C.address(),
				"given up, to be tried again: http://c:7000: overloaded"));
	}

	@Test
	void aPeerThatHasNeverBeenComparedIsNotCalledEqual() {
		this.node.repairs.put(B, SteeredConvergence.repair(B, false, 0, 0, RepairLog.NEVER, ""));

		assertThat(details()).containsEntry("repairs", Map.of(B.address(), "not found equal yet", C.address(), EQUAL));
	}

}
