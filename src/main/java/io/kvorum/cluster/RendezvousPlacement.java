package io.kvorum.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.kvorum.kv.Key;

/**
 * Rendezvous hashing (Thaler and Ravishankar, 1998) over fixed partitions.
 * <p>
 * A key belongs to one of {@value #PARTITIONS} partitions by its hash. In each partition
 * every member has a weight, a hash of its address and the partition, and the members
 * hold the keys of the partition in the order of their weights. Since a weight depends on
 * nothing else, a member that leaves changes no order among the others: only the lists it
 * was in get another member, at their end.
 * <p>
 * The orders are computed once. Thread-safe.
 */
public final class RendezvousPlacement implements Placement {

	/** A power of two. Nodes must agree on it. */
	public static final int PARTITIONS = 1 << 16;

	/** Changes when the same members would get another order. */
	static final int SCHEME = 1;

	private static final Hasher64 HASHER = Hashing.xxh3_64();

	private static final int INDEX_BITS = Byte.SIZE;

	private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

	private final Member[] members;

	/** One row for each partition: the indexes of all members, unsigned, in order. */
	private final byte[] orders;

	public RendezvousPlacement(Topology topology) {
		this.members = topology.members().toArray(Member[]::new);
		this.orders = orders(this.members);
	}

	@Override
	public List<Member> replicasOf(Key key, int from) {
		if (from < 1 || from > this.members.length) {
			throw new IllegalArgumentException(
					"%d replicas of a key, where there are %d members".formatted(from, this.members.length));
		}
		int row = partitionOf(key) * this.members.length;
		Member[] replicas = new Member[from];
		for (int i = 0; i < from; i++) {
			replicas[i] = this.members[Byte.toUnsignedInt(this.orders[row + i])];
		}
		return List.of(replicas);
	}

	/** The partition of a key, 0 up to {@link #PARTITIONS}; the same for any topology. */
	public static int partitionOf(Key key) {
		return (int) HASHER.hashBytesToLong(key.bytes()) & (PARTITIONS - 1);
	}

	/**
	 * The lower weight comes first; of equal ones, the lower index, which is the lower
	 * address. Both are in one number, as sorting numbers is what takes the time here.
	 */
	private static byte[] orders(Member[] members) {
		long[] seeds = Arrays.stream(members).mapToLong(RendezvousPlacement::seed).toArray();
		byte[] orders = new byte[PARTITIONS * members.length];
		long[] row = new long[members.length];
		for (int partition = 0; partition < PARTITIONS; partition++) {
			for (int index = 0; index < members.length; index++) {
				row[index] = weight(seeds[index], partition) << INDEX_BITS | index;
			}
			Arrays.sort(row);
			for (int i = 0; i < row.length; i++) {
				orders[partition * row.length + i] = (byte) (row[i] & INDEX_MASK);
			}
		}
		return orders;
	}

	private static long seed(Member member) {
		return HASHER.hashBytesToLong(member.address().getBytes(StandardCharsets.UTF_8));
	}

	/** As many bits as leave room for an index and no sign. */
	private static long weight(long seed, int partition) {
		return HASHER.hashLongLongToLong(seed, partition) >>> (INDEX_BITS + 1);
	}

}
