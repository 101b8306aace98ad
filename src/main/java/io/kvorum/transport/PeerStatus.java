package io.kvorum.transport;

/**
 * Status of a peer, which has one stream for each event loop and one for large entries.
 *
 * @param address its replica address
 * @param streams number of open streams; 0 if it is away
 * @param wanted number of streams when all are open
 * @param reason why no stream is open; empty if one is
 * @param everOpen whether a stream to it was ever open since this node started
 * @param refused whether it has refused a stream since the last one was open, or this
 * node has refused it
 */
public record PeerStatus(String address, int streams, int wanted, String reason, boolean everOpen, boolean refused) {

	/** The status in words, for health and endpoints. */
	public String describe() {
		if (this.streams == 0) {
			return "away: " + this.reason;
		}
		return (this.streams == this.wanted) ? "there"
				: "partly there: %d of %d streams are open".formatted(this.streams, this.wanted);
	}

}
