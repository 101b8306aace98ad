package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NodesTests {

	private static final long MILLI = 1_000_000;

	private final AtomicLong now = new AtomicLong(5_000_000_000L);

	/** Draws the first two of the candidates. */
	private final Nodes nodes = new Nodes(
			List.of(URI.create("http://a"), URI.create("http://b"), URI.create("http://c")), this.now::get, bound -> 0);

	private final Node a = this.nodes.choose(List.of());

	private final Node b = this.nodes.choose(List.of(this.a));

	private final Node c = this.nodes.choose(List.of(this.a, this.b));

	private void pass(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	@Test
	void ofTwoTheOneWithFewerRequestsUnderWayIsAsked() {
		assertThat(List.of(this.a, this.b, this.c)).extracting(Node::toString)
			.containsExactly("http://a", "http://b", "http://c");
		this.a.begin();
		assertThat(this.nodes.choose(List.of())).isEqualTo(this.b);
		this.b.begin();
		this.b.begin();
		assertThat(this.nodes.choose(List.of())).isEqualTo(this.a);
		this.b.end();
		this.b.end();
		assertThat(this.nodes.choose(List.of())).isEqualTo(this.b);
	}

	@Test
	void aNodeThatDidNotAnswerComesBehindTheOthersAndBeforeThoseThatFailedThisOperation() {
		this.a.failed(this.now.get());
		assertThat(this.nodes.choose(List.of())).isEqualTo(this.b);
		assertThat(this.nodes.choose(List.of(this.b, this.c))).isEqualTo(this.a);
		assertThat(this.nodes.choose(List.of(this.a, this.b, this.c))).as("again").isEqualTo(this.b);
		this.b.failed(this.now.get());
		pass(Duration.ofMillis(50));
		this.c.failed(this.now.get());
		assertThat(this.nodes.choose(List.of())).as("the first to be awake").isEqualTo(this.a);
	}

	@Test
	void aRestIsTheLongerTheMoreOftenThereWasNoAnswerUpToTenSecondsAndEndsWithAnAnswer() {
		List<Long> rests = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			for (int together = 0; together < 5; together++) {
				this.a.failed(this.now.get());
			}
			rests.add(this.a.restNanos(this.now.get()) / MILLI);
			pass(Duration.ofNanos(this.a.restNanos(this.now.get())));
		}
		assertThat(rests).containsExactly(100L, 200L, 400L, 800L, 1_600L, 3_200L, 6_400L, 10_000L, 10_000L);

		this.a.failed(this.now.get());
		this.a.answered(this.now.get());
		assertThat(this.a.restNanos(this.now.get())).isNotPositive();
		this.a.failed(this.now.get());
		assertThat(this.a.restNanos(this.now.get())).as("from the beginning").isEqualTo(100 * MILLI);
	}

	@Test
	void aNodeThatAsksToBeLeftAloneIsThoughItAnswers() {
		this.a.refuses(Duration.ofSeconds(3), this.now.get());
		this.a.refuses(Duration.ofSeconds(1), this.now.get());
		this.a.answered(this.now.get());
		assertThat(this.a.restNanos(this.now.get())).isEqualTo(3_000 * MILLI);
		this.b.refuses(Duration.ofSeconds(Long.MAX_VALUE), this.now.get());
		assertThat(this.b.refusesNanos(this.now.get())).isEqualTo(10_000 * MILLI);
	}

	@Test
	void pausesDoubleWhenAllNodesHaveFailed() {
		Attempts attempts = new Attempts(true, false, 20, Long.MAX_VALUE);
		KvorumException failure = failure(Outcome.NOT_APPLIED);
		List<Long> pauses = new ArrayList<>();
		for (int i = 0; i < 11; i++) {
			assertThat(attempts.mayRepeat(this.a, failure, 0)).isTrue();
			pauses.add(attempts.pauseNanos(failure, 3, 1) / MILLI);
		}
		assertThat(pauses).containsExactly(0L, 0L, 20L, 40L, 80L, 160L, 320L, 640L, 1_000L, 1_000L, 1_000L);
	}

	@Test
	void theDeadlineCutsNoRepeatOff() {
		KvorumException failure = failure(Outcome.NOT_APPLIED);
		Attempts attempts = new Attempts(true, false, 20, 500 * MILLI);
		assertThat(attempts.mayRepeat(this.a, failure, 480 * MILLI - 1)).isTrue();
		assertThat(attempts.mayRepeat(this.a, failure, 480 * MILLI)).isFalse();
		assertThat(attempts.remainingForRepeatNanos(470 * MILLI)).isEqualTo(10 * MILLI);
	}

	@Test
	void whereTheTimeRunsOutInARepeatTheReasonIsWhatANodeToldBefore() {
		KvorumException none = failure(Outcome.NOT_APPLIED);
		KvorumException told = new KvorumException.NotEnoughReplicas(
				new Problem("not-enough-replicas", 504, "", Outcome.NOT_APPLIED, true, null, 0, 0, List.of()),
				this.b.url());
		Attempts attempts = new Attempts(true, false, 20, 500 * MILLI);
		assertThat(attempts.mayRepeat(this.a, told, 0)).isTrue();
		assertThat(attempts.mayRepeat(this.a, none, 500 * MILLI)).isFalse();
		assertThat(attempts.end(none, 479 * MILLI)).as("before the end of the time").isSameAs(none);
		assertThat(attempts.end(none, 480 * MILLI)).isSameAs(told);

		assertThat(attempts.mayRepeat(this.a, failure(Outcome.UNKNOWN), 0)).isTrue();
		assertThat(attempts.end(none, 500 * MILLI).outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(new Attempts(true, false, 20, 0).end(none, 1)).as("nothing was told").isSameAs(none);
	}

	@Test
	void aConditionThatOtherNodesHaveLookedAtSaysNothingOfTheFirstRequest() {
		KvorumException unknown = failure(Outcome.UNKNOWN);
		KvorumException notMet = new KvorumException.ConditionNotMet(
				new Problem("precondition-failed", 412, "", Outcome.NOT_APPLIED, false, null, 0, 0, List.of()),
				this.b.url());
		Attempts attempts = new Attempts(true, true, 20, Long.MAX_VALUE);
		assertThat(attempts.mayRepeat(this.a, unknown, 0)).isTrue();
		assertThat(attempts.end(notMet, 0).outcome()).isEqualTo(Outcome.NOT_APPLIED);
		attempts.keysAreMoved();
		assertThat(attempts.end(notMet, 0).outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(attempts.mayRepeat(this.a, unknown, 0)).isFalse();
		Attempts begunLater = new Attempts(true, true, 20, Long.MAX_VALUE);
		begunLater.keysAreMoved();
		assertThat(begunLater.mayRepeat(this.a, failure(Outcome.NOT_APPLIED), 0)).isTrue();
	}

	@Test
	void anAnswerBehindARestEndsTheCountOfFailuresToo() {
		for (int i = 0; i < 8; i++) {
			this.a.failed(this.now.get());
			pass(Duration.ofSeconds(11));
			this.a.answered(this.now.get());
		}
		this.a.failed(this.now.get());
		assertThat(this.a.restNanos(this.now.get())).isEqualTo(100 * MILLI);
	}

	@Test
	void aWriteWithANameThatTheNodesMayHaveForgottenIsNotRepeated() {
		KvorumException unknown = failure(Outcome.UNKNOWN);
		Attempts attempts = new Attempts(true, true, 20, Long.MAX_VALUE);
		attempts.begin(this.a, MILLI);
		assertThat(attempts.mayRepeat(this.a, unknown, Duration.ofMinutes(9).toNanos())).isTrue();
		attempts.begin(this.b, Duration.ofMinutes(9).toNanos());
		assertThat(attempts.mayRepeat(this.b, failure(Outcome.NOT_APPLIED), Duration.ofMinutes(10).toNanos()))
			.isFalse();
	}

	@Test
	void aRetiredNodeStaysOneUntilItServesAgain() {
		this.a.retired();
		this.a.answered(this.now.get());
		assertThat(this.a.isRetired()).isTrue();
		this.a.served();
		assertThat(this.a.isRetired()).isFalse();
	}

	private KvorumException failure(Outcome outcome) {
		return new KvorumException.NoAnswer("", outcome, this.a.url(), null, true);
	}

	@Test
	void tenAnswersBringOneRepeatBack() {
		RetryBudget budget = new RetryBudget(this.now::get);
		int taken = 0;
		while (budget.take()) {
			taken++;
		}
		assertThat(taken).isEqualTo(100);
		for (int i = 0; i < 10; i++) {
			assertThat(budget.take()).isFalse();
			budget.answered();
		}
		assertThat(budget.take()).isTrue();
		assertThat(budget.take()).isFalse();
		this.now.addAndGet(2_500 * MILLI);
		assertThat(budget.take()).isTrue();
		assertThat(budget.take()).isTrue();
		assertThat(budget.take()).isFalse();
		this.now.addAndGet(500 * MILLI);
		assertThat(budget.take()).as("of each second").isTrue();
	}

}
