package io.kvorum.storage;

import java.util.List;
import java.util.Set;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import reactor.core.publisher.Mono;

/**
 * Keeps hints over restarts. Nodes are told apart by numbers that their address gives
 * them. There is one hint for each node and key, that of the newest version.
 * <p>
 * Errors are {@link StorageException}s; results arrive as those of a
 * {@link StorageEngine}.
 */
public interface HintLog {

	/**
	 * Stores a hint and replaces an older one of the same key. It is durable with the
	 * next sync, which it does not request: hints are no promise.
	 * @return false if a newer hint, or the same, was there
	 */
	Mono<Boolean> add(long target, Key key, Entry entry);

	/**
	 * The oldest hints for a node, in the order of their versions.
	 * @param maxBytes no hint begins behind so many bytes of entries; at least one
	 * @param maxItems how many at most
	 */
	Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline);

	/** Removes a hint, unless a newer one has taken its place. */
	Mono<Void> remove(Hint hint);

	/** Removes all hints for a node. */
	Mono<Void> removeAll(long target);

	/** The hints that wait for a node. Reads nothing from disk. */
	Waiting waiting(long target);

	/** The nodes for which something waits. */
	Set<Long> targets();

	/**
	 * The hints that wait for a node.
	 *
	 * @param hints their number
	 * @param bytes the size of their entries
	 * @param oldestMillis a lower bound for the versions of all of them, in milliseconds
	 * since 1970; {@link Long#MAX_VALUE} if there are none
	 */
	record Waiting(long hints, long bytes, long oldestMillis) {

		public static final Waiting NONE = new Waiting(0, 0, Long.MAX_VALUE);

	}

}
