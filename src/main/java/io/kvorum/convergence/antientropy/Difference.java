package io.kvorum.convergence.antientropy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;

/**
 * In what two stores differ in a partition, as the one that was asked tells it.
 */
final class Difference {

	/** What it has and the one that asked does not. */
	final List<EntryHeader> theirs;

	/** Which items of the one that asked it does not have: positions in the leaf. */
	final int[] lacking;

	Difference(List<EntryHeader> theirs, int[] lacking) {
		this.theirs = theirs;
		this.lacking = lacking;
	}

	/** What a leaf that was sent and the entries that are here do not have in common. */
	static Difference between(Leaf sent, List<EntryHeader> here, KeyHash hash) {
		Map<Long, Integer> positions = new HashMap<>();
		for (int i = 0; i < sent.items.length; i++) {
			positions.put(sent.items[i], i);
		}
		List<EntryHeader> theirs = new ArrayList<>();
		for (EntryHeader header : here) {
			if (positions.remove(Digests.itemOf(hash.of(header.key()), header.version())) == null) {
				theirs.add(header);
			}
		}
		return new Difference(theirs, positions.values().stream().mapToInt(Integer::intValue).sorted().toArray());
	}

}
