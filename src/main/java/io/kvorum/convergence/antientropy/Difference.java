package io.kvorum.convergence.antientropy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
import io.kvorum.storage.Stub;

/**
 * In what two stores differ in a partition, as the one that was asked tells it.
 */
final class Difference {

	/** What it has and the one that asked does not. */
	final List<Stub> theirs;

	/** Which items of the one that asked it does not have: positions in the leaf. */
	final int[] lacking;

	Difference(List<Stub> theirs, int[] lacking) {
		this.theirs = theirs;
		this.lacking = lacking;
	}

	/** What a leaf that was sent and the entries that are here do not have in common. */
	static Difference between(Leaf sent, List<Stub> here, KeyHash hash) {
		Map<Long, Integer> positions = new HashMap<>();
		for (int i = 0; i < sent.items.length; i++) {
			positions.put(sent.items[i], i);
		}
		List<Stub> theirs = new ArrayList<>();
		for (Stub stub : here) {
			if (positions.remove(Digests.itemOf(hash.of(stub.key()), stub.version())) == null) {
				theirs.add(stub);
			}
		}
		return new Difference(theirs, positions.values().stream().mapToInt(Integer::intValue).sorted().toArray());
	}

}
