package io.kvorum.cluster;

import java.util.regex.Pattern;

/**
 * A node in the list of all nodes: its address, and what distinguishes it from others.
 *
 * @param address the address on which it listens for the other nodes
 * @param zone what it shares with nodes that fail together with it; empty if it has none
 * @param weight how much it holds, compared with the other nodes
 */
public record ClusterNode(ReplicaAddress address, String zone, int weight) {

	/** Form of what {@link #parse} accepts behind an address, for messages. */
	public static final String FORM = "must have nothing behind the address but ?zone=<zone>, ?weight=<weight> or ?zone=<zone>&weight=<weight>, where a zone is 1 to 63 letters, digits, dots, hyphens or underscores, and a weight is 1 to "
			+ Member.MAX_WEIGHT;

	private static final String ZONE = "zone=";

	private static final String WEIGHT = "weight=";

	private static final Pattern A_ZONE = Pattern.compile("[A-Za-z0-9._-]{1,63}");

	private static final Pattern A_WEIGHT = Pattern.compile("[1-9][0-9]{0,3}");

	/**
	 * Reads an address that may be followed by attributes, such as
	 * {@code http://host:port?zone=a&weight=2}.
	 * @throws IllegalArgumentException if it is anything else; the message is the form
	 * that was expected
	 */
	public static ClusterNode parse(String text) {
		int end = text.indexOf('?');
		if (end < 0) {
			return new ClusterNode(ReplicaAddress.parse(text), "", 1);
		}
		ClusterNode node = new ClusterNode(ReplicaAddress.parse(text.substring(0, end)), "", 0);
		for (String attribute : text.substring(end + 1).strip().split("&", -1)) {
			node = node.with(attribute);
		}
		return new ClusterNode(node.address, node.zone, Math.max(1, node.weight));
	}

	private ClusterNode with(String attribute) {
		if (attribute.startsWith(ZONE) && this.zone.isEmpty()) {
			String name = attribute.substring(ZONE.length());
			if (A_ZONE.matcher(name).matches()) {
				return new ClusterNode(this.address, name, this.weight);
			}
		}
		if (attribute.startsWith(WEIGHT) && this.weight == 0) {
			String digits = attribute.substring(WEIGHT.length());
			if (A_WEIGHT.matcher(digits).matches() && Integer.parseInt(digits) <= Member.MAX_WEIGHT) {
				return new ClusterNode(this.address, this.zone, Integer.parseInt(digits));
			}
		}
		throw new IllegalArgumentException(FORM);
	}

	/** The text that {@link #parse} reads. */
	public String text() {
		return this.address + (this.zone.isEmpty() ? "?" : "?" + ZONE + this.zone + "&") + WEIGHT + this.weight;
	}

	/** The node as one to be added to a topology. */
	public TopologyEdit.Node toEdit() {
		return new TopologyEdit.Node(this.address.toString(), this.zone, this.weight);
	}

	/** The member of a topology that this node is. */
	public Member toMember() {
		String name = this.address.toString();
		return new Member(0, Member.idOf(name), name, this.zone, this.weight);
	}

}
