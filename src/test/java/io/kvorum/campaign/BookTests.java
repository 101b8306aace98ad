package io.kvorum.campaign;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.campaign.KeyHistory.Seen;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is planted here into accounts of clients has to be found. */
class BookTests {

	/** When the first generation has been checked. */
	private static final long LATER = 2 * Book.GENERATION_NANOS;

	private static final long MUCH_LATER = 2 * LATER;

	private static final String KEY = Book.key(0, 1);

	private final Book book = new Book();

	@Test
	void aLostWriteIsFoundWhenItsGenerationIsOver() {
		record(Kind.PUT, 1, Outcome.DONE, 0);
		record(Kind.GET, Operation.ABSENT, Outcome.DONE, 10);
		assertThat(this.book.checkWhatIsOver(Book.GENERATION_NANOS)).isEmpty();
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aLostWriteIsFoundByAReadMuchLater() {
		settleOn(1);
		record(Kind.GET, 1, Outcome.DONE, LATER);
		assertThat(this.book.checkWhatIsOver(MUCH_LATER)).isEmpty();
		record(Kind.GET, Operation.ABSENT, Outcome.DONE, MUCH_LATER);
		assertThat(this.book.checkWhatIsOver(MUCH_LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aValueThatWasReplacedAndComesBackIsFound() {
		record(Kind.PUT, 2, Outcome.UNKNOWN, 0);
		record(Kind.GET, 2, Outcome.DONE, 10);
		settleOn(1);
		record(Kind.GET, 2, Outcome.DONE, LATER);
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aWriteOfUnknownOutcomeMaySurfaceLateOnce() {
		record(Kind.PUT, 2, Outcome.UNKNOWN, 0);
		settleOn(1);
		record(Kind.GET, 2, Outcome.DONE, LATER);
		assertThat(this.book.checkWhatIsOver(LATER)).isEmpty();
		record(Kind.GET, 1, Outcome.DONE, LATER + 10);
		assertThat(this.book.checkWhatIsOver(MUCH_LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aReadThatBeganBeforeOneThatWasCheckedMayFindWhatThatReplaced() {
		settleOn(1);
		record(Kind.PUT, 2, Outcome.UNKNOWN, 100);
		record(Kind.GET, 2, Outcome.DONE, LATER + 10);
		assertThat(this.book.checkWhatIsOver(LATER + 5)).isEmpty();
		record(Kind.GET, 1, Outcome.DONE, LATER + 5, LATER + 30);
		assertThat(this.book.checkWhatIsOver(LATER + 40)).isEmpty();
	}

	@Test
	void oneValueThatTwoWritersHaveReplacedIsFound() {
		record(Kind.PUT, 1, Outcome.DONE, 0);
		this.book.record(KEY, put(2, 10).provided(Condition.holds(1)), "\"2\"", "");
		this.book.record(KEY, put(3, 10).provided(Condition.holds(1)), "\"3\"", "");
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aConditionThatWasNotMetByAValueThatWasReplacedIsFound() {
		this.book.record(KEY, put(1, 0), "\"1\"", "");
		this.book.record(KEY, put(2, 10), "\"2\"", "");
		this.book.record(KEY, unmet(3, 20), "\"2\"", "");
		this.book.record(KEY, unmet(4, 20), "\"of no known value\"", "");
		assertThat(this.book.audit(Map.of(KEY, 2), Set.of(), 30, 40)).isEmpty();
		this.book.record(KEY, put(5, 50), "\"5\"", "");
		this.book.record(KEY, put(6, 60), "\"6\"", "");
		this.book.record(KEY, unmet(7, 70), "\"5\"", "");
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aConditionThatWasNotMetByAnAbsentValueIsFoundWhileThereIsOne() {
		this.book.record(KEY, put(1, 0), "\"1\"", "");
		this.book.record(KEY, put(2, 10).provided(Condition.holds(1)).ending(Outcome.NOT_MET), "", "");
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void aConditionalWriteOfUnknownOutcomeMaySurfaceLateIfItsConditionIsStillMet() {
		record(Kind.PUT, 2, Outcome.UNKNOWN, 0, Condition.holds(1));
		record(Kind.PUT, 3, Outcome.UNKNOWN, 0, Condition.holds(5));
		settleOn(1);
		record(Kind.GET, 2, Outcome.DONE, LATER);
		assertThat(this.book.checkWhatIsOver(LATER)).isEmpty();
		record(Kind.GET, 3, Outcome.DONE, LATER + 10);
		assertThat(this.book.checkWhatIsOver(MUCH_LATER)).containsOnlyKeys(KEY);
	}

	@Test
	void clientsTellOneAnotherTheLastValueOfAKeyThatIsWritten() {
		assertThat(this.book.seen(KEY)).isNull();
		this.book.record(KEY, put(1, 0), "\"1\"", "");
		assertThat(this.book.seen(KEY)).isEqualTo(new Seen(1, "\"1\""));
		record(Kind.PUT, 2, Outcome.UNKNOWN, 10);
		assertThat(this.book.seen(KEY)).isEqualTo(new Seen(1, "\"1\""));
		Operation delete = new Operation("c", Kind.DELETE, Operation.ABSENT, Outcome.DONE, 20, 21);
		this.book.record(KEY, delete, "\"of the delete\"", "");
		assertThat(this.book.seen(KEY)).isNull();
	}

	@Test
	void aKeyThatWasWrongOnceIsNotToldAgainForEachReadThatFollows() {
		record(Kind.PUT, 1, Outcome.DONE, 0);
		record(Kind.GET, Operation.ABSENT, Outcome.DONE, 10);
		assertThat(this.book.checkWhatIsOver(LATER)).containsOnlyKeys(KEY);
		record(Kind.GET, 1, Outcome.DONE, LATER);
		assertThat(this.book.checkWhatIsOver(MUCH_LATER)).isEmpty();
	}

	@Test
	void whatAllReplicasHoldHasToBeWhatWasAcknowledged() {
		record(Kind.PUT, 1, Outcome.DONE, 0);
		assertThat(this.book.audit(Map.of(KEY, 1), Set.of(), 10, 20)).isEmpty();
		assertThat(this.book.audit(Map.of(), Set.of(KEY), 30, 40)).isEmpty();
		assertThat(this.book.audit(Map.of(), Set.of(), 50, 60)).containsOnlyKeys(KEY);
	}

	@Test
	void copiesThatDifferOrAreTooFewAreFound() {
		Replicas replicas = new Replicas();
		add(replicas, "all", "v1", "v1", "v1");
		add(replicas, "few", "v1", "v1");
		add(replicas, "differ", "v1", "v2", "v1");
		assertThat(replicas.differences(3)).containsOnlyKeys("few", "differ");
		assertThat(replicas.values()).containsEntry("all", 5);
	}

	@Test
	void aValueEndsWithItsTimeToLive() {
		long second = 1_000_000_000L;
		TtlRule rule = new TtlRule(List.of(new long[] { 50 * second, 60 * second }));
		Operation put = new Operation("c", Kind.PUT, 1, Outcome.DONE, 0, second);
		assertThat(rule.fault(put, 10 * second, get(1, 9 * second))).isNull();
		assertThat(rule.fault(put, 10 * second, get(0, 5 * second))).contains("early");
		assertThat(rule.fault(put, 10 * second, get(0, 12 * second))).isNull();
		assertThat(rule.fault(put, 10 * second, get(1, 13 * second))).contains("after its end");
		assertThat(rule.fault(put, 10 * second, get(1, 55 * second))).as("clocks are wrong").isNull();
	}

	private static Operation put(int value, long at) {
		return new Operation("c", Kind.PUT, value, Outcome.DONE, at, at + 1);
	}

	/** A put that should create the key. */
	private static Operation unmet(int value, long at) {
		return put(value, at).provided(Condition.ABSENT).ending(Outcome.NOT_MET);
	}

	private static Operation get(int value, long at) {
		return new Operation("c", Kind.GET, value, Outcome.DONE, at, at);
	}

	private static void add(Replicas replicas, String key, String... versions) {
		for (String version : versions) {
			// The value is "5 ".
			replicas.add(key, "{\"id\":\"%s\",\"version\":\"%s\",\"value\":\"NSA=\"}".formatted(key, version));
		}
	}

	private void settleOn(int value) {
		record(Kind.PUT, value, Outcome.DONE, 20);
		record(Kind.GET, value, Outcome.DONE, 30);
		assertThat(this.book.checkWhatIsOver(LATER)).isEmpty();
	}

	private void record(Kind kind, int value, Outcome outcome, long at) {
		record(kind, value, outcome, at, at + 1);
	}

	private void record(Kind kind, int value, Outcome outcome, long at, Condition condition) {
		this.book.record(KEY, new Operation("c", kind, value, outcome, at, at + 1).provided(condition), "", "");
	}

	private void record(Kind kind, int value, Outcome outcome, long from, long to) {
		this.book.record(KEY, new Operation("c", kind, value, outcome, from, to), "", "");
	}

}
