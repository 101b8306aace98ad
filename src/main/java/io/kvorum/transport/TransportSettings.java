package io.kvorum.transport;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The limits of the replica protocol.
 *
 * @param secret shared by the nodes; null where they trust their network
 * @param tls null where they trust their network
 * @param connectTimeout how long a peer may take to say hello
 * @param silenceTimeout how long a peer that owes an answer may be silent before its
 * stream is given up
 * @param probeInterval how long until a peer that is away is tried again
 * @param peersTimeout how long a node that starts waits until its peers use it
 * @param maxInFlight operations under way on a stream
 * @param maxEntryBytes the longest value
 */
public record TransportSettings(@Nullable String secret, @Nullable ReplicaTls tls, Duration connectTimeout,
		Duration silenceTimeout, Duration probeInterval, Duration peersTimeout, int maxInFlight, int maxEntryBytes) {

	/** The bytes of a frame beside the entry: its head, a key, the fields of an entry. */
	private static final int BESIDE_THE_ENTRY_BYTES = 4 << 10;

	int maxFrameBytes() {
		return this.maxEntryBytes + BESIDE_THE_ENTRY_BYTES;
	}

	/** Records print their components; this one keeps its secret. */
	@Override
	public String toString() {
		return "TransportSettings[]";
	}

}
