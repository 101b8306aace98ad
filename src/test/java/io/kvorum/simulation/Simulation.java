package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.kvorum.kv.Key;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.simulation.Habits.Intent;
import io.kvorum.simulation.SimulatedClient.Numbers;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * One history. First clients work while things go wrong; then everything is put right,
 * and what is asked now has to succeed, on every node; at last it is seen whether one
 * register could have answered all of it.
 */
final class Simulation {

	/** By which all nodes have started. */
	private static final long START_NANOS = 60_000_000;

	/** In which things go wrong; about as long as the clients work. */
	private static final long TROUBLE_NANOS = 150_000_000;

	/**
	 * After which nothing of the trouble is left: no late message, no version ahead. Each
	 * start of a node takes its versions two seconds ahead.
	 */
	private static final long CALMING_NANOS = 40_000_000_000L;

	/** While things go wrong. */
	private static final int RANGES = 3;

	static final String ALL_IS_WELL = "All is well.";

	private final long seed;

	private final Chance chance;

	private final SimulatedCluster cluster;

	private final Numbers numbers = new Numbers();

	private final Map<Key, List<Operation>> histories = new LinkedHashMap<>();

	private final List<SimulatedRange> ranges = new ArrayList<>();

	private final Chance rangeChance;

	private final Mix mix;

	private final RepeatedRequests repeats;

	private int working;

	private Simulation(long seed, Function<Chance, Scenario> scenarios, Design design, boolean logged) {
		this.seed = seed;
		this.chance = new Chance(seed);
		Scenario scenario = scenarios.apply(this.chance);
		this.rangeChance = new Chance(~seed);
		this.mix = design.knowsConditions() ? Mix.any(this.rangeChance) : Mix.PLAIN;
		this.repeats = design.knowsConditions() ? RepeatedRequests.any(new Chance(seed * 31)) : RepeatedRequests.NONE;
		this.cluster = new SimulatedCluster(this.chance.split(), scenario, design, null, logged);
		for (int i = 0; i < scenario.keys(); i++) {
			this.histories.put(Key.of(new byte[] { (byte) i, (byte) this.chance.below(128) }), new ArrayList<>());
		}
	}

	/**
	 * Runs the history of a seed.
	 * @return what is wrong with it, without the log; null where all is well
	 */
	static @Nullable String run(long seed, Function<Chance, Scenario> scenarios, Design design) {
		Simulation simulation = new Simulation(seed, scenarios, design, false);
		return simulation.run();
	}

	/** Runs the history of a seed again, and tells all of it. */
	static String story(long seed, Function<Chance, Scenario> scenarios, Design design) {
		Simulation simulation = new Simulation(seed, scenarios, design, true);
		String fault = simulation.run();
		return "Seed %d, %s%n%s%n%s".formatted(seed, simulation.cluster.scenario(), simulation.cluster.log(),
				(fault != null) ? fault : ALL_IS_WELL);
	}

	private @Nullable String run() {
		Scenario scenario = this.cluster.scenario();
		this.cluster.timeline().after(START_NANOS, () -> {
			this.cluster.trouble(TROUBLE_NANOS);
			this.working = scenario.clients();
			for (int i = 0; i < scenario.clients(); i++) {
				client("c" + i).work(scenario.operations(), keys(), this::stopped);
			}
			ranges(RANGES);
		});
		this.cluster.timeline().run();
		return fault();
	}

	/** One range after the other, of any node, while things go wrong. */
	private void ranges(int number) {
		if (number > 0) {
			this.cluster.timeline().after(this.rangeChance.nanos(1, 100), () -> {
				range(this.cluster.nodes().get(this.rangeChance.below(this.cluster.nodes().size())), false);
				ranges(number - 1);
			});
		}
	}

	private void range(SimulatedNode node, boolean mustSucceed) {
		Operations operations = node.operations();
		if (operations == null) {
			return;
		}
		long beganAt = this.cluster.timeline().now();
		BooleanSupplier life = node.life();
		operations.range(1 + this.rangeChance.below(100)).subscribe(values -> {
			if (life.getAsBoolean()) {
				this.cluster.log().add(() -> "n%d tells a range: %s".formatted(node.index(), values.values()));
				this.ranges.add(new SimulatedRange(values, beganAt, this.cluster.timeline().now()));
			}
		}, error -> {
			this.cluster.log().add(() -> "n%d: a range fails: %s".formatted(node.index(), error.getMessage()));
			if (mustSucceed || !(error instanceof OperationFailedException)) {
				node.fail(error);
			}
		});
	}

	private SimulatedClient client(String name) {
		return client(name, new MixedHabits(this.mix));
	}

	private SimulatedClient client(String name, MixedHabits habits) {
		return new SimulatedClient(name, this.cluster, this.chance.split(), this.repeats, this.numbers, habits,
				this.histories);
	}

	private List<Key> keys() {
		return List.copyOf(this.histories.keySet());
	}

	private void stopped() {
		if (--this.working == 0) {
			this.cluster.settle();
			this.cluster.timeline().after(CALMING_NANOS, () -> {
				MixedHabits habits = new MixedHabits(this.mix);
				SimulatedClient last = client("last", habits);
				for (Key key : keys()) {
					useEach(last, habits, key, 0);
				}
				this.cluster.nodes().forEach(node -> range(node, this.cluster.design().equals(Design.PRODUCT)));
			});
		}
	}

	/** Reads, writes and reads again on one node after the other. */
	private void useEach(SimulatedClient client, MixedHabits habits, Key key, int node) {
		if (node == this.cluster.nodes().size()) {
			return;
		}
		SimulatedNode asked = this.cluster.nodes().get(node);
		Runnable readAgain = () -> must(client, Intent.to(Kind.GET), key, this.cluster.any(),
				() -> useEach(client, habits, key, node + 1));
		must(client, Intent.to(Kind.GET), key, asked,
				() -> must(client, Intent.to(Kind.PUT), key, asked, this.cluster.design().knowsConditions()
						? () -> must(client, habits.exchange(key), key, asked, readAgain) : readAgain));
	}

	private void must(SimulatedClient client, Intent intent, Key key, SimulatedNode node, Runnable then) {
		client.send(intent, key, node, Long.MAX_VALUE, outcome -> {
			if (outcome != Outcome.DONE) {
				this.cluster
					.fail("all has been put right, and a %s on n%d ends %s".formatted(intent, node.index(), outcome));
			}
			then.run();
		});
	}

	private @Nullable String fault() {
		StringBuilder faults = new StringBuilder();
		if (this.cluster.failure() != null) {
			faults.append(this.cluster.failure()).append('\n');
		}
		this.histories.forEach((key, history) -> {
			Violation violation = Linearizability.check(history);
			if (violation != null) {
				faults.append("Key k%d, seed %d. %s".formatted(key.bytes()[0], this.seed, violation));
			}
		});
		this.ranges.forEach(range -> this.histories.forEach((key, history) -> {
			String fault = range.faultOf(key, history);
			if (fault != null) {
				faults.append(fault).append('\n');
			}
		}));
		return faults.isEmpty() ? null : faults.toString();
	}

}
