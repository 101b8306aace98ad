package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The nodes of a cluster, as they were decided: one topology, or the change from one to
 * the next. Layouts have rising numbers in the order in which they were decided. Of two
 * layouts the one with the higher number is in force.
 *
 * @param number 0 for the layout of the configuration, with which a cluster begins
 * @param founding the name of the cluster, which tells it from others: the identity of a
 * disk with which it began; {@link #UNKNOWN} in stores that do not say it
 */
public record Layout(long number, Topology topology, long founding) {

	/** The beginning of the text of a layout. */
	public static final String HEAD = "layout ";

	/** Stands for the name of a cluster whose stores do not say it. */
	public static final long UNKNOWN = 0;

	private static final String FOUNDING = "founding ";

	private static final String FACTOR = "factor ";

	private static final String NODE = "node ";

	private static final String NEXT = "next";

	private static final String NO_ZONE = "~";

	private static final HexFormat HEX = HexFormat.of();

	/** Checks the number. */
	public Layout {
		if (number < 0) {
			throw new IllegalArgumentException("a layout has a number from 0 on, not " + number);
		}
	}

	/** A layout of a cluster whose name is not known. */
	public Layout(long number, Topology topology) {
		this(number, topology, UNKNOWN);
	}

	/** The same with the name of its cluster, if it has none. */
	public Layout named(long name) {
		return (this.founding == UNKNOWN) ? new Layout(this.number, this.topology, name) : this;
	}

	/** Whether both are of one cluster, as far as that is known. */
	public boolean isOfSameCluster(Layout other) {
		return this.founding == other.founding || this.founding == UNKNOWN || other.founding == UNKNOWN;
	}

	/** Whether the cluster changes from one topology to the next. */
	public boolean isMoving() {
		return this.topology.isChanging();
	}

	/** The topology before a change; the only one without a change. */
	public Topology before() {
		return this.topology.parts().getFirst();
	}

	/** The topology after a change; the only one without a change. */
	public Topology after() {
		return this.topology.parts().getLast();
	}

	/**
	 * The layout that changes from this one to a next topology. A cluster without a name
	 * gets one.
	 */
	public Layout movingTo(Topology next, long number) {
		return new Layout(number, Topology.changing(this.topology, next), this.founding)
			.named(this.topology.fingerprint());
	}

	/** The layout that gives up the change of this one. */
	public Layout aborted(long number) {
		return new Layout(number, before(), this.founding);
	}

	/** The layout after the change of this one. */
	public Layout moved(long number) {
		return new Layout(number, after(), this.founding);
	}

	/**
	 * The layout as text, which {@link #parse} reads: <pre>
	 * layout 7
	 * founding 5d1f09c2e1b45a77
	 * factor 3
	 * node 7f3a09c2e1b45d68 1 ~ http://10.0.0.1:9090
	 * next
	 * factor 3
	 * node 7f3a09c2e1b45d68 2 zone-a http://10.0.0.1:9090
	 * </pre> A node has its identity, weight, zone and address.
	 */
	public String toText() {
		StringBuilder text = new StringBuilder(HEAD).append(this.number).append('\n');
		if (this.founding != UNKNOWN) {
			text.append(FOUNDING).append(HEX.toHexDigits(this.founding)).append('\n');
		}
		append(before(), text);
		if (isMoving()) {
			text.append(NEXT).append('\n');
			append(after(), text);
		}
		return text.toString();
	}

	static void append(Topology topology, StringBuilder text) {
		text.append(FACTOR).append(topology.wantedFactor()).append('\n');
		for (Member member : topology.members()) {
			text.append(NODE)
				.append(HEX.toHexDigits(member.id()))
				.append(' ')
				.append(member.weight())
				.append(' ')
				.append(member.zone().isEmpty() ? NO_ZONE : member.zone())
				.append(' ')
				.append(member.address())
				.append('\n');
		}
	}

	/**
	 * The number of the layout in a text that begins as one.
	 * @throws IllegalArgumentException if it has none
	 */
	public static long numberIn(String text) {
		return Long.parseLong(text.lines().findFirst().orElse("").substring(HEAD.length()));
	}

	/**
	 * Reads what {@link #toText} has written.
	 * @throws IllegalArgumentException if it is anything else
	 */
	public static Layout parse(String text) {
		List<String> lines = text.lines().toList();
		if (lines.isEmpty() || !lines.getFirst().startsWith(HEAD)) {
			throw new IllegalArgumentException("a layout begins with its number");
		}
		long number = numberIn(lines.getFirst());
		boolean isNamed = lines.size() > 1 && lines.get(1).startsWith(FOUNDING);
		long founding = isNamed ? HexFormat.fromHexDigitsToLong(lines.get(1).substring(FOUNDING.length())) : UNKNOWN;
		List<String> rest = lines.subList(isNamed ? 2 : 1, lines.size());
		int next = rest.indexOf(NEXT);
		if (next < 0) {
			return new Layout(number, topologyOf(rest), founding);
		}
		return new Layout(number,
				Topology.changing(topologyOf(rest.subList(0, next)), topologyOf(rest.subList(next + 1, rest.size()))),
				founding);
	}

	static Topology topologyOf(List<String> lines) {
		if (lines.isEmpty() || !lines.getFirst().startsWith(FACTOR)) {
			throw new IllegalArgumentException("a topology begins with its factor");
		}
		List<Member> members = new ArrayList<>();
		for (String line : lines.subList(1, lines.size())) {
			members.add(memberOf(line));
		}
		return Topology.ofMembers(members, Integer.parseInt(lines.getFirst().substring(FACTOR.length())));
	}

	private static Member memberOf(String line) {
		String[] words = line.split(" ", -1);
		if (words.length != 5 || !line.startsWith(NODE)) {
			throw new IllegalArgumentException("this is no node of a layout: " + line);
		}
		String zone = words[3].equals(NO_ZONE) ? "" : words[3];
		return new Member(0, HexFormat.fromHexDigitsToLong(words[1]), words[4], zone, Integer.parseInt(words[2]));
	}

}
