package io.kvorum.replication;

import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Tally;

/**
 * The replicas of a key, or of a range, in the order in which one operation asks them. It
 * is the order of the expected times of their replies, so this node's is usually the
 * first. The position in this order stands for the replica in a {@link Tally}.
 */
public final class ReplicaSet {

	private final Replica[] replicas;

	/** The rank of each replica in the order of the key. */
	private final int[] ranks;

	/** The number of replicas that are not known to be away; these come first. */
	private final int present;

	private ReplicaSet(Replica[] replicas, int[] ranks, int present) {
		this.replicas = replicas;
		this.ranks = ranks;
		this.present = present;
	}

	/**
	 * Orders the replicas of these members.
	 * @param all the replicas of all members, by the index of the member
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

	/** The number of replicas that are not known to be away; these come first. */
	public int present() {
		return this.present;
	}

	public Replica at(int position) {
		return this.replicas[position];
	}

	/**
	 * Whether the replica is one of those that are to hold an entry.
	 * @param copies how many replicas are to hold it
	 */
	public boolean isCopy(int position, int copies) {
		return this.ranks[position] < copies;
	}

}
