package io.kvorum.testing.history;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A history that a register gave: each operation happens at an instant between its
 * invocation and its end, and clients may not hear of it.
 */
final class RandomHistory {

	private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

	private final Random random;

	private final boolean asksForAny;

	/**
	 * Creates histories.
	 * @param asksForAny whether conditions may ask for any value
	 */
	RandomHistory(long seed, boolean asksForAny) {
		this.random = new Random(seed);
		this.asksForAny = asksForAny;
	}

	/**
	 * @param clients each sends one operation after the other
	 * @param unknown how many of a hundred writes end unknown; half of them happen, maybe
	 * later than their end
	 * @param expiring how many of a hundred puts expire, maybe before they happen
	 * @param conditional how many of a hundred writes have a condition
	 */
	List<Operation> of(int operations, int clients, int unknown, int expiring, int conditional) {
		long[] free = new long[clients];
		List<Instant> instants = new ArrayList<>();
		for (int i = 0; i < operations; i++) {
			int client = this.random.nextInt(clients);
			long invokedAt = free[client] + this.random.nextInt(4);
			long happensAt = invokedAt + this.random.nextInt(8);
			long endedAt = happensAt + this.random.nextInt(8);
			free[client] = endedAt + 1;
			Kind kind = kind();
			Outcome outcome = (kind != Kind.GET && this.random.nextInt(100) < unknown) ? Outcome.UNKNOWN : Outcome.DONE;
			if (outcome == Outcome.UNKNOWN) {
				happensAt = this.random.nextBoolean() ? Long.MAX_VALUE : happensAt + this.random.nextInt(40);
			}
			Operation operation = new Operation("c" + client, kind, (kind == Kind.PUT) ? i + 1 : 0, outcome, invokedAt,
					endedAt);
			if (kind == Kind.PUT && this.random.nextInt(100) < expiring) {
				long mayExpireAt = invokedAt + this.random.nextInt(30);
				operation = operation.expiring(mayExpireAt, mayExpireAt + this.random.nextInt(8));
			}
			instants.add(new Instant(happensAt, operation));
		}
		return answered(instants, conditional);
	}

	/** The same with something wrong in it, maybe. */
	List<Operation> mutated(List<Operation> history) {
		List<Operation> mutated = new ArrayList<>(history);
		int index = this.random.nextInt(mutated.size());
		Operation operation = mutated.get(index);
		if (operation.kind() == Kind.GET) {
			int value = this.random.nextInt(4) == 0 ? 0 : mutated.get(this.random.nextInt(mutated.size())).value();
			mutated.set(index, new Operation(operation.client(), Kind.GET, value, operation.outcome(),
					operation.invokedAt(), operation.endedAt()));
		}
		else if (this.random.nextInt(4) == 0) {
			Outcome other = OUTCOMES.get(this.random.nextInt(OUTCOMES.size()));
			boolean isPossible = operation.condition() != null || other != Outcome.NOT_MET;
			mutated.set(index, operation.ending(isPossible ? other : Outcome.DONE));
		}
		else if (operation.condition() != null && this.random.nextBoolean()) {
			int value = mutated.get(this.random.nextInt(mutated.size())).value();
			mutated.set(index, (operation.outcome() == Outcome.NOT_MET) ? operation.unmet(value)
					: operation.provided(condition(value)));
		}
		else {
			int shift = this.random.nextInt(-10, 11);
			long invokedAt = operation.invokedAt() + shift;
			mutated.set(index, operation.at(invokedAt, invokedAt + this.random.nextInt(10)));
		}
		return mutated;
	}

	private Kind kind() {
		int chance = this.random.nextInt(10);
		return (chance < 4) ? Kind.PUT : (chance < 6) ? Kind.DELETE : Kind.GET;
	}

	/** A condition: most name this value. */
	private Condition condition(int value) {
		int chance = this.random.nextInt(10);
		return (chance < 2 || value == Operation.ABSENT) ? Condition.ABSENT
				: (chance < 4 && this.asksForAny) ? Condition.PRESENT : Condition.holds(value);
	}

	/** A condition that holds, or one that may. */
	private Condition condition(@Nullable Operation holds, List<Operation> history) {
		return condition((holds != null && this.random.nextInt(4) > 0) ? holds.value()
				: history.isEmpty() ? Operation.ABSENT : history.get(this.random.nextInt(history.size())).value());
	}

	private List<Operation> answered(List<Instant> instants, int conditional) {
		Collections.shuffle(instants, this.random);
		instants.sort((one, other) -> Long.compare(one.happensAt, other.happensAt));
		@Nullable Operation holds = null;
		List<Operation> history = new ArrayList<>();
		for (Instant instant : instants) {
			Operation operation = instant.operation;
			if (operation.kind() == Kind.GET) {
				operation = new Operation(operation.client(), Kind.GET, found(holds, instant.happensAt),
						operation.outcome(), operation.invokedAt(), operation.endedAt());
			}
			else {
				Condition condition = (this.random.nextInt(100) < conditional) ? condition(holds, history) : null;
				operation = operation.provided(condition);
				int found = (condition != null) ? found(holds, instant.happensAt) : Operation.ABSENT;
				if (condition != null && !condition.isMetBy(found)) {
					operation = (operation.outcome() == Outcome.DONE) ? operation.unmet(found) : operation;
				}
				else if (instant.happensAt != Long.MAX_VALUE) {
					holds = operation;
				}
			}
			history.add(operation);
		}
		return history;
	}

	private int found(@Nullable Operation holds, long at) {
		if (holds == null || at > holds.expiredAt() || (at >= holds.mayExpireAt() && this.random.nextBoolean())) {
			return Operation.ABSENT;
		}
		return holds.value();
	}

	private record Instant(long happensAt, Operation operation) {
	}

}
