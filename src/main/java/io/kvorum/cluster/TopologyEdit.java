package io.kvorum.cluster;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * An operator's edit of a topology.
 *
 * @param add nodes to add; of a node that is there already, the zone and weight change
 * @param remove addresses or identities, in hexadecimal digits, of nodes to remove
 * @param factor the replicas of a key by default; null if they stay
 */
public record TopologyEdit(List<Node> add, List<String> remove, @Nullable Integer factor) {

	/**
	 * A node to add.
	 *
	 * @param zone null for that of the node, if it is there already
	 * @param weight null for that of the node, if it is there already
	 */
	public record Node(String address, @Nullable String zone, @Nullable Integer weight) {
	}

	/**
	 * The topology after the edit.
	 * @throws IllegalArgumentException if the edit makes no sense; the message says why
	 */
	public Topology applyTo(Topology before) {
		Map<Long, Member> members = new LinkedHashMap<>();
		before.members().forEach(member -> members.put(member.id(), member));
		for (String name : this.remove) {
			Member removed = before.members()
				.stream()
				.filter(member -> isNamed(member, name))
				.findFirst()
				.orElseThrow(() -> new IllegalArgumentException(
						"%s is none of the nodes, which are %s".formatted(name, addresses(before))));
			members.remove(removed.id());
		}
		Set<String> added = new HashSet<>();
		for (Node asked : this.add) {
			Node node = new Node(addressOf(asked), asked.zone(), asked.weight());
			if (!added.add(node.address())) {
				throw new IllegalArgumentException("%s is to be added twice".formatted(node.address()));
			}
			Member there = before.members()
				.stream()
				.filter(member -> member.address().equals(node.address()))
				.findFirst()
				.orElseGet(() -> new Member(0, node.address()));
			if (!members.containsKey(there.id()) && before.has(there)) {
				throw new IllegalArgumentException("%s is to be added and to be removed".formatted(node.address()));
			}
			members.put(there.id(),
					new Member(0, there.id(), node.address(), (node.zone() != null) ? node.zone() : there.zone(),
							(node.weight() != null) ? node.weight() : there.weight()));
		}
		if (members.isEmpty()) {
			throw new IllegalArgumentException("no node would be left");
		}
		int factor = (this.factor != null) ? this.factor : before.wantedFactor();
		int least = Math.min(factor, (this.factor != null) ? factor : before.factor());
		if (members.size() < least) {
			throw new IllegalArgumentException(
					"%d nodes would be left and each key has %d replicas: stage a factor of %d or less as well"
						.formatted(members.size(), least, members.size()));
		}
		boolean hasZone = members.values().stream().anyMatch(member -> !member.zone().isEmpty());
		if (hasZone && members.values().stream().anyMatch(member -> member.zone().isEmpty())) {
			throw new IllegalArgumentException("either all nodes have a zone, or none: without one is %s".formatted(
					members.values().stream().filter(member -> member.zone().isEmpty()).map(Member::address).toList()));
		}
		Topology after = Topology.ofMembers(members.values(), factor);
		if (after.fingerprint() == before.fingerprint()) {
			throw new IllegalArgumentException("nothing would change");
		}
		return after;
	}

	private static String addressOf(Node node) {
		try {
			return ReplicaAddress.parse(node.address()).toString();
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("The address %s %s".formatted(node.address(), ex.getMessage()), ex);
		}
	}

	private static boolean isNamed(Member member, String name) {
		return Long.toHexString(member.id()).equals(name) || member.address().equals(normal(name));
	}

	/** The normal form of an address; the text itself if it is none. */
	private static String normal(String text) {
		try {
			return ReplicaAddress.parse(text).toString();
		}
		catch (IllegalArgumentException _) {
			return text;
		}
	}

	private static List<String> addresses(Topology topology) {
		return topology.members().stream().map(Member::address).toList();
	}

}
