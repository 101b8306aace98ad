package io.kvorum.client;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Keeps repeats from making an overload worse: each takes a token, and ten operations
 * that are answered bring one back (gRPC proposal A6, "Retry throttling"). A client whose
 * requests mostly fail stops repeating them.
 * <p>
 * A token comes back each second, too. A client that seldom asks meets a silent node in
 * many of its operations, and repeats these without making any load.
 */
final class RetryBudget {

	private static final int TOKEN = 10;

	private static final int MAX = 100 * TOKEN;

	private static final long REFILL_NANOS = 1_000_000_000;

	private final AtomicInteger tenths = new AtomicInteger(MAX);

	private final LongSupplier nanoTime;

	private final AtomicLong refilledNanos;

	RetryBudget(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.refilledNanos = new AtomicLong(nanoTime.getAsLong());
	}

	/** An operation has come to its end by an answer. */
	void answered() {
		// Read first: most of the time it is full, and nothing is written.
		if (this.tenths.get() < MAX) {
			add(1);
		}
	}

	private void add(int tenths) {
		this.tenths.accumulateAndGet(tenths, (have, more) -> Math.min(have + more, MAX));
	}

	private void refill() {
		long last = this.refilledNanos.get();
		long tokens = (this.nanoTime.getAsLong() - last) / REFILL_NANOS;
		if (tokens > 0 && this.refilledNanos.compareAndSet(last, last + tokens * REFILL_NANOS)) {
			add((int) Math.min(tokens * TOKEN, MAX));
		}
	}

	/** Takes a token for a repeat; returns false if it must not be made. */
	boolean take() {
		refill();
		return this.tenths.getAndAccumulate(TOKEN, (have, less) -> (have < less) ? have : have - less) >= TOKEN;
	}

}
