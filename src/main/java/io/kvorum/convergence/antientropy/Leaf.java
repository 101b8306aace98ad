package io.kvorum.convergence.antientropy;

import java.util.List;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
import io.kvorum.storage.Stub;

/**
 * A partition that one asks another about: a number for each entry that it has there, see
 * {@link Digests#itemOf}.
 */
final class Leaf {

	final int partition;

	final long[] items;

	Leaf(int partition, long[] items) {
		this.partition = partition;
		this.items = items;
	}

	static Leaf of(int partition, List<Stub> stubs, KeyHash hash) {
		return new Leaf(partition,
				stubs.stream().mapToLong(stub -> Digests.itemOf(hash.of(stub.key()), stub.version())).toArray());
	}

}
