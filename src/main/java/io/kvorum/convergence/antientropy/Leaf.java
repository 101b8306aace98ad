package io.kvorum.convergence.antientropy;

import java.util.List;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;

/**
 * A partition to be compared: a number for each entry that the asking node has there, see
 * {@link Digests#itemOf}.
 */
final class Leaf {

	final int partition;

	final long[] items;

	Leaf(int partition, long[] items) {
		this.partition = partition;
		this.items = items;
	}

	static Leaf of(int partition, List<EntryHeader> headers, KeyHash hash) {
		return new Leaf(partition,
				headers.stream()
					.mapToLong(header -> Digests.itemOf(hash.of(header.key()), header.version()))
					.toArray());
	}

}
