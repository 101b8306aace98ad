package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * What clients did to a key and saw of it. What has been checked is reduced to what can
 * matter later: the value that was read last, and the writes of unknown outcome that may
 * still surface.
 */
final class KeyHistory {

	private List<Operation> operations = new ArrayList<>();

	private int unchecked;

	void add(Operation operation) {
		this.operations.add(operation);
		this.unchecked += (operation.outcome() == Outcome.DONE) ? 1 : 0;
	}

	/** How many answers no check has seen. */
	int unchecked() {
		return this.unchecked;
	}

	/**
	 * Checks all, and then reduces it. While no write is under way.
	 * @param horizon no operation under way began earlier
	 */
	@Nullable Violation check(long horizon) {
		Violation violation = Linearizability.check(this.operations);
		this.unchecked = 0;
		// What was found once is not to be found again with each read that follows.
		this.operations = (violation != null) ? new ArrayList<>() : reduced(this.operations, horizon);
		return violation;
	}

	private static List<Operation> reduced(List<Operation> operations, long horizon) {
		long lastWriteEnd = operations.stream()
			.filter(operation -> operation.kind() != Kind.GET && operation.outcome() == Outcome.DONE)
			.mapToLong(Operation::endedAt)
			.max()
			.orElse(Long.MIN_VALUE);
		Operation last = null;
		for (Operation operation : operations) {
			boolean tellsAll = isDone(operation, Kind.GET) && operation.invokedAt() > lastWriteEnd
					&& operation.endedAt() < horizon;
			last = (tellsAll && (last == null || operation.invokedAt() > last.invokedAt())) ? operation : last;
		}
		return (last != null) ? from(last, operations) : operations;
	}

	/** The history from a read on that began when all acknowledged writes had ended. */
	private static List<Operation> from(Operation read, List<Operation> operations) {
		Set<Integer> replaced = new HashSet<>();
		for (Operation operation : operations) {
			// It was there before the read began, which did not find it.
			if (isDone(operation, Kind.GET) && operation.endedAt() < read.invokedAt()) {
				replaced.add(operation.value());
			}
		}
		List<Operation> rest = new ArrayList<>();
		boolean isAbsent = read.value() == Operation.ABSENT;
		rest.add(new Operation("before", isAbsent ? Kind.DELETE : Kind.PUT, read.value(), Outcome.DONE,
				read.invokedAt(), read.endedAt()));
		for (Operation operation : operations) {
			boolean mayStillHappen = operation.outcome() == Outcome.UNKNOWN
					&& (operation.kind() == Kind.DELETE || (operation.kind() == Kind.PUT
							&& operation.value() != read.value() && !replaced.contains(operation.value())));
			boolean isNotNewer = operation.equals(read) || operation.endedAt() < read.invokedAt();
			if (mayStillHappen || (isDone(operation, Kind.GET) && !isNotNewer)) {
				rest.add(operation);
			}
		}
		return rest;
	}

	private static boolean isDone(Operation operation, Kind kind) {
		return operation.kind() == kind && operation.outcome() == Outcome.DONE;
	}

}
