package io.kvorum.transport;

import java.net.InetSocketAddress;

/** Signals that the replica port cannot be opened; the message is for an operator. */
public final class ReplicaPortException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReplicaPortException(InetSocketAddress address, Throwable cause) {
		super("The replica port cannot be opened on %s: %s".formatted(address, cause.getMessage()), cause);
	}

}
