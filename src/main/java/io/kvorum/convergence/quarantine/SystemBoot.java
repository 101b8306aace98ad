package io.kvorum.convergence.quarantine;

import java.nio.charset.StandardCharsets;

/**
 * The run of the operating system that a node lives in.
 *
 * @param id tells this run from all others; empty where the system does not say, and then
 * each start counts as another run
 * @param endsAll whether what the node has acknowledged may be lost with it: it does not
 * sync its writes
 */
public record SystemBoot(String id, boolean endsAll) {

	/** Of a node that syncs each write before it is acknowledged. */
	public static final SystemBoot SYNCED = new SystemBoot("", false);

	private static final String UNKNOWN = "unknown";

	/** Recorded where nothing can be lost: before the first life, and after its end. */
	private static final byte[] NOTHING = {};

	/** What a node records before it acknowledges anything. */
	byte[] begun() {
		return this.endsAll ? (this.id.isEmpty() ? UNKNOWN : this.id).getBytes(StandardCharsets.US_ASCII) : NOTHING;
	}

	/** What a node records when all that it has acknowledged is on disk. */
	static byte[] ended() {
		return NOTHING;
	}

	/** Whether a life that recorded this may have lost something with its run. */
	boolean mayHaveLost(byte[] recorded) {
		String before = new String(recorded, StandardCharsets.US_ASCII);
		return !before.isEmpty() && (this.id.isEmpty() || !before.equals(this.id));
	}

}
