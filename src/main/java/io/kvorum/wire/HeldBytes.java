package io.kvorum.wire;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that wait on all connections of a port: what clients have sent ahead while
 * their requests are being answered. They are in Netty's direct buffers, which clients
 * and peers share. Thread-safe.
 */
final class HeldBytes {

	/** The limit of a port. */
	static final long MAX_BYTES = 16 << 20;

	private final long limit;

	private final AtomicLong held = new AtomicLong();

	HeldBytes(long limit) {
		this.limit = limit;
	}

	void add(int change) {
		this.held.addAndGet(change);
	}

	/** Whether each connection is to send ahead next to nothing. */
	boolean areTooMany() {
		return this.held.get() > this.limit;
	}

	long held() {
		return this.held.get();
	}

}
