package io.kvorum.convergence.antientropy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.storage.EntryHeader;

/**
 * The work of one member after which it and another one hold the same in some partitions.
 * The newer of two entries wins. An entry goes to the replicas that its write asked for,
 * and to any member that has an older entry of the key. An overwritten entry is never
 * just removed: a member that still has it would bring it back. A member that gets an
 * entry that does not belong there hands it on, see {@link MisplacedEntries}.
 * <p>
 * An entry is not given to the member that its write, which may be under way, is about to
 * give it to. But whatever is newer there is brought here: this member then has all that
 * the other one had, also of keys that are written all the time.
 *
 * @param pull the entries to get from the other member
 * @param push the entries to give it
 * @param alone the entries of {@code push} of whose keys the other member has no version
 * @param left the entries that are left to their writes
 */
record Plan(List<EntryHeader> pull, List<EntryHeader> push, List<EntryHeader> alone, List<EntryHeader> left) {

	static Plan nothing() {
		return new Plan(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
	}

	/**
	 * Adds the differences of a partition.
	 * @param mine all entries here, in the order of the leaf that was sent
	 * @param myRank the place of this member in the order of the partition
	 * @param theirRank the place of the other member
	 * @param copies the number of members that are to hold an entry
	 * @param isUnderWay selects entries so young that their write may be under way
	 * @param isSettled selects tombstones that a replica without the key does not need
	 */
	void add(List<EntryHeader> mine, Difference difference, int myRank, int theirRank, ToIntFunction<Copies> copies,
			Predicate<EntryHeader> isUnderWay, Predicate<EntryHeader> isSettled) {
		Map<Key, EntryHeader> theirs = new HashMap<>();
		difference.theirs.forEach(header -> theirs.put(header.key(), header));
		for (int position : difference.lacking) {
			EntryHeader here = mine.get(position);
			EntryHeader there = theirs.remove(here.key());
			boolean belongsThere = theirRank < copies.applyAsInt(here.copies());
			if (there != null && there.version().isNewerThan(here.version())) {
				this.pull.add(there);
			}
			else if (belongsThere && isUnderWay.test(here)) {
				this.left.add(here);
			}
			else if (there != null) {
				this.push.add(here);
			}
			else if (belongsThere && !isSettled.test(here)) {
				this.push.add(here);
				this.alone.add(here);
			}
		}
		for (EntryHeader there : theirs.values()) {
			if (myRank < copies.applyAsInt(there.copies()) && !isSettled.test(there)) {
				this.pull.add(there);
			}
		}
	}

	/** The number of keys that differ. */
	int size() {
		return this.pull.size() + this.push.size() + this.left.size();
	}

}
