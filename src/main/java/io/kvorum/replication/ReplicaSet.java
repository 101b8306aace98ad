package io.kvorum.replication;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Quorum;
import io.kvorum.quorum.Tally;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of a key, or of a range, in the order in which one operation asks them. It
 * is the order of the expected times of their replies, so this node's is usually the
 * first. The position in this order stands for the replica in a {@link Tally}.
 */
public final class ReplicaSet {

	/** Stands for the rank of a member that is not in a group. */
	private static final int NO_RANK = Integer.MAX_VALUE;

	private final Replica[] replicas;

	/** The index of each replica among the members. */
	private final int[] order;

	/** The number of replicas that are not known to be away; these come first. */
	private final int present;

	private final Needed[] needed;

	private final Quorum quorum;

	private ReplicaSet(Replica[] replicas, int[] order, int present, Needed... needed) {
		this.replicas = replicas;
		this.order = order;
		this.present = present;
		this.needed = needed;
		this.quorum = (needed.length == 1) ? Quorum.of(needed[0].required, replicas.length) : quorum(Integer.MAX_VALUE);
	}

	/**
	 * Orders the replicas of these members.
	 * @param required how many of them an operation needs
	 * @param all the replicas of all members, by the index of the member
	 */
	public static ReplicaSet of(List<Member> members, int required, Replica[] all) {
		return ordered(members, all, new Needed(required, null));
	}

	/**
	 * Orders the replicas of members before and after a change of the topology.
	 * @param required how many of the first ones an operation needs
	 * @param requiredAfter how many of the second ones it needs
	 * @param all the replicas of all members, by the index of the member
	 */
	public static ReplicaSet ofBoth(List<Member> before, int required, List<Member> after, int requiredAfter,
			Replica[] all) {
		List<Member> both = new ArrayList<>(before);
		after.stream().filter(member -> !before.contains(member)).forEach(both::add);
		return ordered(both, all, new Needed(required, ranks(both, before)),
				new Needed(requiredAfter, ranks(both, after)));
	}

	private static int[] ranks(List<Member> both, List<Member> members) {
		return both.stream().mapToInt(members::indexOf).map(rank -> (rank < 0) ? NO_RANK : rank).toArray();
	}

	private static ReplicaSet ordered(List<Member> members, Replica[] all, Needed... needed) {
		int size = members.size();
		Replica[] replicas = new Replica[size];
		int[] order = new int[size];
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
				order[at] = order[at - 1];
			}
			expected[at] = nanos;
			replicas[at] = replica;
			order[at] = i;
		}
		return new ReplicaSet(replicas, order, present, needed);
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
		for (Needed group : this.needed) {
			if (group.rankOf(this.order[position]) < copies) {
				return true;
			}
		}
		return false;
	}

	/** The replicas that an operation needs. */
	public Quorum quorum() {
		return this.quorum;
	}

	/**
	 * The replicas that a store of an entry needs, which may have fewer copies than there
	 * are replicas. Then it needs no more than that.
	 * @param copies how many replicas are to hold it
	 */
	public Quorum quorum(int copies) {
		Quorum first = quorum(this.needed[0], copies);
		return (this.needed.length == 1) ? first : first.and(quorum(this.needed[1], copies));
	}

	private Quorum quorum(Needed group, int copies) {
		return Quorum.of(Math.min(group.required, copies), size(),
				position -> group.rankOf(this.order[position]) < Math.min(copies, NO_RANK));
	}

	/** Whether enough replicas for an operation are not known to be away. */
	public boolean isEnoughPresent() {
		return this.quorum.isPossibleFor(position -> position < this.present);
	}

	/** A group of replicas, of which an operation needs some. */
	private static final class Needed {

		private final int required;

		/** The rank of each member in the order of the key; null if that is its index. */
		private final int @Nullable [] ranks;

		Needed(int required, int @Nullable [] ranks) {
			this.required = required;
			this.ranks = ranks;
		}

		int rankOf(int member) {
			return (this.ranks == null) ? member : this.ranks[member];
		}

	}

}
