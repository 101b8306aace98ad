package io.kvorum.cluster;

import java.util.Arrays;
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
 * The first members of each order are computed once. Thread-safe.
 */
public final class RendezvousPlacement implements Placement {

	/** Changes when the same members would get another order. */
	static final int SCHEME = 1;

	/** Limit of a row of the table. Longer lists are rare and computed on demand. */
	static final int TABLE_WIDTH = 8;

	private static final Hasher64 HASHER = Hashing.xxh3_64();

	private static final int INDEX_MASK = (1 << Byte.SIZE) - 1;

	private final Member[] members;

	/** Members that hold a key by default. */
	private final int factor;

	private final PartitionOrder order;

	/** Members in a row of the table. */
	private final int width;

	/** A row for each partition: indexes of its first members, unsigned. */
	private final byte[] table;

	public RendezvousPlacement(Topology topology) {
		this.members = topology.members().toArray(Member[]::new);
		this.factor = topology.factor();
		this.order = new PartitionOrder(topology.members(), topology.rates());
		this.width = Math.min(TABLE_WIDTH, this.members.length);
		this.table = table();
	}

	@Override
	public List<Member> replicasOf(Key key, int from) {
		if (from < 1 || from > this.members.length) {
			throw new IllegalArgumentException(
					"%d replicas of a key, where there are %d members".formatted(from, this.members.length));
		}
		return replicasOf(partitionOf(key), from);
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
		return Math.min(copies.orDefault(this.factor), this.members.length);
	}

	/** The place of a member in the order of a partition, from 0 on. */
	public int rankOf(int partition, Member member) {
		int row = partition * this.width;
		for (int rank = 0; rank < this.width; rank++) {
			if ((this.table[row + rank] & INDEX_MASK) == member.index()) {
				return rank;
			}
		}
		int[] all = new int[this.members.length];
		this.order.first(partition, all);
		int rank = this.width;
		while (all[rank] != member.index()) {
			rank++;
		}
		return rank;
	}

	/** The first members in the order of a partition. */
	public List<Member> replicasOf(int partition, int from) {
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

}
