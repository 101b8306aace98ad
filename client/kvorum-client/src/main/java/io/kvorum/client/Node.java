package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** One address of the cluster, and how it has done lately. */
final class Node {

	private static final long FIRST_REST_NANOS = Duration.ofMillis(100).toNanos();

	private static final long LONGEST_REST_NANOS = Duration.ofSeconds(10).toNanos();

	/** Doubled so often, the first rest is longer than the longest. */
	private static final int MAX_DOUBLINGS = 7;

	private final URI url;

	private final AtomicInteger inFlight = new AtomicInteger();

	/** Failures since the last answer. */
	private final AtomicInteger failures = new AtomicInteger();

	private volatile long restsUntilNanos;

	Node(URI url, long nowNanos) {
		this.url = url;
		this.restsUntilNanos = nowNanos;
	}

	URI url() {
		return this.url;
	}

	int inFlight() {
		return this.inFlight.get();
	}

	void begin() {
		this.inFlight.incrementAndGet();
	}

	/** For each request that began, however it ended. */
	void end() {
		this.inFlight.decrementAndGet();
	}

	/** It has answered. */
	void answered() {
		this.failures.setPlain(0);
	}

	/**
	 * It has not: it is asked last for a while, the longer the more often that was so.
	 */
	void failed(long nowNanos) {
		int doublings = Math.min(this.failures.getAndIncrement(), MAX_DOUBLINGS);
		rest(Math.min(FIRST_REST_NANOS << doublings, LONGEST_REST_NANOS), nowNanos);
	}

	/** It has asked to be left alone for a while. */
	void rest(long nanos, long nowNanos) {
		this.restsUntilNanos = nowNanos + Math.min(nanos, LONGEST_REST_NANOS);
	}

	/** The time until it may be asked as any other; 0 or less if that is now. */
	long restNanos(long nowNanos) {
		return this.restsUntilNanos - nowNanos;
	}

	@Override
	public String toString() {
		return this.url.toString();
	}

}
