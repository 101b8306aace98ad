package io.kvorum.replication;

import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Tally;

/**
 * The replicas of a key, as one operation sees them: by preference, this node first, then
 * the one expected to answer first. The position of a replica in this order stands for it
 * in a {@link Tally}.
 */
public final class ReplicaSet {

	private final Replica[] replicas;

	/** The place of each in the order of the key. */
	private final int[] ranks;

	/** How many of them are not known to be away; these come first. */
	private final int present;

	private ReplicaSet(Replica[] replicas, int[] ranks, int present) {
		this.replicas = replicas;
		this.ranks = ranks;
		this.present = present;
	}

	/**
	 * The replicas on these members.
	 * @param all the replicas on all members, by their index
	 */
	public static ReplicaSet of(List<Member> members, Replica[] all) {
		int size = members.size();
		Replica[] replicas = new Replica[size];
		int[] ranks = new int[size];
		long[] expected = new long[size];
		int present = 0;
		for (int i = 0; i < size; i++) {
			Replica replica = all[members.get(i).index()];
			long nanos = replica.expectedNanos();
			present += (nanos != Replica.AWAY) ? 1 : 0;
			int at = i;
			for (; at > 0 && expected[at - 1] > nanos; at--) {
				expected[at] = expected[at - 1];
				replicas[at] = replicas[at - 1];
				ranks[at] = ranks[at - 1];
			}
			expected[at] = nanos;
			replicas[at] = replica;
			ranks[at] = i;
		}
		return new ReplicaSet(replicas, ranks, present);
	}

	public int size() {
		return this.replicas.length;
	}

	/** How many of them are not known to be away; these come first. */
	public int present() {
		return this.present;
	}

	public Replica at(int position) {
		return this.replicas[position];
	}

	/**
	 * Whether the replica is one of those that are to hold an entry.
	 * @param copies how many these are
	 */
	public boolean isCopy(int position, int copies) {
		return this.ranks[position] < copies;
	}

}
