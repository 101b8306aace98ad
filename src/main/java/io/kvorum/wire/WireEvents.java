package io.kvorum.wire;

/**
 * Receives the events of the port, for meters. Called on event loops: implementations
 * must be thread-safe and must not block.
 */
public interface WireEvents {

	/** Ignores all events. */
	WireEvents NONE = new WireEvents() {
	};

	/** A request was refused before the application saw it, or because of its body. */
	default void refused(Refusal refusal) {
	}

	/** A connection ran into a time limit. */
	default void timedOut(Timeout timeout) {
	}

	/**
	 * A connection was closed on accept: {@link WireLimits#maxConnections()} are open.
	 */
	default void connectionRefused() {
	}

	/** A TLS handshake has failed. */
	default void handshakeFailed() {
	}

	/** A connection was admitted. */
	default void connectionOpened() {
	}

	/** A connection that was admitted is closed. */
	default void connectionClosed() {
	}

}
