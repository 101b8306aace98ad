package io.kvorum.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;

import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.kvorum.kv.Partitions;

/**
 * The members of a cluster and how many of them hold a key by default. The order in which
 * the addresses are given does not matter.
 */
public final class Topology {

	/** The most members, which is also the most copies that an entry can ask for. */
	public static final int MAX_MEMBERS = 255;

	private static final String ALONE = "self";

	private final List<Member> members;

	private final int factor;

	private Topology(List<Member> members, int factor) {
		this.members = members;
		this.factor = factor;
	}

	/**
	 * The topology of the members with these addresses.
	 * @param factor replicas of a key by default; capped to the number of members
	 * @throws IllegalArgumentException if there are no addresses, more than
	 * {@value #MAX_MEMBERS}, or one of them twice, or if the factor is less than 1
	 */
	public static Topology of(Collection<String> addresses, int factor) {
		if (addresses.isEmpty() || addresses.size() > MAX_MEMBERS) {
			throw new IllegalArgumentException(
					"a topology has 1 to %d members, this one has %d".formatted(MAX_MEMBERS, addresses.size()));
		}
		if (factor < 1) {
			throw new IllegalArgumentException("a key has at least 1 replica, not " + factor);
		}
		List<String> sorted = List.copyOf(new TreeSet<>(addresses));
		if (sorted.size() != addresses.size()) {
			throw new IllegalArgumentException("an address is there twice in " + addresses);
		}
		List<Member> members = IntStream.range(0, sorted.size())
			.mapToObj(index -> new Member(index, sorted.get(index)))
			.toList();
		return new Topology(members, Math.min(factor, members.size()));
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

	/** Replicas of a key by default; at most {@link #size()}. */
	public int factor() {
		return this.factor;
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
	 * A hash over all that nodes must agree on before they work together: equal for nodes
	 * that place every key alike.
	 */
	public long fingerprint() {
		HashStream64 hash = Hashing.xxh3_64()
			.hashStream()
			.putInt(RendezvousPlacement.SCHEME)
			.putInt(Partitions.COUNT)
			.putInt(this.factor)
			.putInt(this.members.size());
		this.members.forEach(member -> hash.putByteArray(member.address().getBytes(StandardCharsets.UTF_8)));
		return hash.getAsLong();
	}

	@Override
	public String toString() {
		return "Topology[%s, factor %d]".formatted(this.members.stream().map(Member::address).toList(), this.factor);
	}

}
