package io.kvorum.cluster;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntToLongFunction;

import io.kvorum.kv.Partitions;

/**
 * The partitions that move when one topology replaces another. Only entries with the
 * default number of copies count. A node is the same one in both if it has the same
 * identity.
 *
 * @param shares what each node of either topology gains and gives up, by identity
 */
public record TopologyChange(Map<Long, Share> shares) {

	/** Compares two topologies, partition by partition. */
	public static TopologyChange between(Topology before, Topology after) {
		RendezvousPlacement old = new RendezvousPlacement(before);
		RendezvousPlacement next = new RendezvousPlacement(after);
		Map<Long, Share> shares = new LinkedHashMap<>();
		for (Topology topology : List.of(before, after)) {
			topology.members()
				.forEach(member -> shares.putIfAbsent(member.id(), new Share(new BitSet(), new BitSet())));
		}
		for (int partition = 0; partition < Partitions.COUNT; partition++) {
			List<Member> from = old.replicasOf(partition, before.factor());
			List<Member> to = next.replicasOf(partition, after.factor());
			mark(to, from, partition, shares, true);
			mark(from, to, partition, shares, false);
		}
		return new TopologyChange(shares);
	}

	/** Marks the partition at the nodes that are in the first list only. */
	private static void mark(List<Member> in, List<Member> notIn, int partition, Map<Long, Share> shares,
			boolean isGained) {
		for (Member member : in) {
			if (notIn.stream().noneMatch(other -> other.id() == member.id())) {
				Share share = Objects.requireNonNull(shares.get(member.id()));
				(isGained ? share.gained : share.lost).set(partition);
			}
		}
	}

	/**
	 * What a node gains and gives up.
	 * @throws IllegalArgumentException if it is in neither topology
	 */
	public Share shareOf(long id) {
		Share share = this.shares.get(id);
		if (share == null) {
			throw new IllegalArgumentException("no node has the identity " + id);
		}
		return share;
	}

	/** The copies of partitions that have to be made. */
	public long copies() {
		return this.shares.values().stream().mapToLong(share -> share.gained.cardinality()).sum();
	}

	/**
	 * The partitions of which a node gets a copy, and those of which its copy is no
	 * longer needed.
	 */
	public record Share(BitSet gained, BitSet lost) {

		/**
		 * What the node has to receive.
		 * @param sizes the bytes of each partition
		 */
		public long bytes(IntToLongFunction sizes) {
			return this.gained.stream().mapToLong(sizes).sum();
		}

	}

}
