package io.kvorum.cluster;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.kvorum.kv.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster and how many of them hold a key by default. The order in which
 * they are given does not matter.
 * <p>
 * While a cluster changes from one topology to another it has both: see
 * {@link #changing}.
 */
public final class Topology {

	/** The most members, which is also the most copies that an entry can ask for. */
	public static final int MAX_MEMBERS = 255;

	private static final String ALONE = "self";

	private final List<Member> members;

	private final int factor;

	/** The factor without the cap of the number of members. */
	private final int wantedFactor;

	/** The topologies before and after a change; empty if this is one topology. */
	private final List<Topology> parts;

	private final long fingerprint;

	/**
	 * How strongly each member draws partitions, compared with the others; null until it
	 * is needed. With weights it takes a second for a hundred members, which a topology
	 * that is only read and compared need not wait for.
	 */
	private volatile double @Nullable [] rates;

	private Topology(List<Member> members, int factor, int wantedFactor, List<Topology> parts) {
		this.members = members;
		this.factor = factor;
		this.wantedFactor = wantedFactor;
		this.parts = parts;
		this.fingerprint = parts.isEmpty() ? fingerprintOf(members, factor)
				: fingerprintOfChange(parts.getFirst().fingerprint, parts.getLast().fingerprint);
	}

	/**
	 * The topology of the members with these addresses, alike in all else.
	 * @param factor replicas of a key by default; capped to the number of members
	 * @throws IllegalArgumentException as {@link #ofMembers}
	 */
	public static Topology of(Collection<String> addresses, int factor) {
		return ofMembers(addresses.stream().map(address -> new Member(0, address)).toList(), factor);
	}

	/**
	 * The topology of these members, at new positions.
	 * @param factor replicas of a key by default; capped to the number of members
	 * @throws IllegalArgumentException if there are no members, more than
	 * {@value #MAX_MEMBERS}, two with the same address or identity, or if the factor is
	 * less than 1
	 */
	public static Topology ofMembers(Collection<Member> members, int factor) {
		if (members.isEmpty() || members.size() > MAX_MEMBERS) {
			throw new IllegalArgumentException(
					"a topology has 1 to %d members, this one has %d".formatted(MAX_MEMBERS, members.size()));
		}
		if (factor < 1) {
			throw new IllegalArgumentException("a key has at least 1 replica, not " + factor);
		}
		List<String> addresses = members.stream().map(Member::address).toList();
		if (Set.copyOf(addresses).size() != members.size()) {
			throw new IllegalArgumentException("an address is there twice in " + addresses);
		}
		if (members.stream().map(Member::id).distinct().count() != members.size()) {
			throw new IllegalArgumentException("two members have the same identity, of " + addresses);
		}
		List<Member> sorted = members.stream().sorted(Comparator.comparing(Member::address)).toList();
		List<Member> placed = placed(sorted);
		return new Topology(placed, Math.min(factor, placed.size()), factor, List.of());
	}

	/**
	 * Both topologies of a cluster that changes from one to the other. Its members are
	 * those of both, as they are in the second one if they are in it. An operation needs
	 * enough replicas in each of the two.
	 * <p>
	 * This is the joint consensus of Raft (Ongaro and Ousterhout, 2014) for the replicas
	 * of each key.
	 * @throws IllegalArgumentException if one of them is itself a change, if they are the
	 * same, or if they have more than {@value #MAX_MEMBERS} members in all
	 */
	public static Topology changing(Topology before, Topology after) {
		if (before.isChanging() || after.isChanging()) {
			throw new IllegalArgumentException("a change is from one topology to one other");
		}
		if (before.fingerprint() == after.fingerprint()) {
			throw new IllegalArgumentException("there is nothing to change: both topologies are " + after);
		}
		Map<String, Member> members = new TreeMap<>();
		Stream.of(before, after)
			.flatMap(topology -> topology.members.stream())
			.forEach(member -> members.put(member.address(), member));
		if (members.size() > MAX_MEMBERS) {
			throw new IllegalArgumentException(
					"a topology has 1 to %d members, these two have %d".formatted(MAX_MEMBERS, members.size()));
		}
		return new Topology(placed(members.values()), Math.max(before.factor, after.factor), after.wantedFactor,
				List.of(before, after));
	}

	private static List<Member> placed(Collection<Member> sorted) {
		List<Member> placed = new ArrayList<>(sorted.size());
		sorted.forEach(member -> placed.add(member.at(placed.size())));
		return List.copyOf(placed);
	}

	/** The topology of a node without peers. */
	public static Topology alone() {
		return of(List.of(ALONE), 1);
	}

	/** All members, by address. */
	public List<Member> members() {
		return this.members;
	}

	public int size() {
		return this.members.size();
	}

	/**
	 * Replicas of a key by default; at most {@link #size()}. In a change, the larger
	 * number of the two.
	 */
	public int factor() {
		return this.factor;
	}

	/**
	 * The replicas of a key once there are enough members; that after a change.
	 */
	public int wantedFactor() {
		return this.wantedFactor;
	}

	/**
	 * The number of members without which a majority of the replicas of each key is left:
	 * a minority of the default number.
	 */
	public int tolerance() {
		return parts().stream().mapToInt(part -> (part.factor - 1) / 2).min().orElseThrow();
	}

	/** Whether the cluster changes from one topology to another. */
	public boolean isChanging() {
		return !this.parts.isEmpty();
	}

	/** The topologies before and after a change; this one alone without a change. */
	public List<Topology> parts() {
		return isChanging() ? this.parts : List.of(this);
	}

	/** Whether a node is one of the members. */
	public boolean has(Member member) {
		return current(member) != null;
	}

	/**
	 * The member that is a node of this or another topology, where it may have another
	 * position; null if there is none.
	 */
	public @Nullable Member current(Member other) {
		if (other.index() < size() && this.members.get(other.index()).id() == other.id()) {
			return this.members.get(other.index());
		}
		for (Member member : this.members) {
			if (member.id() == other.id()) {
				return member;
			}
		}
		return null;
	}

	/** Whether a node with this address is one of the members. */
	public boolean has(String address) {
		return this.members.stream().anyMatch(member -> member.address().equals(address));
	}

	/**
	 * How strongly each member draws partitions, by index; it must not be changed. Not
	 * for a change of two topologies.
	 */
	double[] rates() {
		double[] known = this.rates;
		if (known == null) {
			known = Rates.of(this.members, this.factor);
			this.rates = known;
		}
		return known;
	}

	/**
	 * The member with this address.
	 * @throws IllegalArgumentException if there is none
	 */
	public Member member(String address) {
		return this.members.stream()
			.filter(member -> member.address().equals(address))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("%s is none of %s".formatted(address, this.members)));
	}

	/**
	 * The member that a number in a message stands for: its index, or its tag.
	 * @throws IllegalArgumentException if there is none
	 */
	public Member memberOf(int number) {
		for (Member member : this.members) {
			if (number == ((number < 0) ? member.tag() : member.index())) {
				return member;
			}
		}
		throw new IllegalArgumentException("no member has the number " + number);
	}

	/**
	 * A hash over all that nodes must agree on before they work together: equal for nodes
	 * that place every key alike.
	 */
	public long fingerprint() {
		return this.fingerprint;
	}

	private static long fingerprintOf(List<Member> members, int factor) {
		HashStream64 hash = Hashing.xxh3_64()
			.hashStream()
			.putInt(RendezvousPlacement.SCHEME)
			.putInt(Partitions.COUNT)
			.putInt(factor)
			.putInt(members.size());
		members.forEach(member -> hash.putByteArray(member.address().getBytes(StandardCharsets.UTF_8)));
		if (!members.stream().allMatch(Topology::isPlain)) {
			members.forEach(member -> hash.putLong(member.id()).putString(member.zone()).putInt(member.weight()));
		}
		return hash.getAsLong();
	}

	/** The fingerprint of a change, by those of the topologies before and after it. */
	public static long fingerprintOfChange(long before, long after) {
		return Hashing.xxh3_64().hashStream().putLong(before).putLong(after).getAsLong();
	}

	/** Whether all of it follows from its address, as in versions without zones. */
	private static boolean isPlain(Member member) {
		return member.equals(new Member(member.index(), member.address()));
	}

	@Override
	public String toString() {
		if (isChanging()) {
			return "a change from %s to %s".formatted(this.parts.getFirst(), this.parts.getLast());
		}
		return "Topology[%s, factor %d]".formatted(this.members.stream().map(Topology::describe).toList(), this.factor);
	}

	private static String describe(Member member) {
		return isPlain(member) ? member.address()
				: "%s in zone '%s' of weight %d".formatted(member.address(), member.zone(), member.weight());
	}

}
