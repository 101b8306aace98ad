package io.kvorum.transport;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of the replica protocol.
 *
 * @param secret shared by the nodes; null if they trust their network
 * @param tls null if they trust their network
 * @param connectTimeout time limit of each step to an open stream: TCP connection, TLS
 * handshake, and the peer's hello since the start of the attempt
 * @param silenceTimeout longest silence of a peer that owes an answer; its stream is
 * given up then
 * @param probeInterval time between attempts to reach a peer that is away
 * @param peersTimeout longest time for which a starting node waits for its peers
 * @param maxInFlight limit of the operations under way on a stream
 * @param maxEntryBytes length of the longest value
 */
public record TransportSettings(@Nullable String secret, @Nullable ReplicaTls tls, Duration connectTimeout,
		Duration silenceTimeout, Duration probeInterval, Duration peersTimeout, int maxInFlight, int maxEntryBytes) {

	/** Bytes of a frame beside an entry: its head, a key, the fields of an entry. */
	private static final int BESIDE_THE_ENTRY_BYTES = 4 << 10;

	int maxFrameBytes() {
		return this.maxEntryBytes + BESIDE_THE_ENTRY_BYTES;
	}

	/** Hides the secret, which a record would print. */
	@Override
	public String toString() {
		return "TransportSettings[]";
	}

}
