package io.kvorum.testing.history;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LinearizabilityTests {

	private final List<Operation> history = new ArrayList<>();

	@Test
	void aHistoryWithoutOperationsIsLinearizable() {
		assertLinearizable();
	}

	@Test
	void operationsOneAfterTheOther() {
		get(0, 0, 1);
		put(1, 2, 3);
		get(1, 4, 5);
		delete(6, 7);
		get(0, 8, 9);
		assertLinearizable();
	}

	@Test
	void aReadOfAValueReplacedBefore() {
		put(1, 0, 1);
		put(2, 2, 3);
		assertOffending(get(1, 4, 5));
	}

	@Test
	void aReadDuringAWriteFindsTheOldOrTheNew() {
		put(1, 0, 1);
		put(2, 2, 10);
		get(1, 3, 4);
		get(2, 5, 6);
		assertLinearizable();
	}

	@Test
	void readsThatGoBack() {
		put(1, 0, 1);
		put(2, 2, 10);
		get(2, 3, 4);
		assertOffending(get(1, 5, 6));
	}

	@Test
	void anAcknowledgedWriteThatIsLost() {
		put(1, 0, 1);
		assertOffending(get(0, 2, 3));
	}

	@Test
	void aWriteSeenBeforeItWasInvoked() {
		Operation get = get(1, 0, 1);
		put(1, 2, 3);
		assertOffending(get);
	}

	@Test
	void aValueThatNobodyPut() {
		assertOffending(get(7, 0, 1));
	}

	@Test
	void anUnknownWriteMaySurfaceLateOrNever() {
		put(1, 0, 1);
		add(Kind.PUT, 2, Outcome.UNKNOWN, 2, 3);
		add(Kind.PUT, 3, Outcome.UNKNOWN, 2, 3);
		get(1, 4, 5);
		get(2, 100, 101);
		assertLinearizable();
	}

	@Test
	void anUnknownWriteThatSurfacedDoesNotVanish() {
		put(1, 0, 1);
		add(Kind.PUT, 2, Outcome.UNKNOWN, 2, 3);
		get(2, 4, 5);
		assertOffending(get(1, 6, 7));
	}

	@Test
	void anUnknownDeleteMayHappenLateOnce() {
		put(1, 0, 1);
		add(Kind.DELETE, 0, Outcome.UNKNOWN, 2, 3);
		get(1, 4, 5);
		get(0, 6, 7);
		put(2, 8, 9);
		assertOffending(get(0, 10, 11));
	}

	@Test
	void aDeletedValueThatComesBack() {
		put(1, 0, 1);
		delete(2, 3);
		get(0, 4, 5);
		assertOffending(get(1, 6, 7));
	}

	@Test
	void aWriteSaidNotToBeAppliedIsNeverSeen() {
		put(1, 0, 1);
		add(Kind.PUT, 2, Outcome.NOT_APPLIED, 2, 3);
		get(1, 4, 5);
		assertLinearizable();
		assertOffending(get(2, 6, 7));
	}

	@Test
	void aDeleteSaidNotToBeAppliedIsNeverSeen() {
		put(1, 0, 1);
		add(Kind.DELETE, 0, Outcome.NOT_APPLIED, 2, 3);
		assertOffending(get(0, 4, 5));
	}

	@Test
	void aReadWithoutAnAnswerSaysNothing() {
		put(1, 0, 1);
		add(Kind.GET, 0, Outcome.UNKNOWN, 2, 3);
		assertLinearizable();
	}

	@Test
	void twoReadersSeeConcurrentWritesInTwoOrders() {
		put(1, 0, 10);
		put(2, 0, 10);
		get(1, 1, 2);
		get(2, 3, 4);
		assertLinearizable();
		assertOffending(get(1, 5, 6));
	}

	@Test
	void operationsThatTouchAtAnInstantAreConcurrent() {
		put(1, 0, 5);
		get(0, 5, 6);
		assertLinearizable();
	}

	@Test
	void aValueThatExpiresIsThereAtFirstAndThenThereOrNotAndThenGone() {
		expiringPut(1, Outcome.DONE, 0, 1);
		get(1, 4, 5);
		get(0, 11, 12);
		get(1, 13, 14);
		get(0, 21, 22);
		assertLinearizable();
		assertOffending(get(1, 23, 24));
	}

	@Test
	void aValueThatIsGoneBeforeItMayExpire() {
		expiringPut(1, Outcome.DONE, 0, 1);
		assertOffending(get(0, 4, 5));
	}

	@Test
	void whatAnExpiredValueHasReplacedDoesNotComeBack() {
		put(1, 0, 1);
		expiringPut(2, Outcome.DONE, 2, 3);
		get(0, 21, 22);
		assertLinearizable();
		assertOffending(get(1, 23, 24));
	}

	@Test
	void anUnknownPutThatNobodyReadMayHaveReplacedAValueAndExpired() {
		put(1, 0, 1);
		expiringPut(2, Outcome.UNKNOWN, 2, 3);
		get(1, 4, 5);
		get(0, 11, 12);
		assertLinearizable();
		assertOffending(get(1, 13, 14));
	}

	@Test
	void ofTwoWritersThatComparedTheSameValueOneReplacesIt() {
		put(1, 0, 1);
		add(put(2, 2, 10, Outcome.DONE).provided(Condition.holds(1)));
		add(put(3, 2, 10, Outcome.DONE).provided(Condition.holds(1)).unmet(2));
		assertLinearizable();
		assertOffending(add(put(4, 2, 11, Outcome.DONE).provided(Condition.holds(1))));
	}

	@Test
	void aKeyThatTwoClientsCreatedWithoutADeleteBetweenThem() {
		add(put(1, 0, 10, Outcome.DONE).provided(Condition.ABSENT));
		add(put(2, 0, 11, Outcome.UNKNOWN).provided(Condition.ABSENT));
		assertLinearizable();
		assertOffending(add(put(3, 0, 12, Outcome.DONE).provided(Condition.ABSENT)));
	}

	@Test
	void aDeleteOfAValueThatWasReplacedBefore() {
		put(1, 0, 1);
		put(2, 2, 3);
		assertOffending(add(new Operation("c", Kind.DELETE, 0, Outcome.DONE, 4, 5).provided(Condition.holds(1))));
	}

	@Test
	void aConditionThatWasNotMetByAValueReplacedBefore() {
		put(1, 0, 1);
		put(2, 2, 3);
		add(put(3, 4, 5, Outcome.DONE).provided(Condition.holds(1)).unmet(2));
		assertLinearizable();
		assertOffending(add(put(4, 6, 7, Outcome.DONE).provided(Condition.ABSENT).unmet(1)));
	}

	@Test
	void aWriteThatWasRefusedThoughItsConditionHeld() {
		put(1, 0, 1);
		assertOffending(add(put(2, 2, 3, Outcome.DONE).provided(Condition.holds(1)).unmet(1)));
	}

	@Test
	void anUnknownWriteSurfacesLateOnlyWhileItsConditionHolds() {
		put(1, 0, 1);
		add(put(2, 2, 3, Outcome.UNKNOWN).provided(Condition.holds(1)));
		get(1, 4, 5);
		assertLinearizable();
		put(3, 6, 7);
		get(3, 8, 9);
		assertOffending(get(2, 10, 11));
	}

	@Test
	void aLockIsTakenByAnotherOneOnlyOnceItMayHaveExpired() {
		expiringPut(1, Outcome.DONE, 0, 1);
		add(put(2, 2, 3, Outcome.UNKNOWN).provided(Condition.ABSENT));
		assertFoundOnlyFromTenOn(2);
	}

	@Test
	void aLockThatWasRenewedMayExpireThoughNobodySawThat() {
		put(1, 0, 1);
		this.history.add(put(2, 2, 3, Outcome.UNKNOWN).provided(Condition.holds(1)).expiring(10, 20));
		assertFoundOnlyFromTenOn(0);
	}

	@Test
	void aLockIsNotRenewedByOneWhoseConditionDidNotHold() {
		put(1, 0, 1);
		this.history.add(put(2, 2, 3, Outcome.UNKNOWN).provided(Condition.holds(3)).expiring(10, 20));
		assertOffending(get(0, 11, 12));
	}

	@Test
	void aFailurePrintsTheHistoryALineForEachOperationAndMarksOne() {
		put(1, 0, 1_000_000);
		get(0, 2_000_000, 3_500_000);

		assertThat(Linearizability.check(this.history)).hasToString("""
				Not linearizable: no order of the operations explains the marked one
				           0.000 ..        1.000 ms  c        put 1 -> ok
				>>>        2.000 ..        3.500 ms  c        get -> absent
				""");
	}

	@Test
	void aValuePutTwiceIsAFaultOfTheTest() {
		put(1, 0, 1);
		put(1, 2, 3);
		assertThatIllegalArgumentException().isThrownBy(() -> Linearizability.check(this.history));
	}

	@Test
	void agreesWithTheSearchOfAllOrders() {
		int linearizable = 0;
		int missed = 0;
		int histories = 60_000;
		for (int seed = 0; seed < histories; seed++) {
			int expiring = (seed % 3) * 30;
			boolean asksForAny = seed % 2 == 0;
			RandomHistory random = new RandomHistory(seed, asksForAny);
			List<Operation> small = random.of(3 + seed % 6, 2 + seed % 4, 30, expiring, (seed % 5) * 25);
			assertThat(Linearizability.check(small)).as("seed %d", seed).isNull();
			for (int mutation = 0; mutation <= 1 + seed % 5; mutation++) {
				small = random.mutated(small);
			}
			boolean expected = BruteForce.isLinearizable(small);
			Violation found = Linearizability.check(small);
			if (asksForAny && expiring > 0 && !expected && found == null) {
				missed++;
			}
			else if (expected != (found == null)) {
				throw new AssertionError("seed %d: the search of all orders says %s, this says %s, of %s"
					.formatted(seed, expected, found, small));
			}
			linearizable += expected ? 1 : 0;
		}
		assertThat(linearizable).isBetween(histories / 5, histories * 4 / 5);
		assertThat(missed).isLessThan(histories / 1_000);
	}

	@Test
	void sixtyFourOpenPutsOfWhichEachIsReadAreChecked() {
		for (int i = 1; i <= 32; i++) {
			put(i, 0, 1_000);
			get(i, 1, 999);
		}
		assertLinearizable();
		assertOffending(get(0, 1_001, 1_002));
	}

	@Test
	void manyDeletesOpenAtOnce() {
		for (int i = 1; i <= 16; i++) {
			put(i, 0, 1_000);
			delete(0, 1_000);
			get(i, 1, 999);
			get(0, 1, 999);
		}
		assertLinearizable();
	}

	@Test
	void thousandsOfOperationsWithHundredsOfUnknownEnds() {
		for (int seed = 0; seed < 20; seed++) {
			RandomHistory random = new RandomHistory(seed, false);
			List<Operation> large = random.of(5_000, 2 + 3 * seed, 20, 0, (seed % 2) * 50);
			assertThat(Linearizability.check(large)).isNull();
			// That it comes to an end.
			if (seed % 4 == 0) {
				Linearizability.check(random.mutated(large));
			}
		}
	}

	/** Of a value that may be gone from 10 on, and is from 20 on. */
	private void expiringPut(int value, Outcome outcome, long invokedAt, long endedAt) {
		this.history.add(new Operation("c", Kind.PUT, value, outcome, invokedAt, endedAt).expiring(10, 20));
	}

	/** That a get finds this if it ends at 10, and not before. */
	private void assertFoundOnlyFromTenOn(int value) {
		get(value, 8, 10);
		assertLinearizable();
		this.history.removeLast();
		assertOffending(get(value, 8, 9));
	}

	private Operation put(int value, long invokedAt, long endedAt) {
		return add(Kind.PUT, value, Outcome.DONE, invokedAt, endedAt);
	}

	private Operation delete(long invokedAt, long endedAt) {
		return add(Kind.DELETE, 0, Outcome.DONE, invokedAt, endedAt);
	}

	private Operation get(int value, long invokedAt, long endedAt) {
		return add(Kind.GET, value, Outcome.DONE, invokedAt, endedAt);
	}

	private Operation add(Kind kind, int value, Outcome outcome, long invokedAt, long endedAt) {
		return add(new Operation("c", kind, value, outcome, invokedAt, endedAt));
	}

	private static Operation put(int value, long invokedAt, long endedAt, Outcome outcome) {
		return new Operation("c", Kind.PUT, value, outcome, invokedAt, endedAt);
	}

	private Operation add(Operation operation) {
		this.history.add(operation);
		return operation;
	}

	private void assertLinearizable() {
		assertThat(Linearizability.check(this.history)).isNull();
		assertThat(BruteForce.isLinearizable(this.history.subList(0, Math.min(this.history.size(), 8)))).isTrue();
	}

	private void assertOffending(Operation operation) {
		assertThat(Linearizability.check(this.history)).extracting(Violation::offending).isSameAs(operation);
	}

}
