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

	/** Times without an answer since the last one. */
	private volatile int failures;

	/** Until when it is asked last, as it did not answer. */
	private volatile long restsUntilNanos;

	/** Until when it has asked to be left alone. */
	private volatile long refusesUntilNanos;

	/** Whether it has left its keys to others, and has served nothing since. */
	private volatile boolean isRetired;

	Node(URI url, long nowNanos) {
		this.url = url;
		this.restsUntilNanos = nowNanos;
		this.refusesUntilNanos = nowNanos;
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

	boolean isRetired() {
		return this.isRetired;
	}

	/** It has left its keys to others. */
	void retired() {
		this.isRetired = true;
	}

	/** It has done what was asked. */
	void served() {
		if (this.isRetired) {
			this.isRetired = false;
		}
	}

	/** It has answered. */
	void answered(long nowNanos) {
		// Read first: most of the time nothing is written.
		if (this.failures > 0 || this.restsUntilNanos - nowNanos > 0) {
			recover(nowNanos);
		}
	}

	private synchronized void recover(long nowNanos) {
		this.failures = 0;
		this.restsUntilNanos = nowNanos;
	}

	/**
	 * It has not: it is asked last for a while, the longer the more often that was so.
	 * All requests that fail together count once.
	 */
	synchronized void failed(long nowNanos) {
		if (this.restsUntilNanos - nowNanos > 0) {
			return;
		}
		this.restsUntilNanos = nowNanos
				+ Math.min(FIRST_REST_NANOS << Math.min(this.failures, MAX_DOUBLINGS), LONGEST_REST_NANOS);
		this.failures = this.failures + 1;
	}

	/** It was slower than another one: it is asked last for a moment. */
	synchronized void slow(long nowNanos) {
		if (this.restsUntilNanos - nowNanos < FIRST_REST_NANOS) {
			this.restsUntilNanos = nowNanos + FIRST_REST_NANOS;
		}
	}

	/** It has asked to be left alone for a while. */
	synchronized void refuses(Duration time, long nowNanos) {
		long nanos = (time.compareTo(Duration.ofNanos(LONGEST_REST_NANOS)) < 0) ? time.toNanos() : LONGEST_REST_NANOS;
		if (nowNanos + nanos - this.refusesUntilNanos > 0) {
			this.refusesUntilNanos = nowNanos + nanos;
		}
	}

	/** The time for which it has asked to be left alone; 0 or less if it has not. */
	long refusesNanos(long nowNanos) {
		return this.refusesUntilNanos - nowNanos;
	}

	/** The time until it may be asked as any other; 0 or less if that is now. */
	long restNanos(long nowNanos) {
		return Math.max(this.restsUntilNanos - nowNanos, refusesNanos(nowNanos));
	}

	@Override
	public String toString() {
		return this.url.toString();
	}

}
