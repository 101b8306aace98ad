package io.kvorum.cluster;

import java.util.Arrays;
import java.util.List;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import org.jspecify.annotations.Nullable;

/**
 * The order of the members in each partition.
 * <p>
 * Each member draws a number for the partition, a hash of its identity and the partition,
 * and the lowest comes first. With different rates the numbers are drawn from exponential
 * distributions (Schindelhauer and Schomaker, 2005): twice the rate means half the number
 * on average. With equal rates a member's number depends on no other member.
 * <p>
 * Zones take turns: first the best member of each zone, then the second best of each, and
 * so on. So no zone has two copies more than another that could have one more.
 */
final class PartitionOrder {

	private static final Hasher64 HASHER = Hashing.xxh3_64();

	/** The lowest bits of a number, which hold the index of its member. */
	private static final int INDEX_BITS = Byte.SIZE;

	private static final long INDEX_MASK = (1L << INDEX_BITS) - 1;

	/** The bits of a hash that count: a sign and an index have to fit beside them. */
	private static final int HASH_BITS = Long.SIZE - INDEX_BITS - 1;

	private static final double HASHES = 1L << HASH_BITS;

	/** The identity of each member. */
	private final long[] ids;

	/** The rate of each member; null if all are the same. */
	private final double @Nullable [] rates;

	/** The number of each member's zone. */
	private final int[] zones;

	private final boolean hasZones;

	/**
	 * The order of members at their indexes.
	 * @param rates by index
	 */
	PartitionOrder(List<Member> members, double[] rates) {
		this.ids = members.stream().mapToLong(Member::id).toArray();
		this.rates = Arrays.stream(rates).distinct().count() > 1 ? rates.clone() : null;
		List<String> names = members.stream().map(Member::zone).distinct().toList();
		this.zones = members.stream().mapToInt(member -> names.indexOf(member.zone())).toArray();
		this.hasZones = names.size() > 1;
	}

	/** The number of members. */
	int size() {
		return this.ids.length;
	}

	/** Finds the indexes of the first members of a partition. */
	void first(int partition, int[] first) {
		if (this.hasZones) {
			long[] numbers = new long[size()];
			Arrays.setAll(numbers, index -> number(index, partition));
			Arrays.sort(numbers);
			inTurns(numbers, first);
		}
		else {
			long[] numbers = new long[first.length];
			select(partition, numbers);
			Arrays.setAll(first, place -> (int) (numbers[place] & INDEX_MASK));
		}
	}

	/**
	 * Selects the lowest numbers, in order. Of equal ones the lower index comes first.
	 */
	private void select(int partition, long[] lowest) {
		Arrays.fill(lowest, Long.MAX_VALUE);
		for (int index = 0; index < size(); index++) {
			long number = number(index, partition);
			int place = lowest.length - 1;
			if (number < lowest[place]) {
				for (; place > 0 && number < lowest[place - 1]; place--) {
					lowest[place] = lowest[place - 1];
				}
				lowest[place] = number;
			}
		}
	}

	private long number(int index, int partition) {
		long hash = HASHER.hashLongLongToLong(this.ids[index], partition) >>> (Long.SIZE - HASH_BITS);
		if (this.rates == null) {
			return (hash << INDEX_BITS) | index;
		}
		double drawn = -StrictMath.log1p(-(hash + 0.5) / HASHES) / this.rates[index];
		// Positive numbers are in the order of their bits.
		return (Double.doubleToRawLongBits(drawn) & ~INDEX_MASK) | index;
	}

	/** Takes the lowest number of each zone, then the next one of each, and so on. */
	private void inTurns(long[] numbers, int[] first) {
		int[] taken = new int[size()];
		boolean[] isTaken = new boolean[size()];
		int place = 0;
		for (int turn = 0; place < first.length; turn++) {
			for (long number : numbers) {
				int index = (int) (number & INDEX_MASK);
				int zone = this.zones[index];
				if (place < first.length && !isTaken[index] && taken[zone] == turn) {
					taken[zone]++;
					isTaken[index] = true;
					first[place++] = index;
				}
			}
		}
	}

}
