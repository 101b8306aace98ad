package io.kvorum.replication.antientropy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.kvorum.kv.Key;
import io.kvorum.storage.Stub;

/**
 * What has to be done so that two members hold the same in a partition, as one of them
 * sees it. The newer of two entries wins, and an entry goes to those that its write asked
 * for, no others: one that was overwritten by a write with fewer copies is let go.
 *
 * @param pull what the other one has to give
 * @param push what it has to get
 * @param drop what has been overwritten elsewhere by what does not belong here
 * @param alone what the other one has no version of, though it is to hold it: among
 * {@code push}
 */
record Plan(List<Stub> pull, List<Stub> push, List<Stub> drop, List<Stub> alone) {

	static Plan nothing() {
		return new Plan(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
	}

	/**
	 * Adds what a partition needs.
	 * @param mine all that is here, in the order of the leaf that was sent
	 * @param myRank this member's place in the order of the partition
	 * @param theirRank the other one's
	 * @param isSettled tombstones that every replica has had, and which need not be given
	 * to anybody
	 */
	void add(List<Stub> mine, Difference difference, int myRank, int theirRank, Predicate<Stub> isSettled) {
		Map<Key, Stub> theirs = new HashMap<>();
		difference.theirs.forEach(stub -> theirs.put(stub.key(), stub));
		for (int position : difference.lacking) {
			Stub here = mine.get(position);
			Stub there = theirs.remove(here.key());
			if (there != null && there.version().isNewerThan(here.version())) {
				take(there, here, myRank);
			}
			else if (theirRank < here.copies() && (there != null || !isSettled.test(here))) {
				this.push.add(here);
				if (there == null) {
					this.alone.add(here);
				}
			}
		}
		for (Stub there : theirs.values()) {
			if (myRank < there.copies() && !isSettled.test(there)) {
				this.pull.add(there);
			}
		}
	}

	private void take(Stub there, Stub here, int myRank) {
		if (myRank < there.copies()) {
			this.pull.add(there);
		}
		else {
			this.drop.add(here);
		}
	}

	/** Keys that are not the same on both. */
	int size() {
		return this.pull.size() + this.push.size() + this.drop.size();
	}

}
