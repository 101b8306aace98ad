package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;

/**
 * Rendezvous hashing (Thaler and Ravishankar, 1998) over fixed partitions.
 * <p>
 * A key belongs to one of {@link Partitions#COUNT} partitions by its hash. Members hold
 * the keys of a partition in its {@link PartitionOrder}. Without zones and with equal
 * weights, a member that leaves changes no order among the others: only the lists it was
 * in get another member, at their end.
 * <p>
 * While the topology changes, each partition has the order before and the one after. The
 * rank of a member is the lower one of the two, so the first members are those of both.
 * <p>
 * Thread-safe.
 */
public final class RendezvousPlacement implements Placement {

	/** Changes when the same members would get another order. */
	static final int SCHEME = 1;

	private static final Hasher64 HASHER = Hashing.xxh3_64();

	private final int factor;

	private final int members;

	/** The orders before and after a change; only one without a change. */
	private final OrderTable[] tables;

	public RendezvousPlacement(Topology topology) {
		this.factor = topology.factor();
		this.members = topology.size();
		this.tables = topology.parts().stream().map(part -> new OrderTable(part, topology)).toArray(OrderTable[]::new);
	}

	@Override
	public List<Member> replicasOf(Key key, int part, int from) {
		return this.tables[part].first(partitionOf(key), from);
	}

	/** The {@link io.kvorum.kv.KeyHash} of all nodes. */
	public static long hashOf(Key key) {
		return HASHER.hashBytesToLong(key.bytes());
	}

	/** The partition of a key; the same for any topology. */
	public static int partitionOf(Key key) {
		return Partitions.ofHash(hashOf(key));
	}

	/** The number of members, the first ones of a partition, that hold an entry. */
	public int copiesOf(Copies copies) {
		return Math.min(copies.orDefault(this.factor), this.members);
	}

	/** The place of a member in the order of a partition, from 0 on. */
	public int rankOf(int partition, Member member) {
		int rank = this.tables[0].rankOf(partition, member);
		return (this.tables.length == 1) ? rank : Math.min(rank, this.tables[1].rankOf(partition, member));
	}

	/**
	 * The members of a partition whose rank is below a number. While the topology
	 * changes, that may be up to twice as many.
	 */
	public List<Member> replicasOf(int partition, int from) {
		List<Member> first = this.tables[0].upTo(partition, from);
		if (this.tables.length == 1) {
			return first;
		}
		List<Member> both = new ArrayList<>(first);
		this.tables[1].upTo(partition, from).stream().filter(member -> !first.contains(member)).forEach(both::add);
		both.sort(Comparator.comparingInt(member -> rankOf(partition, member)));
		return both;
	}

	/**
	 * The order of the members of one topology in each partition. The first members of
	 * each order are computed once.
	 */
	private static final class OrderTable {

		/** Limit of a row of the table. Longer lists are rare and computed on demand. */
		private static final int TABLE_WIDTH = 8;

		private static final int INDEX_MASK = (1 << Byte.SIZE) - 1;

		/** The members, with their index in the whole change, by their index here. */
		private final Member[] members;

		/** The index here of each member of the whole change; -1 for one of the other. */
		private final int[] indexes;

		private final PartitionOrder order;

		/** Members in a row of the table. */
		private final int width;

		/** A row for each partition: indexes of its first members, unsigned. */
		private final byte[] table;

		/**
		 * The order of a topology.
		 * @param whole the change that it is a part of, or the topology itself
		 */
		OrderTable(Topology topology, Topology whole) {
			this.members = topology.members()
				.stream()
				.map(member -> whole.member(member.address()))
				.toArray(Member[]::new);
			this.indexes = new int[whole.size()];
			Arrays.fill(this.indexes, -1);
			for (int index = 0; index < this.members.length; index++) {
				this.indexes[this.members[index].index()] = index;
			}
			this.order = new PartitionOrder(topology.members(), topology.rates());
			this.width = Math.min(TABLE_WIDTH, this.members.length);
			this.table = table();
		}

		private byte[] table() {
			byte[] rows = new byte[Partitions.COUNT * this.width];
			int[] first = new int[this.width];
			for (int partition = 0; partition < Partitions.COUNT; partition++) {
				this.order.first(partition, first);
				for (int i = 0; i < this.width; i++) {
					rows[partition * this.width + i] = (byte) first[i];
				}
			}
			return rows;
		}

		/** The rank of a member; {@link Integer#MAX_VALUE} if it is none of these. */
		int rankOf(int partition, Member member) {
			int index = this.indexes[member.index()];
			if (index < 0) {
				return Integer.MAX_VALUE;
			}
			int row = partition * this.width;
			for (int rank = 0; rank < this.width; rank++) {
				if ((this.table[row + rank] & INDEX_MASK) == index) {
					return rank;
				}
			}
			int[] all = new int[this.members.length];
			this.order.first(partition, all);
			int rank = this.width;
			while (all[rank] != index) {
				rank++;
			}
			return rank;
		}

		/** The first members, or all if there are fewer. */
		List<Member> upTo(int partition, int from) {
			return first(partition, Math.min(from, this.members.length));
		}

		List<Member> first(int partition, int from) {
			if (from < 1 || from > this.members.length) {
				throw new IllegalArgumentException(
						"%d replicas of a key, where there are %d members".formatted(from, this.members.length));
			}
			Member[] replicas = new Member[from];
			if (from <= this.width) {
				int row = partition * this.width;
				for (int i = 0; i < from; i++) {
					replicas[i] = this.members[this.table[row + i] & INDEX_MASK];
				}
			}
			else {
				int[] first = new int[from];
				this.order.first(partition, first);
				Arrays.setAll(replicas, i -> this.members[first[i]]);
			}
			return List.of(replicas);
		}

	}

}
