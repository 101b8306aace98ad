package io.kvorum.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.kv.Partitions;

/**
 * Finds the rates by which members draw partitions, so that each holds copies in
 * proportion to its weight.
 * <p>
 * Rates that are the weights would do this for one copy only. With further ones the heavy
 * members would fall short, since a member holds one copy of a partition at most. So the
 * rates are corrected by what members hold with them, until that is near enough. Every
 * node finds the same ones.
 */
final class Rates {

	/**
	 * The deviation from its share at which a member is near enough. Chance alone makes
	 * half of it, and rates that follow chance would move partitions with each change.
	 */
	private static final double TOLERANCE = 0.03;

	/**
	 * The most corrections. More are of use only for a zone that should have a copy of
	 * nearly all partitions.
	 */
	private static final int MAX_CORRECTIONS = 8;

	/**
	 * The largest part that a rate is found for: to hold all would need an infinite one.
	 */
	private static final double ALMOST_ALL = 0.999;

	private Rates() {
	}

	/**
	 * The rate of each member; equal ones if their weights are equal.
	 * @param members at their indexes
	 * @param copies of each partition
	 */
	static double[] of(List<Member> members, int copies) {
		double[] rates = new double[members.size()];
		Arrays.fill(rates, 1);
		double[] weights = members.stream().mapToDouble(Member::weight).toArray();
		if (Arrays.stream(weights).distinct().count() == 1) {
			return rates;
		}
		List<String> zones = members.stream().map(Member::zone).distinct().toList();
		List<int[]> inZones = zones.stream()
			.map(zone -> members.stream()
				.filter(member -> member.zone().equals(zone))
				.mapToInt(Member::index)
				.toArray())
			.toList();
		double[] first = share(weights, copies);
		Arrays.setAll(rates, index -> rateOf(first[index]));
		for (int i = 0; i < MAX_CORRECTIONS; i++) {
			double[] held = held(new PartitionOrder(members, rates), copies);
			double[] wanted = wanted(inZones, weights, held, copies);
			if (IntStream.range(0, rates.length)
				.allMatch(index -> Math.abs(held[index] - wanted[index]) <= TOLERANCE * wanted[index])) {
				break;
			}
			for (int index = 0; index < rates.length; index++) {
				rates[index] *= rateOf(wanted[index]) / rateOf(held[index]);
			}
		}
		return rates;
	}

	/**
	 * The part of the partitions that each member holds a copy of: at least one, as a
	 * rate cannot be found from none.
	 */
	private static double[] held(PartitionOrder order, int copies) {
		int[] held = IntStream.range(0, Partitions.COUNT)
			.parallel()
			.collect(() -> new int[order.size()], (counts, partition) -> {
				int[] first = new int[copies];
				order.first(partition, first);
				for (int index : first) {
					counts[index]++;
				}
			}, (counts, others) -> Arrays.setAll(counts, index -> counts[index] + others[index]));
		return Arrays.stream(held).mapToDouble(count -> Math.max(1.0, count) / Partitions.COUNT).toArray();
	}

	/**
	 * The part of the partitions that each member should hold. If all zones have copies
	 * of every partition, weights decide within a zone only.
	 */
	private static double[] wanted(List<int[]> zones, double[] weights, double[] held, int copies) {
		double[] ofZones = (zones.size() <= copies) ? sums(zones, held) : share(sums(zones, weights), copies);
		double[] wanted = new double[weights.length];
		for (int zone = 0; zone < ofZones.length; zone++) {
			int[] members = zones.get(zone);
			double[] shares = share(Arrays.stream(members).mapToDouble(index -> weights[index]).toArray(),
					ofZones[zone]);
			for (int i = 0; i < members.length; i++) {
				wanted[members[i]] = shares[i];
			}
		}
		return wanted;
	}

	private static double[] sums(List<int[]> zones, double[] ofMembers) {
		return zones.stream()
			.mapToDouble(zone -> Arrays.stream(zone).mapToDouble(index -> ofMembers[index]).sum())
			.toArray();
	}

	/**
	 * Shares copies by weight. A member that would get more than one of a partition gets
	 * one, and the others share the rest.
	 */
	private static double[] share(double[] weights, double copies) {
		double[] shares = new double[weights.length];
		double left = copies;
		double total = Arrays.stream(weights).sum();
		int[] heaviestFirst = IntStream.range(0, weights.length)
			.boxed()
			.sorted((one, other) -> Double.compare(weights[other], weights[one]))
			.mapToInt(Integer::intValue)
			.toArray();
		for (int index : heaviestFirst) {
			shares[index] = Math.min(1, left * weights[index] / total);
			left -= shares[index];
			total -= weights[index];
		}
		return shares;
	}

	/**
	 * The rate with which a member among many holds this part: the time until it draws a
	 * partition is distributed exponentially.
	 */
	private static double rateOf(double part) {
		return -StrictMath.log1p(-Math.min(part, ALMOST_ALL));
	}

}
