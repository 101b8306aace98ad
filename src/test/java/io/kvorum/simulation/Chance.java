package io.kvorum.simulation;

import java.util.SplittableRandom;

/** The dice of a history. */
final class Chance {

	private final SplittableRandom random;

	Chance(long seed) {
		this.random = new SplittableRandom(seed);
	}

	boolean of(double probability) {
		return probability > 0 && this.random.nextDouble() < probability;
	}

	int below(int bound) {
		return this.random.nextInt(bound);
	}

	long between(long least, long most) {
		return this.random.nextLong(least, most + 1);
	}

	double between(double least, double most) {
		return least + this.random.nextDouble() * (most - least);
	}

	/** Between two durations, small ones as likely as large ones. */
	long nanos(double leastMillis, double mostMillis) {
		return (long) (1e6 * leastMillis * Math.pow(mostMillis / leastMillis, this.random.nextDouble()));
	}

	/** Another sequence, so that what is drawn there changes nothing here. */
	Chance split() {
		return new Chance(this.random.nextLong());
	}

}
