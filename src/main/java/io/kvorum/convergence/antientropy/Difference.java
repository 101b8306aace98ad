package io.kvorum.convergence.antientropy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;

/** The difference between two stores in a partition, as the queried one tells it. */
final class Difference {

	/** The versions that only the queried store has. */
	final List<EntryHeader> theirs;

	/** The positions in the leaf of those items that the queried store lacks. */
	final int[] lacking;

	Difference(List<EntryHeader> theirs, int[] lacking) {
		this.theirs = theirs;
		this.lacking = lacking;
	}

	/** The difference between a received leaf and the entries here. */
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
