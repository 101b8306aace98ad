package io.kvorum.transport;

/**
 * Whether a peer is there: it is asked over one stream for each event loop, and one for
 * large entries.
 *
 * @param address its replica address
 * @param streams how many are open; 0 where it is away
 * @param wanted how many there are to be
 * @param reason why it is away
 * @param taken whether it ever took a stream since this node started
 * @param refused whether it refused one since it last took one, or this node refused it
 */
public record PeerStatus(String address, int streams, int wanted, String reason, boolean taken, boolean refused) {

	/** For people. */
	public String describe() {
		if (this.streams == 0) {
			return "away: " + this.reason;
		}
		return (this.streams == this.wanted) ? "there"
				: "partly there: %d of %d streams are open".formatted(this.streams, this.wanted);
	}

}
