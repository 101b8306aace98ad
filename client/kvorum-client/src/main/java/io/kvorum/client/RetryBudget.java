package io.kvorum.client;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps repeats from making an overload worse: each takes a token, and ten operations
 * that are answered bring one back (gRPC proposal A6, "Retry throttling"). A client whose
 * requests mostly fail stops repeating them.
 */
final class RetryBudget {

	private static final int TOKEN = 10;

	private static final int MAX = 100 * TOKEN;

	private final AtomicInteger tenths = new AtomicInteger(MAX);

	/** An operation has come to its end by an answer. */
	void answered() {
		// Read first: most of the time it is full, and nothing is written.
		if (this.tenths.get() < MAX) {
			this.tenths.accumulateAndGet(1, (have, more) -> Math.min(have + more, MAX));
		}
	}

	/** Takes a token for a repeat; returns false if it must not be made. */
	boolean take() {
		return this.tenths.getAndAccumulate(TOKEN, (have, less) -> (have < less) ? have : have - less) >= TOKEN;
	}

}
