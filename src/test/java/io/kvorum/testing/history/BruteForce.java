package io.kvorum.testing.history;

import java.util.ArrayList;
import java.util.List;

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
		return get.kind() == Kind.GET && get.outcome() == Outcome.DONE && history.stream()
			.anyMatch(put -> put.kind() == Kind.PUT && put.value() == get.value() && put.expiredAt() < get.invokedAt());
	}

	private static boolean mayHaveExpired(int holds, Operation get, List<Operation> history) {
		return history.stream()
			.anyMatch(put -> put.kind() == Kind.PUT && put.value() == holds && put.mayHaveExpiredFor(get));
	}

	private static boolean mayShow(Operation operation) {
		return operation.outcome() == Outcome.DONE || (operation.isWrite() && operation.outcome() == Outcome.UNKNOWN);
	}

	private static boolean extendable(int holds, List<Operation> history, List<Operation> left) {
		if (left.stream().allMatch(operation -> operation.outcome() == Outcome.UNKNOWN)) {
			return true;
		}
		for (int i = 0; i < left.size(); i++) {
			Operation next = left.get(i);
			boolean mayBeNext = left.stream()
				.noneMatch(other -> other.outcome() == Outcome.DONE && other.endedAt() < next.invokedAt());
			if (mayBeNext
					&& (next.kind() != Kind.GET || next.value() == holds || mayHaveExpired(holds, next, history))) {
				List<Operation> rest = new ArrayList<>(left);
				rest.remove(i);
				int then = switch (next.kind()) {
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

}
