package io.kvorum.campaign;

import java.util.List;

import io.kvorum.testing.history.Operation;
import org.jspecify.annotations.Nullable;

/**
 * What a read may find of a key that was put once, with a time to live: the value before
 * that is over, nothing afterwards. Judged only of operations while all clocks were
 * right, as expiry is told by clocks.
 *
 * @param wrong when clocks were wrong, each from and to
 */
record TtlRule(List<long[]> wrong) {

	/** What nodes' clocks may differ, and what a clock needs to be right again. */
	static final long SKEW_NANOS = 1_000_000_000L;

	/** What is wrong with a read, or null. */
	@Nullable String fault(Operation put, long ttlNanos, Operation get) {
		if (put.outcome() != Operation.Outcome.DONE || get.outcome() != Operation.Outcome.DONE
				|| isDuringWrongClocks(put) || isDuringWrongClocks(get) || get.invokedAt() < put.endedAt()) {
			return null;
		}
		boolean isFound = get.value() == put.value();
		if (!isFound && get.endedAt() < put.invokedAt() + ttlNanos - SKEW_NANOS) {
			return "it has expired %d ms early".formatted((put.invokedAt() + ttlNanos - get.endedAt()) / 1_000_000);
		}
		if (isFound && get.invokedAt() > put.endedAt() + ttlNanos + SKEW_NANOS) {
			return "it is there %d ms after its end"
				.formatted((get.invokedAt() - put.endedAt() - ttlNanos) / 1_000_000);
		}
		return null;
	}

	private boolean isDuringWrongClocks(Operation operation) {
		return this.wrong.stream()
			.anyMatch(period -> operation.endedAt() > period[0] - SKEW_NANOS
					&& operation.invokedAt() < period[1] + SKEW_NANOS);
	}

}
