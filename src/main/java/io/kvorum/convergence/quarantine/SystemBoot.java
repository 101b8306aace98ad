package io.kvorum.convergence.quarantine;

import java.nio.charset.StandardCharsets;

/**
 * The run of the operating system in which a node runs.
 *
 * @param id the boot id of the system; empty if it has none, and then each start of the
 * node counts as another run
 * @param endsAll whether acknowledged writes may be lost with the run, because the node
 * does not sync them
 */
public record SystemBoot(String id, boolean endsAll) {

	/** The run of a node that syncs each write before it acknowledges it. */
	public static final SystemBoot SYNCED = new SystemBoot("", false);

	private static final String UNKNOWN = "unknown";

	/** The record while nothing can be lost: after a stop, or if each write is synced. */
	private static final byte[] NOTHING = {};

	/** The record that a node makes before it acknowledges anything. */
	byte[] begun() {
		return this.endsAll ? (this.id.isEmpty() ? UNKNOWN : this.id).getBytes(StandardCharsets.US_ASCII) : NOTHING;
	}

	/** The record of a node when all that it has acknowledged is on disk. */
	static byte[] ended() {
		return NOTHING;
	}

	/** Whether the life that left this record may have lost writes with its run. */
	boolean mayHaveLost(byte[] recorded) {
		String before = new String(recorded, StandardCharsets.US_ASCII);
		return !before.isEmpty() && (this.id.isEmpty() || !before.equals(this.id));
	}

}
