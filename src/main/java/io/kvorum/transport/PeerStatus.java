package io.kvorum.transport;

/**
 * Whether a peer is there, for all event loops.
 *
 * @param address its replica address
 * @param reason why it is not; empty where it is
 */
public record PeerStatus(String address, boolean isThere, String reason) {
}
