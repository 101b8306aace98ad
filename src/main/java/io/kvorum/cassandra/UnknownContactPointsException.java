package io.kvorum.cassandra;

import java.util.List;

/** No contact point of Cassandra has an address that is known now. */
public final class UnknownContactPointsException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public UnknownContactPointsException(List<String> contactPoints) {
		super("no address is known for the contact points %s".formatted(contactPoints), null, false, false);
	}

}
