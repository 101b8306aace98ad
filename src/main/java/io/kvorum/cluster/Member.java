package io.kvorum.cluster;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

import com.dynatrace.hash4j.hashing.Hashing;

/**
 * A node of a topology.
 *
 * @param index its position among the members of the topology; meaningless outside of it
 * @param id identifies it in any topology, also after its address has changed
 * @param address {@code http://host:port}, by which the other nodes reach it
 * @param zone what it shares with nodes that fail together with it, such as a rack. The
 * copies of a key are spread over zones. Empty if it has none
 * @param weight how much it holds, compared with the other members: 1 to
 * {@value #MAX_WEIGHT}
 */
public record Member(int index, long id, String address, String zone, int weight) {

	/** The largest weight. */
	public static final int MAX_WEIGHT = 1000;

	private static final Pattern A_ZONE = Pattern.compile("[A-Za-z0-9._-]{0,63}");

	/**
	 * Checks the parts of a member.
	 * @throws IllegalArgumentException if the zone or the weight is none
	 */
	public Member {
		if (!A_ZONE.matcher(zone).matches()) {
			throw new IllegalArgumentException(
					"the zone of %s must be 1 to 63 letters, digits, dots, hyphens or underscores".formatted(address));
		}
		if (weight < 1 || weight > MAX_WEIGHT) {
			throw new IllegalArgumentException(
					"%s has a weight of %d; a weight is 1 to %d".formatted(address, weight, MAX_WEIGHT));
		}
	}

	/** A member without a zone, of weight 1, whose identity is that of its address. */
	public Member(int index, String address) {
		this(index, idOf(address), address, "", 1);
	}

	/** The identity of a node that joins with this address. */
	public static long idOf(String address) {
		return Hashing.xxh3_64().hashBytesToLong(address.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * A negative number that stands for this member in messages between nodes with
	 * different topologies, where its index means another one.
	 */
	public int tag() {
		return (int) this.id | Integer.MIN_VALUE;
	}

	/** This member at another position. */
	Member at(int index) {
		return new Member(index, this.id, this.address, this.zone, this.weight);
	}

}
