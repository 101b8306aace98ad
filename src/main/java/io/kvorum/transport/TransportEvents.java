package io.kvorum.transport;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply;

/** Receives the events of the traffic between nodes, for meters. Called by any thread. */
public interface TransportEvents {

	/** Ignores all events. */
	TransportEvents NONE = new TransportEvents() {
	};

	/** A peer replied, or failed to, after this time. */
	default void replied(Member peer, Call call, Reply reply, long nanos) {
	}

	/** A batch of frames was sent in one buffer. */
	default void batchSent(int frames) {
	}

	/** This node keeps streams to a peer from now on. */
	default void linked(Member peer) {
	}

	/** This node keeps no streams to a peer any more. */
	default void unlinked(Member peer) {
	}

	/** A stream to a peer is open. */
	default void opened(Member peer) {
	}

	/** A stream to a peer has ended. */
	default void closed(Member peer) {
	}

	/** A stream to this node was refused. */
	default void refused(Refused why) {
	}

	/** Why a stream to this node was refused. */
	enum Refused {

		/** The TLS handshake has failed on this end. */
		HANDSHAKE,
		/** The other end has sent an alert: it rejects this node's certificate. */
		ALERT,
		/** The certificate does not name the host of the claimed node. */
		CERTIFICATE,
		/** The secret is right; the challenge is of another process, old or used. */
		CHALLENGE, SECRET, STOPPING, PROTOCOL, ADDRESS, TOPOLOGY, LANE

	}

	/** Kind of a call of a peer. */
	enum Call {

		READ, READ_VERSION, STORE, WRITE_BACK, REPAIR, PREPARE, ACCEPT, SCAN, QUERY

	}

}
