package io.kvorum.transport;

/** What this node is, for other nodes. */
@FunctionalInterface
public interface OwnReport {

	/** Returns it as JSON. */
	String toJson();

}
