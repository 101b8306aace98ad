package io.kvorum.convergence.tombstones;

import java.util.concurrent.atomic.AtomicReferenceArray;

import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * The versions of the tombstones that this node has collected lately. Nothing older than
 * such a tombstone is left or can come back. So this node need not take it from a replica
 * that has not collected it yet.
 * <p>
 * Otherwise a key that is read again and again would keep its tombstone for ever: each
 * read gives it back to the replicas that have collected it.
 * <p>
 * A tombstone is forgotten at a restart, or when a later one takes its place. Then it is
 * stored and collected once more. Thread-safe.
 */
public final class CollectedTombstones {

	private static final int PLACE_BITS = 16;

	/** The most tombstones that are remembered. */
	private static final int PLACES = 1 << PLACE_BITS;

	/** 2^64 divided by the golden ratio. */
	private static final long SPREAD = 0x9E3779B97F4A7C15L;

	private final AtomicReferenceArray<@Nullable Version> versions = new AtomicReferenceArray<>(PLACES);

	/** Remembers a tombstone that {@link CollectionRule} lets go. */
	void add(Version version) {
		this.versions.set(placeOf(version), version);
	}

	/** Whether this version is that of a tombstone collected here. */
	public boolean contains(Version version) {
		return version.equals(this.versions.get(placeOf(version)));
	}

	/**
	 * A place by the upper bits of a product. Two rounds spread timestamps that follow.
	 */
	private static int placeOf(Version version) {
		long mixed = version.timestamp() * SPREAD + version.node();
		mixed ^= mixed >>> Integer.SIZE;
		return (int) ((mixed * SPREAD) >>> (Long.SIZE - PLACE_BITS));
	}

}
