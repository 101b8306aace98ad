package io.kvorum.client.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.kvorum.client.BlockingEntities;
import io.kvorum.client.Codec;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.ReadOptions;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Threads that read and write a few keys by one client, and note what they are told. Each
 * write has a value of its own.
 */
final class Workers {

	private static final int KEYS = 4;

	/** Of keys that nobody has used before. */
	private final String prefix = UUID.randomUUID() + "/";

	private final BlockingEntities<String> texts;

	private final UnaryOperator<WriteOptions> writes;

	private final List<Thread> threads = new ArrayList<>();

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final AtomicInteger values = new AtomicInteger();

	private final ConcurrentMap<Version, Integer> written = new ConcurrentHashMap<>();

	private final ConcurrentMap<String, ConcurrentLinkedQueue<Operation>> histories = new ConcurrentHashMap<>();

	private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();

	private final AtomicInteger unknown = new AtomicInteger();

	private final AtomicInteger notApplied = new AtomicInteger();

	private final long begun = System.nanoTime();

	/**
	 * Starts threads.
	 * @param writes how all of them write, beside conditions
	 */
	Workers(KvorumClient client, int threads, UnaryOperator<WriteOptions> writes) {
		this.texts = client.entities(Codec.text()).blocking();
		this.writes = writes;
		for (int i = 0; i < threads; i++) {
			String name = "c" + i;
			Random random = new Random(ThreadLocalRandom.current().nextLong());
			this.threads.add(Thread.ofVirtual().start(() -> work(name, random)));
		}
	}

	private void work(String name, Random random) {
		try {
			// Slowly, so that histories stay short.
			while (!this.stopped.await(random.nextInt(10), TimeUnit.MILLISECONDS)) {
				step(name, this.prefix + random.nextInt(KEYS), random);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException | Error ex) {
			this.errors.add(ex);
		}
	}

	private void step(String name, String key, Random random) {
		int dice = random.nextInt(100);
		if (dice < 45) {
			ReadOptions options = (dice < 10) ? ReadOptions.DEFAULTS.hedgeAfter(Duration.ofMillis(5))
					: ReadOptions.DEFAULTS;
			run(name, Kind.GET, key, Operation.ABSENT, null, () -> found(this.texts.get(key, options)));
			return;
		}
		WriteOptions options = this.writes.apply(WriteOptions.DEFAULTS);
		if (dice < 50) {
			run(name, Kind.DELETE, key, Operation.ABSENT, null, () -> {
				this.texts.delete(key, options);
				return Operation.ABSENT;
			});
			return;
		}
		int value = this.values.incrementAndGet();
		Condition condition = null;
		WriteOptions conditional = options;
		if (dice < 70) {
			Entity<String> before = read(key);
			conditional = (before != null) ? options.ifVersion(before.version()) : options.ifAbsent();
			condition = (before != null) ? Condition.holds(number(before)) : Condition.ABSENT;
		}
		WriteOptions chosen = conditional;
		run(name, Kind.PUT, key, value, condition, () -> {
			this.written.put(this.texts.put(key, String.valueOf(value), chosen), value);
			return value;
		});
	}

	/** The value, by a read that is no part of the history; null if there is none. */
	private @Nullable Entity<String> read(String key) {
		try {
			return this.texts.get(key).orElse(null);
		}
		catch (KvorumException ex) {
			return null;
		}
	}

	private static int found(Optional<Entity<String>> entity) {
		return entity.map(Workers::number).orElse(Operation.ABSENT);
	}

	private static int number(Entity<String> entity) {
		return Integer.parseInt(entity.value());
	}

	/** A request and what it found. */
	@FunctionalInterface
	private interface Call {

		int run();

	}

	private void run(String name, Kind kind, String key, int value, @Nullable Condition condition, Call call) {
		long invoked = System.nanoTime() - this.begun;
		try {
			int found = call.run();
			note(key, new Operation(name, kind, found, Outcome.DONE, invoked, System.nanoTime() - this.begun)
				.provided(condition));
		}
		catch (KvorumException ex) {
			Operation failed = new Operation(name, kind, value, Outcome.UNKNOWN, invoked,
					System.nanoTime() - this.begun)
				.provided(condition);
			boolean isUnknown = ex.outcome() == io.kvorum.client.Outcome.UNKNOWN;
			(isUnknown ? this.unknown : this.notApplied).incrementAndGet();
			if (kind != Kind.GET) {
				note(key, isUnknown ? failed : (ex instanceof ConditionNotMet unmet) ? unmet(failed, unmet)
						: failed.ending(Outcome.NOT_APPLIED));
			}
		}
	}

	private Operation unmet(Operation failed, ConditionNotMet unmet) {
		Version current = unmet.current();
		Integer value = (current != null) ? this.written.get(current) : Integer.valueOf(Operation.ABSENT);
		// The value of a write whose version nobody was told: it says no more than that.
		return (value != null) ? failed.unmet(value) : failed.ending(Outcome.NOT_APPLIED);
	}

	private void note(String key, Operation operation) {
		this.histories.computeIfAbsent(key, any -> new ConcurrentLinkedQueue<>()).add(operation);
	}

	/** Stops all threads, and reads each key once more. */
	void stop() throws InterruptedException {
		this.stopped.countDown();
		for (Thread thread : this.threads) {
			thread.join();
		}
		for (String key : this.histories.keySet()) {
			run("last", Kind.GET, key, Operation.ABSENT, null, () -> found(this.texts.get(key)));
		}
	}

	/** What is wrong with the histories so far; empty if nothing is. */
	List<Violation> violations() {
		return this.histories.values()
			.stream()
			.map(history -> Linearizability.check(List.copyOf(history)))
			.filter(Objects::nonNull)
			.toList();
	}

	List<Throwable> errors() {
		return List.copyOf(this.errors);
	}

	int unknown() {
		return this.unknown.get();
	}

	@Override
	public String toString() {
		Map<Outcome, Long> outcomes = this.histories.values()
			.stream()
			.flatMap(ConcurrentLinkedQueue::stream)
			.collect(Collectors.groupingBy(Operation::outcome, TreeMap::new, Collectors.counting()));
		return "%s; failed: %s not applied, %s unknown".formatted(outcomes, this.notApplied, this.unknown);
	}

}
