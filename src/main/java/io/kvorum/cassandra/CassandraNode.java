package io.kvorum.cassandra;

/**
 * A node of Cassandra, as the driver of a gateway knows it.
 *
 * @param id its identity in its cluster
 * @param address host and port of the native protocol
 * @param version of Cassandra
 * @param isUp whether it is believed to be there
 * @param connections the open connections of this gateway to it
 */
public record CassandraNode(String id, String address, String datacenter, String rack, String version, boolean isUp,
		int connections) {

	/** Whether this gateway can ask it. */
	public boolean isReached() {
		return this.connections > 0;
	}

}
