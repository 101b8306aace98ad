package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.Key;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A range that was told to its end, and what it must be: of each key it tells a value
 * that was written before it ended, and none that an acknowledged write had superseded
 * before it began, or that was accepted and has not become the key's.
 */
record SimulatedRange(Map<Key, Integer> values, long beganAt, long endedAt) {

	static final String WRONG = "is wrong in a range";

	/** What is wrong with it about a key of this history; null where nothing is. */
	@Nullable String faultOf(Key key, List<Operation> history) {
		int value = this.values.getOrDefault(key, Operation.ABSENT);
		boolean isPossible = (value == Operation.ABSENT && !isSuperseded(Long.MIN_VALUE, history))
				|| history.stream().anyMatch(write -> wrote(write, value) && !isSuperseded(endOf(write), history));
		return (isPossible && !hasNeverBeen(value, history)) ? null : "Key k%d %s from %.3f to %.3f ms: %d"
			.formatted(key.bytes()[0], WRONG, this.beganAt / 1e6, this.endedAt / 1e6, value);
	}

	/**
	 * Whether this is the value of a conditional write of unknown outcome that has not
	 * happened, by what clients were told of others. A replica may hold it all the same.
	 */
	private boolean hasNeverBeen(int value, List<Operation> history) {
		return history.stream()
			.filter(write -> write.kind() == Kind.PUT && write.value() == value && write.condition() != null
					&& write.outcome() == Outcome.UNKNOWN)
			.anyMatch(write -> {
				List<Operation> withRange = new ArrayList<>(history);
				withRange.add(new Operation("range", Kind.GET, value, Outcome.DONE, write.invokedAt(), this.endedAt));
				return Linearizability.check(withRange) != null;
			});
	}

	private boolean wrote(Operation write, int value) {
		boolean isWrite = write.kind() == Kind.PUT || (write.kind() == Kind.DELETE && value == Operation.ABSENT);
		return isWrite && write.outcome() != Outcome.NOT_APPLIED && write.outcome() != Outcome.NOT_MET
				&& write.invokedAt() < this.endedAt && (write.kind() == Kind.DELETE || write.value() == value);
	}

	/** One of which nobody knows may happen at any time. */
	private static long endOf(Operation write) {
		return (write.outcome() == Outcome.DONE) ? write.endedAt() : Long.MAX_VALUE;
	}

	/** Whether a write came after that time, and was acknowledged before the range. */
	private boolean isSuperseded(long end, List<Operation> history) {
		return history.stream()
			.anyMatch(write -> write.kind() != Kind.GET && write.outcome() == Outcome.DONE && write.invokedAt() > end
					&& write.endedAt() < this.beganAt);
	}

}
