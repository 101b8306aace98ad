package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.simulation.SimulatedClient.Numbers;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * One history of minutes, in which tombstones are collected, hints grow old and disks are
 * lost. Clients work now and then; at last everything is put right, and after a while all
 * replicas have to be equal, every node votes, and all that was deleted gone, from disks
 * too.
 */
final class LongSimulation {

	static final String NOT_EQUAL = "Not equal";

	static final String NOT_COLLECTED = "Not collected";

	private static final long SECOND = 1_000_000_000;

	private static final long LONGEST_PHASE = 120 * SECOND;

	/** After which all must be equal. */
	private static final long CONVERGING = 70 * SECOND;

	/** After which a tombstone must be gone. */
	private static final long COLLECTING = ConvergenceSettings.GRACE.toNanos() + 35 * SECOND;

	private static final long LOOK_INTERVAL = SECOND / 20;

	private static final long POLL_INTERVAL = SECOND / 2;

	private static final long MOST_WAIT = 20 * SECOND;

	/** Of clients, each of whose operations may last until its deadline. */
	private static final long LONGEST_WORK = 40 * SECOND;

	private final long seed;

	private final Chance chance;

	private final LongScenario scenario;

	private final SimulatedCluster cluster;

	private final LongTrouble trouble;

	private final Numbers numbers = new Numbers();

	private final Map<Key, KeyHistory> keys = new LinkedHashMap<>();

	private final RepeatedRequests repeats;

	private final KeyHistory.Habitual habits;

	private final List<String> faults = new ArrayList<>();

	private int working;

	private int restores;

	private LongSimulation(long seed, Function<Chance, LongScenario> scenarios, Design design, boolean logged) {
		this.seed = seed;
		this.chance = new Chance(seed);
		this.scenario = scenarios.apply(this.chance);
		this.cluster = new SimulatedCluster(this.chance.split(), this.scenario.cluster(), design,
				ConvergenceSettings.any(this.chance), logged);
		this.trouble = new LongTrouble(this.cluster, this.scenario, this.chance.split(), this::work, this::rewind);
		for (int i = 0; i < this.scenario.cluster().keys(); i++) {
			Key key = Key.of(new byte[] { (byte) i, (byte) this.chance.below(128) });
			boolean expires = i < this.scenario.expiring();
			boolean eventual = !expires && i < this.scenario.expiring() + this.scenario.eventual();
			this.keys.put(key,
					new KeyHistory(key, expires, eventual, this.cluster, this.scenario.cluster().uncertainMillis()));
		}
		// Backups of different moments have the promises of those moments.
		boolean keepsPromises = !this.scenario.restoresAll();
		this.repeats = keepsPromises ? RepeatedRequests.any(new Chance(seed * 31)).onlyOpen() : RepeatedRequests.NONE;
		this.habits = new KeyHistory.Habitual(this.keys, keepsPromises ? Mix.any(new Chance(~seed)) : Mix.PLAIN);
	}

	/**
	 * Runs the history of a seed.
	 * @return what is wrong with it, without the log; null where all is well
	 */
	static @Nullable String run(long seed, Function<Chance, LongScenario> scenarios, Design design) {
		return new LongSimulation(seed, scenarios, design, false).run();
	}

	/** Runs the history of a seed again, and tells all of it. */
	static String story(long seed, Function<Chance, LongScenario> scenarios, Design design) {
		LongSimulation simulation = new LongSimulation(seed, scenarios, design, true);
		String fault = simulation.run();
		return "Seed %d, %s%n%s%n%s".formatted(seed, simulation.scenario, simulation.cluster.log(),
				(fault != null) ? fault : Simulation.ALL_IS_WELL);
	}

	private @Nullable String run() {
		await("all vote at the beginning", this::mayAllVote, () -> phase(this.scenario.phases()));
		this.cluster.timeline().run();
		return fault();
	}

	private void phase(int left) {
		if (left == 0) {
			settle();
			return;
		}
		long nanos = this.chance.between(SECOND, LONGEST_PHASE);
		this.trouble.begin(nanos);
		int bursts = 1 + this.chance.below(2);
		for (int i = 0; i < bursts; i++) {
			this.cluster.timeline().after(this.chance.between(0, nanos), this::work);
		}
		this.cluster.timeline()
			.after(nanos, () -> await("clients are done", () -> this.working == 0, () -> phase(left - 1),
					this.cluster.timeline().now() + LONGEST_WORK));
	}

	/** Some operations in a short time, on some keys: others are left alone for long. */
	private void work() {
		Scenario usual = this.cluster.scenario();
		List<Key> some = new ArrayList<>(this.keys.keySet());
		while (some.size() > 1 && this.chance.of(0.6)) {
			some.remove(this.chance.below(some.size()));
		}
		this.working += usual.clients();
		for (int i = 0; i < usual.clients(); i++) {
			client("c" + i).work(usual.operations(), some, () -> this.working--);
		}
	}

	/**
	 * All nodes were restored from backups of this instant and later: what clients were
	 * told since may be so or not.
	 */
	private void rewind(long since) {
		this.keys.values().forEach(known -> known.rewind(since));
		this.restores++;
	}

	private SimulatedClient client(String name) {
		return new SimulatedClient(name, this.cluster, this.chance.split(), this.repeats, this.numbers, this.habits,
				new LinkedHashMap<>());
	}

	/** Puts everything right; works once more, on what may have come back. */
	private void settle() {
		this.trouble.end();
		this.cluster.settle();
		this.cluster.nodes().stream().filter(node -> !node.isStarted()).forEach(SimulatedNode::start);
		if (this.chance.of(0.7)) {
			this.habits.onlyRead();
		}
		for (int i = this.chance.below(3); i > 0; i--) {
			this.cluster.timeline().after(this.chance.nanos(1, 20_000), this::work);
		}
		this.cluster.timeline().after(20 * SECOND + CONVERGING, this::check);
	}

	private void check() {
		this.cluster.log().add(() -> "all must be equal now");
		checkEqual();
		await("all vote", this::mayAllVote, () -> await("all are converged", this::areAllConverged, () -> {
			SimulatedClient last = client("last");
			onEachKey(last, Kind.GET, () -> onEachKey(last, Kind.PUT, () -> onEachKey(last, Kind.GET,
					() -> onEachKey(last, Kind.DELETE, () -> onEachKey(last, Kind.GET, this::checkCollected)))));
		}));
	}

	private void checkCollected() {
		poll(client("poller"), this.cluster.timeline().now() + COLLECTING);
		this.cluster.timeline().after(COLLECTING, () -> {
			for (SimulatedNode node : this.cluster.nodes()) {
				DiskContent content = node.disk().content();
				content.entries.forEach((key, entry) -> {
					// Records of requests are kept for longer than a history.
					if (!InternalKeys.isRequest(key)) {
						fault("%s: n%d has k%d %s".formatted(NOT_COLLECTED, node.index(), key.bytes()[0],
								Values.text(entry)));
					}
				});
				if (content.hints.values().stream().anyMatch(hints -> !hints.isEmpty())) {
					fault("hints wait on n%d for nobody".formatted(node.index()));
				}
			}
			onEachKey(client("final"), Kind.GET, this.cluster.timeline()::end);
		});
	}

	/** Goes on asking for what is deleted, which has to go from disks all the same. */
	private void poll(SimulatedClient client, long until) {
		if (this.cluster.timeline().now() < until) {
			SimulatedNode node = this.cluster.nodes().get(this.chance.below(this.cluster.nodes().size()));
			this.keys.keySet().forEach(key -> client.send(Habits.Intent.to(Kind.GET), key, node, Long.MAX_VALUE, _ -> {
			}));
			this.cluster.timeline().after(POLL_INTERVAL, () -> poll(client, until));
		}
	}

	private boolean mayAllVote() {
		return this.cluster.nodes().stream().allMatch(SimulatedNode::mayVote);
	}

	private boolean areAllConverged() {
		return this.cluster.nodes()
			.stream()
			.map(SimulatedNode::convergence)
			.allMatch(convergence -> convergence != null && convergence.isConverged());
	}

	private void await(String what, BooleanSupplier condition, Runnable then) {
		await(what, condition, then, this.cluster.timeline().now() + MOST_WAIT);
	}

	private void await(String what, BooleanSupplier condition, Runnable then, long until) {
		if (condition.getAsBoolean()) {
			then.run();
		}
		else if (this.cluster.timeline().now() < until) {
			this.cluster.timeline().after(LOOK_INTERVAL, () -> await(what, condition, then, until));
		}
		else {
			fault("it is long since this should be so: " + what);
			this.cluster.timeline().end();
		}
	}

	/** On one key after the other, each by a node of its own choice. */
	private void onEachKey(SimulatedClient client, Kind kind, Runnable then) {
		onEachKey(client, kind, List.copyOf(this.keys.keySet()), 0, then);
	}

	private void onEachKey(SimulatedClient client, Kind kind, List<Key> keys, int at, Runnable then) {
		if (at == keys.size() * this.cluster.nodes().size()) {
			then.run();
			return;
		}
		SimulatedNode node = this.cluster.nodes().get(at / keys.size());
		client.send(Habits.Intent.to(kind), keys.get(at % keys.size()), node, Long.MAX_VALUE, outcome -> {
			if (outcome != Outcome.DONE) {
				fault("all has been put right, and a %s on n%d ends %s".formatted(kind, node.index(), outcome));
			}
			onEachKey(client, kind, keys, at + 1, then);
		});
	}

	/** Those that are to hold a key hold the same of it, and nobody else holds it. */
	private void checkEqual() {
		this.keys.forEach((key, known) -> {
			List<SimulatedNode> order = this.cluster.placement()
				.replicasOf(key, this.cluster.nodes().size())
				.stream()
				.map(member -> this.cluster.nodes().get(member.index()))
				.toList();
			Entry newest = null;
			for (SimulatedNode node : order) {
				Entry held = heldBy(node, key);
				newest = (held != null && (newest == null || held.version().isNewerThan(newest.version()))) ? held
						: newest;
			}
			if (!this.scenario.losesDisks() && this.restores == 0) {
				String lost = known.lost((newest != null) ? newest.version() : null);
				if (lost != null) {
					fault(lost);
				}
			}
			for (int rank = 0; rank < order.size(); rank++) {
				Entry expected = (newest != null && rank < this.cluster.placement().copiesOf(newest.copies())) ? newest
						: null;
				Entry held = heldBy(order.get(rank), key);
				if ((expected == null) ? held != null : !expected.equals(held)) {
					fault((NOT_EQUAL + ": n%d, at place %d of k%d, has %s where there is %s")
						.formatted(order.get(rank).index(), rank, key.bytes()[0], text(held), text(expected)));
				}
			}
		});
	}

	private static String text(@Nullable Entry entry) {
		return (entry != null) ? Values.text(entry) + " of " + entry.copies() : "nothing";
	}

	/**
	 * What a node holds that matters: a value that has expired is a tombstone, and a
	 * tombstone that may be collected is nothing.
	 */
	private @Nullable Entry heldBy(SimulatedNode node, Key key) {
		Entry entry = node.disk().content().entries.get(key);
		long now = node.time().millis();
		Entry meant = (entry instanceof Live live && !live.isVisibleAt(now))
				? new Entry.Tombstone(live.version(), live.copies()) : entry;
		return (meant instanceof Entry.Tombstone
				&& meant.version().millis() < now - ConvergenceSettings.GRACE.toMillis()) ? null : meant;
	}

	private void fault(String what) {
		this.cluster.log().add(() -> "FAULT: " + what);
		this.faults.add(what);
	}

	private @Nullable String fault() {
		if (this.cluster.failure() != null) {
			this.faults.add(this.cluster.failure());
		}
		this.keys.forEach((key, known) -> {
			known.faults(this.scenario.losesDisks() || this.restores > 0).forEach(this.faults::add);
			if (known.isLinearizable()) {
				Violation violation = Linearizability.check(known.operations());
				if (violation != null) {
					this.faults.add("Key k%d, seed %d. %s".formatted(key.bytes()[0], this.seed, violation));
				}
			}
		});
		return this.faults.isEmpty() ? null : String.join("\n", this.faults);
	}

}
