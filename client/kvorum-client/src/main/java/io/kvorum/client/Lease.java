package io.kvorum.client;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A name that is ours for a while, if all goes well: see {@link Leases}.
 */
public final class Lease {

	private final String name;

	private final String owner;

	private final Version token;

	private final long endNanos;

	private final LongSupplier nanoTime;

	Lease(String name, String owner, Version token, long endNanos, LongSupplier nanoTime) {
		this.name = name;
		this.owner = owner;
		this.token = token;
		this.endNanos = endNanos;
		this.nanoTime = nanoTime;
	}

	/**
	 * What is leased.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

	/** The same, with a newer token, and no longer than this one. */
	Lease with(Version token) {
		return new Lease(this.name, this.owner, token, this.endNanos, this.nanoTime);
	}

	String owner() {
		return this.owner;
	}

	/**
	 * The fencing token: greater than those of all leases of the name before. What the
	 * lease guards refuses a token that is less than the greatest that it has seen. Not
	 * in front of Cassandra, where tokens do not grow.
	 * @return the token, compared as text by others than Java
	 */
	public Version token() {
		return this.token;
	}

	/**
	 * The time that is left by the clock of this process, without a second for clocks
	 * that differ. A process that stands still does not notice that it is over.
	 * @return the time; 0 if the lease may have ended
	 */
	public Duration remaining() {
		return Duration.ofNanos(Math.max(this.endNanos - this.nanoTime.getAsLong(), 0));
	}

	@Override
	public String toString() {
		return "%s by %s, %s".formatted(this.name, this.owner, this.token);
	}

}
