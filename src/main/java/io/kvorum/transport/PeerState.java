package io.kvorum.transport;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a peer is there: it has a stream. Told to the log when that changes. */
final class PeerState {

	private static final Logger logger = LoggerFactory.getLogger(PeerState.class);

	/** Another reason for the same absence is told after this time. */
	private static final Duration REMINDER = Duration.ofMinutes(1);

	private final Member peer;

	private final TimeSource time;

	private final TransportEvents events;

	/** How many there are to be. */
	private final int streams;

	private final AtomicInteger open = new AtomicInteger();

	private final CountDownLatch tried;

	/** Whether this node stops, and so ends its streams itself: no news of the peer. */
	private volatile boolean stopping;

	/** Why there is none; empty before the first attempt. */
	private volatile String reason = "";

	/** What the log was told since the peer was there, and when. */
	private volatile String told = "";

	private volatile long toldNanos;

	PeerState(Member peer, int streams, TimeSource time, TransportEvents events) {
		this.peer = peer;
		this.time = time;
		this.streams = streams;
		this.tried = new CountDownLatch(streams);
		this.events = events;
	}

	void stopping(boolean stopping) {
		this.stopping = stopping;
	}

	void opened() {
		this.events.opened(this.peer);
		if (this.open.getAndIncrement() == 0) {
			this.reason = "";
			this.told = "";
			logger.info("{} is there", this.peer.address());
		}
		this.tried.countDown();
	}

	/** A stream has ended. */
	void closed(String why) {
		this.events.closed(this.peer);
		if (this.open.decrementAndGet() == 0) {
			this.reason = why;
			warn(why);
		}
	}

	/** A stream could not be opened. Repeated often: told where it is something new. */
	void notOpened(String why) {
		this.tried.countDown();
		boolean isNews = !this.reason.equals(why)
				&& (this.told.isEmpty() || this.time.nanos() - this.toldNanos > REMINDER.toNanos());
		this.reason = why;
		if (isNews && this.open.get() == 0) {
			warn(why);
		}
	}

	private void warn(String why) {
		this.toldNanos = this.time.nanos();
		this.told = why;
		if (!this.stopping) {
			logger.warn("{} is away: {}", this.peer.address(), why);
		}
	}

	/**
	 * Waits until it is known of each stream whether it can be opened, or the time is
	 * over.
	 */
	void awaitFirstAttempts(Duration timeout) throws InterruptedException {
		var _ = this.tried.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	PeerStatus status() {
		int streams = this.open.get();
		boolean isPartly = streams > 0 && streams < this.streams;
		return new PeerStatus(this.peer.address(), streams == this.streams,
				isPartly ? "%d of %d streams are open".formatted(streams, this.streams) : this.reason);
	}

}
