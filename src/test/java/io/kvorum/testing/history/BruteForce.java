package io.kvorum.testing.history;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;

/** What {@link Linearizability} decides, by trying every order: slow and plain. */
final class BruteForce {

	private BruteForce() {
	}

	static boolean isLinearizable(List<Operation> history) {
		return history.stream().noneMatch(get -> isReadTooLate(get, history)) && extendable(Operation.ABSENT, history,
				new ArrayList<>(history.stream().filter(BruteForce::mayShow).toList()));
	}

	private static boolean isReadTooLate(Operation get, List<Operation> history) {
		Integer found = get.found();
		return found != null && isGone(found, get, history);
	}

	private static boolean isGone(int value, Operation then, List<Operation> history) {
		return history.stream()
			.anyMatch(put -> put.kind() == Kind.PUT && put.value() == value && put.expiredAt() < then.invokedAt());
	}

	/** Whether there is nothing, or nothing any more. */
	private static boolean isNothing(int holds, long latest, List<Operation> history) {
		return holds == Operation.ABSENT || history.stream()
			.anyMatch(put -> put.kind() == Kind.PUT && put.value() == holds && put.mayExpireAt() <= latest);
	}

	private static boolean mayShow(Operation operation) {
		return operation.isAnswered() || (operation.isWrite() && operation.outcome() == Outcome.UNKNOWN);
	}

	private static boolean extendable(int holds, List<Operation> history, List<Operation> left) {
		if (left.stream().allMatch(operation -> operation.outcome() == Outcome.UNKNOWN)) {
			return true;
		}
		for (int i = 0; i < left.size(); i++) {
			Operation next = left.get(i);
			boolean mayBeNext = left.stream()
				.noneMatch(other -> other.isAnswered() && other.endedAt() < next.invokedAt());
			if (mayBeNext && isPossible(next, holds, latest(left), history)) {
				List<Operation> rest = new ArrayList<>(left);
				rest.remove(i);
				int then = (next.outcome() == Outcome.NOT_MET) ? holds : switch (next.kind()) {
					case PUT -> next.value();
					case DELETE -> Operation.ABSENT;
					case GET -> holds;
				};
				if (extendable(then, history, rest)) {
					return true;
				}
			}
		}
		return false;
	}

	/** By which what is next has happened, before all that is left. */
	private static long latest(List<Operation> left) {
		return left.stream().filter(Operation::isAnswered).mapToLong(Operation::endedAt).min().orElseThrow();
	}

	private static boolean isPossible(Operation next, int holds, long latest, List<Operation> history) {
		Condition condition = next.condition();
		if (next.outcome() == Outcome.NOT_MET) {
			Operation look = new Operation("", Kind.GET, next.current(), Outcome.DONE, next.invokedAt(),
					next.endedAt());
			return condition != null && !condition.isMetBy(next.current()) && isPossible(look, holds, latest, history);
		}
		if (next.kind() == Kind.GET) {
			return next.value() == holds || (next.value() == Operation.ABSENT && isNothing(holds, latest, history));
		}
		if (condition == null) {
			return true;
		}
		return Condition.ABSENT.equals(condition) ? isNothing(holds, latest, history)
				: condition.isMetBy(holds) && !isGone(holds, next, history);
	}

}
