package io.kvorum.transport;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply;

/** Observes the traffic between nodes. Called by any thread. */
public interface TransportEvents {

	/** Observes nothing. */
	TransportEvents NONE = new TransportEvents() {
	};

	/** A peer replied, or was found not to, after so long. */
	default void replied(Member peer, Call call, Reply reply, long nanos) {
	}

	/** Frames left together. */
	default void batchSent(int frames) {
	}

	/** A stream to a peer has begun. */
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

		/** The TLS handshake has failed at this end. */
		HANDSHAKE,
		/** They have ended TLS by an alert: they do not take this node's certificate. */
		ALERT,
		/** The certificate does not name the host of the node that is claimed. */
		CERTIFICATE, SECRET, STOPPING, PROTOCOL, ADDRESS, TOPOLOGY, LANE

	}

	/** The kind of call to a peer. */
	enum Call {

		READ, READ_VERSION, STORE, REPAIR, SCAN, QUESTION

	}

}
