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
 * What has to be done so that two members hold the same in a partition, as one of them
 * sees it. The newer of two entries wins. An entry goes to those that its write asked
 * for, and to whoever has an older one of the key: what is overwritten is never just
 * removed, since another member that still has it would bring it back. Who gets an entry
 * that does not belong there hands it on, see {@link MisplacedEntries}.
 *
 * @param pull what the other one has to give
 * @param push what it has to get
 * @param alone what the other one has no version of, though it is to hold it: among
 * {@code push}
 */
record Plan(List<EntryHeader> pull, List<EntryHeader> push, List<EntryHeader> alone) {

	static Plan nothing() {
		return new Plan(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
	}

	/**
	 * Adds what a partition needs.
	 * @param mine all that is here, in the order of the leaf that was sent
	 * @param myRank this member's place in the order of the partition
	 * @param theirRank the other one's
	 * @param copies how many members are to hold an entry
	 * @param isSettled tombstones that every replica has had, and which need not be given
	 * to anybody
	 */
	void add(List<EntryHeader> mine, Difference difference, int myRank, int theirRank, ToIntFunction<Copies> copies,
			Predicate<EntryHeader> isSettled) {
		Map<Key, EntryHeader> theirs = new HashMap<>();
		difference.theirs.forEach(header -> theirs.put(header.key(), header));
		for (int position : difference.lacking) {
			EntryHeader here = mine.get(position);
			EntryHeader there = theirs.remove(here.key());
			if (there != null) {
				boolean theirsIsNewer = there.version().isNewerThan(here.version());
				(theirsIsNewer ? this.pull : this.push).add(theirsIsNewer ? there : here);
			}
			else if (theirRank < copies.applyAsInt(here.copies()) && !isSettled.test(here)) {
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

	/** Keys that are not the same on both. */
	int size() {
		return this.pull.size() + this.push.size();
	}

}
