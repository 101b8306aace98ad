package io.kvorum.cluster;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
			topology.members().forEach(member -> shares.putIfAbsent(member.id(), Share.NONE));
		}
		for (int partition = 0; partition < Partitions.COUNT; partition++) {
			List<Member> from = old.replicasOf(partition, before.factor());
			List<Member> to = next.replicasOf(partition, after.factor());
			from.forEach(member -> shares.merge(member.id(), has(to, member) ? Share.KEPT : Share.LOST, Share::plus));
			to.stream()
				.filter(member -> !has(from, member))
				.forEach(member -> shares.merge(member.id(), Share.GAINED, Share::plus));
		}
		return new TopologyChange(shares);
	}

	private static boolean has(List<Member> members, Member member) {
		return members.stream().anyMatch(other -> other.id() == member.id());
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
		return this.shares.values().stream().mapToLong(Share::gained).sum();
	}

	/**
	 * Numbers of partitions of a node.
	 *
	 * @param held those of which it has a copy before the change
	 * @param gained those of which it gets a copy
	 * @param lost those of which its copy is no longer needed
	 */
	public record Share(int held, int gained, int lost) {

		private static final Share NONE = new Share(0, 0, 0);

		private static final Share KEPT = new Share(1, 0, 0);

		private static final Share GAINED = new Share(0, 1, 0);

		private static final Share LOST = new Share(1, 0, 1);

		private Share plus(Share other) {
			return new Share(this.held + other.held, this.gained + other.gained, this.lost + other.lost);
		}

	}

}
