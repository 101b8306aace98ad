package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * Instants at which a node was alive, by its own clock: milliseconds since 1970, or 0 for
 * never.
 *
 * @param lastMillis the last one
 * @param latestMillis the latest one ever: after the last one if the clock was set back
 */
record Alive(long lastMillis, long latestMillis) {

	static final Alive NEVER = new Alive(0, 0);

	Alive at(long nowMillis) {
		return new Alive(nowMillis, Math.max(nowMillis, this.latestMillis));
	}

	byte[] toBytes() {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(this.lastMillis).putLong(this.latestMillis).array();
	}

	/**
	 * Reads a record. Records of older versions and of backups have the last instant
	 * only.
	 */
	static Alive of(byte @Nullable [] recorded) {
		if (recorded == null) {
			return NEVER;
		}
		ByteBuffer in = ByteBuffer.wrap(recorded);
		long lastMillis = in.getLong();
		return new Alive(lastMillis, in.hasRemaining() ? in.getLong() : lastMillis);
	}

}
