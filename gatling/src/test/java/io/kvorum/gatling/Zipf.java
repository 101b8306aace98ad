package io.kvorum.gatling;

import java.util.Arrays;
import java.util.Random;

/**
 * Draws from 0 to n - 1 so that the r-th most frequent number is drawn in proportion to 1
 * / r^s: with s = 0.99, as YCSB has it, and 10,000 numbers every tenth draw is the same
 * one. Which numbers are frequent is shuffled, for neighbours in the order of the keys
 * would be read from the same block.
 * <p>
 * It is exact: a uniform draw is looked up in the table of the cumulated frequencies, 12
 * bytes and log2 n steps. For one thread.
 */
final class Zipf {

	private static final double EXPONENT = 0.99;

	private final Random random;

	private final double[] cumulated;

	private final int[] numbers;

	Zipf(int n, long seed) {
		this.random = new Random(seed);
		this.cumulated = cumulate(n);
		this.numbers = shuffle(n, this.random);
	}

	int next() {
		double drawn = this.random.nextDouble() * this.cumulated[this.cumulated.length - 1];
		int found = Arrays.binarySearch(this.cumulated, drawn);
		// An exact hit is the end of a rank's part and the beginning of the next one's.
		return this.numbers[found >= 0 ? found + 1 : -found - 1];
	}

	private static double[] cumulate(int n) {
		double[] cumulated = new double[n];
		double sum = 0;
		for (int rank = 1; rank <= n; rank++) {
			sum += Math.pow(rank, -EXPONENT);
			cumulated[rank - 1] = sum;
		}
		return cumulated;
	}

	private static int[] shuffle(int n, Random random) {
		int[] numbers = new int[n];
		for (int i = 0; i < n; i++) {
			int j = random.nextInt(i + 1);
			numbers[i] = numbers[j];
			numbers[j] = i;
		}
		return numbers;
	}

}
