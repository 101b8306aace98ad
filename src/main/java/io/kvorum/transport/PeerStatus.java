package io.kvorum.transport;

/**
 * Whether a peer is there. It is called over one stream for each event loop, and one more
 * for large entries.
 *
 * @param address its replica address
 * @param streams the open streams; 0 if it is away
 * @param wanted the streams that there should be
 * @param reason the reason why it is away
 * @param taken whether it has accepted a stream since this node started
 * @param refused whether it refused a stream since it last accepted one, or this node
 * refused it
 */
public record PeerStatus(String address, int streams, int wanted, String reason, boolean taken, boolean refused) {

	/** A description for people. */
	public String describe() {
		if (this.streams == 0) {
			return "away: " + this.reason;
		}
		return (this.streams == this.wanted) ? "there"
				: "partly there: %d of %d streams are open".formatted(this.streams, this.wanted);
	}

}
