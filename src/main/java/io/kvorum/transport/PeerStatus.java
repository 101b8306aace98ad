package io.kvorum.transport;

/**
 * Whether a peer is there. It is called over one stream for each event loop, and one more
 * for large entries.
 *
 * @param address its replica address
 * @param streams how many are open; 0 where it is away
 * @param wanted how many there are to be
 * @param reason why it is away
 * @param everOpen whether a stream to it was ever open since this node started
 * @param refused whether it refused one since it last took one, or this node refused it
 */
public record PeerStatus(String address, int streams, int wanted, String reason, boolean everOpen, boolean refused) {

	/** A description for people. */
	public String describe() {
		if (this.streams == 0) {
			return "away: " + this.reason;
		}
		return (this.streams == this.wanted) ? "there"
				: "partly there: %d of %d streams are open".formatted(this.streams, this.wanted);
	}

}
