package io.kvorum.storage;

import java.util.List;
import java.util.Set;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import reactor.core.publisher.Mono;

/**
 * The durable hints of a node. A node has a number derived from its address. There is one
 * hint for each node and key, with the newest version.
 * <p>
 * Errors are {@link StorageException}s; results arrive as those of a
 * {@link StorageEngine}.
 */
public interface HintLog {

	/** The numbers and versions in the two rows of a hint. */
	int FIXED_BYTES = 54;

	/** What a hint takes: its entry, and its key in each of two rows. */
	static int bytes(int keyBytes, int entryBytes) {
		return FIXED_BYTES + 2 * keyBytes + entryBytes;
	}

	/**
	 * Adds a hint, which replaces an older one for the same node and key. Completes when
	 * the hint is as durable as the engine's {@link Durability}.
	 * @return false if a newer or the same version was there
	 */
	Mono<Boolean> add(long target, Key key, Entry entry);

	/**
	 * The oldest hints for a node, in the order of their versions.
	 * @param maxBytes the bytes of entries after which no further hint begins; at least
	 * one hint is returned if any waits
	 * @param maxItems the most hints
	 */
	Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline);

	/** Removes a hint, unless a newer one has replaced it. */
	Mono<Void> remove(Hint hint);

	/** Removes all hints for a node. */
	Mono<Void> removeAll(long target);

	/** The hints that wait for a node. Costs no read. */
	Waiting waiting(long target);

	/** The nodes that have hints waiting. */
	Set<Long> targets();

	/**
	 * A summary of the hints that wait for a node.
	 *
	 * @param hints their number
	 * @param bytes what they take, see {@link HintLog#bytes}
	 * @param oldestMillis the instant that none of their versions is older than, in
	 * milliseconds since 1970; {@link Long#MAX_VALUE} without hints
	 */
	record Waiting(long hints, long bytes, long oldestMillis) {

		public static final Waiting NONE = new Waiting(0, 0, Long.MAX_VALUE);

	}

}
