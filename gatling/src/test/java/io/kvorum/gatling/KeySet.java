package io.kvorum.gatling;

import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/**
 * Keys that are loaded before the users arrive, and feeders that give each user a
 * {@code key} and a {@code generation}.
 */
enum KeySet {

	/** Never written while users read it. */
	READ,
	/** Overwritten by any number of users at the same time. */
	WRITTEN;

	private static final int GENERATIONS = 10;

	/** Keys in the order of their numbers. */
	String key(int number) {
		return "gatling/%s/%08d".formatted(name().toLowerCase(Locale.ROOT), number);
	}

	Iterator<Map<String, Object>> uniform(Settings settings) {
		Random random = new Random(settings.seed());
		return feeder(() -> random.nextInt(settings.keys()), random);
	}

	/** A few keys get most requests. */
	Iterator<Map<String, Object>> zipfian(Settings settings) {
		Zipf zipf = new Zipf(settings.keys(), settings.seed());
		return feeder(zipf::next, new Random(settings.seed()));
	}

	private Iterator<Map<String, Object>> feeder(IntSupplier numbers, Random random) {
		return Stream
			.generate(() -> Map.<String, Object>of("key", key(numbers.getAsInt()), "generation",
					random.nextLong(GENERATIONS)))
			.iterator();
	}

	/** New keys, each used once, which no other run or machine has. */
	static Iterator<Map<String, Object>> fresh(String name) {
		String run = UUID.randomUUID().toString();
		AtomicLong count = new AtomicLong();
		return Stream.generate(() -> "gatling/%s/%s/%d".formatted(name, run, count.getAndIncrement()))
			.map(key -> Map.<String, Object>of("key", key, "generation", 0L))
			.iterator();
	}

}
