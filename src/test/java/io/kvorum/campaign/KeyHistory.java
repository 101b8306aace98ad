package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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

	/** Writes whose condition was not met, until the next check. */
	private final List<Unmet> unmet = new ArrayList<>();

	/** The values of which clients were told these ETags since the last check. */
	private final Map<String, Integer> byEtag = new HashMap<>();

	/** The value that a client was told last; null if that is none, or not known. */
	private @Nullable Seen seen;

	private int unchecked;

	/** Whether a check has failed. What follows is wrong too, and is not kept. */
	private boolean isWrong;

	/**
	 * Adds an operation.
	 * @param etag the ETag that its client was told; empty without one
	 */
	void add(Operation operation, String etag) {
		if (this.isWrong) {
			return;
		}
		boolean isUnmet = operation.outcome() == Outcome.NOT_MET;
		boolean isAnswered = isUnmet || operation.outcome() == Outcome.DONE;
		this.unchecked += isAnswered ? 1 : 0;
		if (isUnmet) {
			this.unmet.add(new Unmet(operation, etag));
		}
		else {
			this.operations.add(operation);
		}
		if (isAnswered) {
			this.seen = null;
		}
		// That of a delete names no value.
		if (operation.outcome() == Outcome.DONE && operation.value() != Operation.ABSENT && !etag.isEmpty()) {
			this.byEtag.put(etag, operation.value());
			this.seen = new Seen(operation.value(), etag);
		}
	}

	/** The value that a client was told last; null if that is none, or not known. */
	@Nullable Seen seen() {
		return this.seen;
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
		this.unmet.forEach(each -> this.operations.add(each.resolved(this.byEtag)));
		this.unmet.clear();
		this.byEtag.clear();
		this.seen = null;
		Violation violation = Linearizability.check(this.operations);
		this.unchecked = 0;
		this.isWrong = violation != null;
		this.operations = this.isWrong ? new ArrayList<>() : reduced(this.operations, horizon);
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

	/**
	 * A value and its ETag.
	 */
	record Seen(int value, String etag) {
	}

	/**
	 * A write whose condition was not met.
	 *
	 * @param etag the ETag of the value that was there instead; empty if there was none
	 */
	private record Unmet(Operation operation, String etag) {

		/**
		 * The write with the value that was there instead. If no client was told which
		 * value that is, all that is known is that the write did not happen.
		 */
		Operation resolved(Map<String, Integer> byEtag) {
			Integer current = this.etag.isEmpty() ? Integer.valueOf(Operation.ABSENT) : byEtag.get(this.etag);
			return (current != null) ? this.operation.unmet(current) : this.operation.ending(Outcome.NOT_APPLIED);
		}

	}

}
