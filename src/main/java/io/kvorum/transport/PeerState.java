package io.kvorum.transport;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State of the streams to a peer. The peer is away without an open stream and fully there
 * with all of them. Changes are logged.
 */
final class PeerState {

	private static final Logger logger = LoggerFactory.getLogger(PeerState.class);

	/** Time after which another reason of the same kind is logged. */
	private static final Duration REMINDER = Duration.ofMinutes(1);

	private final Member peer;

	private final TimeSource time;

	private final TransportEvents events;

	/** Number of streams when all are open. */
	private final int streams;

	private final AtomicInteger open = new AtomicInteger();

	/**
	 * Failed attempts since a stream was last open, without those that failed by silence.
	 */
	private final AtomicInteger refusals = new AtomicInteger();

	/** Whether this node stops, and so ends its streams itself. */
	private volatile boolean stopping;

	/** Whether a stream was ever open since this node started. */
	private volatile boolean everOpen;

	/**
	 * Whether the peer has refused a stream since the last one was open, or this node has
	 * refused the peer. Another kind of failure does not reset this.
	 */
	private volatile boolean refused;

	/** Why no stream is open; empty before the first attempt. */
	private volatile String reason = "";

	/**
	 * Time of the last log line for each kind of reason for this absence. Guarded by
	 * this.
	 */
	private final Map<Reason, Long> loggedNanos = new EnumMap<>(Reason.class);

	PeerState(Member peer, int streams, TimeSource time, TransportEvents events) {
		this.peer = peer;
		this.time = time;
		this.streams = streams;
		this.events = events;
	}

	void stopping(boolean stopping) {
		this.stopping = stopping;
	}

	synchronized void opened() {
		this.events.opened(this.peer);
		this.everOpen = true;
		this.refused = false;
		this.refusals.set(0);
		if (this.open.getAndIncrement() == 0) {
			this.reason = "";
			this.loggedNanos.clear();
			logger.atInfo().addKeyValue("peer", this.peer.address()).log("{} is there", this.peer.address());
		}
	}

	/** Records that a stream has ended. */
	synchronized void closed(Reason kind, String why) {
		this.events.closed(this.peer);
		if (this.open.decrementAndGet() == 0) {
			log(kind, why);
		}
	}

	/**
	 * Records a failed attempt to open a stream; more attempts follow.
	 * @param silent whether nothing came from the peer
	 */
	synchronized void notOpened(Reason kind, String why, boolean silent) {
		this.refused |= kind == Reason.REFUSED || kind == Reason.UNTRUSTED;
		if (!silent) {
			this.refusals.incrementAndGet();
		}
		if (this.open.get() == 0) {
			log(kind, why);
		}
	}

	private void log(Reason kind, String why) {
		long now = this.time.nanos();
		Long logged = this.loggedNanos.get(kind);
		boolean isNews = logged == null || (!this.reason.equals(why) && now - logged > REMINDER.toNanos());
		this.reason = why;
		if (isNews && !this.stopping) {
			this.loggedNanos.put(kind, now);
			logger.atWarn()
				.addKeyValue("peer", this.peer.address())
				.addKeyValue("reason", kind.text())
				.log("{} is away: {}", this.peer.address(), why);
		}
	}

	Member peer() {
		return this.peer;
	}

	/** Whether more than one stream is open. */
	boolean hasSeveral() {
		return this.open.get() > 1;
	}

	/** Whether all streams are open. */
	boolean isThere() {
		return this.open.get() == this.streams;
	}

	/** Whether the peer accepts no streams now: nothing listens there, or it refuses. */
	boolean isGone() {
		return this.open.get() == 0 && this.refusals.get() >= this.streams;
	}

	PeerStatus status() {
		return new PeerStatus(this.peer.address(), this.open.get(), this.streams, this.reason, this.everOpen,
				this.refused);
	}

}
