package io.kvorum.simulation;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.Step;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.simulation.Habits.Intent;
import io.kvorum.simulation.SimulatedClient.Numbers;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * One history in which an operator changes the nodes of the cluster, several times, while
 * clients work and things go wrong. The nodes take each layout while they serve.
 */
final class ChangeSimulation {

	static final String STUCK = "The change makes no progress";

	/** All nodes that there are. */
	private static final int POOL = 6;

	/** Few, as the placement of each pair takes memory. The first ones begin. */
	private static final List<List<Integer>> TOPOLOGIES = List.of(List.of(0, 1, 2), List.of(0, 1, 2, 3),
			List.of(1, 2, 3), List.of(0), List.of(1, 2, 3, 4), List.of(2, 3, 4), List.of(3, 4, 5),
			List.of(0, 2, 3, 4, 5), List.of(0, 2, 5));

	private static final int COPIES = 3;

	private static final int MOST_COPIES = 5;

	private static final long SECOND = 1_000_000_000;

	/** By which all nodes have started. */
	private static final long START_NANOS = 60_000_000;

	/** By which a change that nothing disturbs any more is done. */
	private static final long LONGEST_CHANGE = 240 * SECOND;

	/** In which things go wrong. */
	private static final long TROUBLE = 25 * SECOND;

	/** By which a history has ended: three changes that take their longest time. */
	private static final long LONGEST_HISTORY = 3_600 * SECOND;

	private static final long POLL_INTERVAL = SECOND / 4;

	/** In which old tombstones are collected and expired entries are removed. */
	private static final long LONG_REST = 40 * SECOND;

	/** In which a node lives on that was removed, in which it is cut off at first. */
	private static final double MOST_LIVING_ON_SECONDS = 100;

	private static final double MOST_CUT_OFF_SECONDS = 60;

	private final long seed;

	private final Chance chance;

	private final Design design;

	private final Scenario scenario;

	private final SimulatedCluster cluster;

	private final Numbers numbers = new Numbers();

	private final Map<Key, KeyHistory> keys = new LinkedHashMap<>();

	private final Mix mix;

	private final RepeatedRequests repeats;

	/** Of disks. */
	private final Chance losses;

	private boolean hasLost;

	/** Whether clients begin nothing more but what looks at the end. */
	private boolean isEnding;

	/** Of nodes that were removed. */
	private final Chance removals;

	/** Whether nodes that were removed live on, and are asked. */
	private final boolean removedLiveOn;

	/** The indexes of the nodes of the present topology. */
	private List<Integer> present;

	/** The indexes of the nodes that were removed, and do not come back. */
	private final Set<Integer> removed = new HashSet<>();

	/** The numbers of the changes that were given up. */
	private final Set<Long> givenUp = new HashSet<>();

	/** The index of a node that died before the change under way; -1 for none. */
	private int dead = -1;

	private int changes;

	/** That of the last layout. */
	private long number;

	/** Whether clients work between the changes only. */
	private final boolean isQuiet;

	/** The layout that was decided last. */
	private Layout newest;

	private ChangeSimulation(long seed, Design design, boolean logged) {
		this.seed = seed;
		this.design = design;
		this.chance = new Chance(seed);
		this.scenario = scenario(this.chance);
		this.changes = 1 + this.chance.below(3);
		this.isQuiet = this.chance.of(0.4);
		this.losses = new Chance(seed * 37);
		this.removals = new Chance(seed * 41);
		this.removedLiveOn = this.removals.of(0.25);
		this.repeats = design.knowsConditions() ? RepeatedRequests.any(new Chance(seed * 31)).afterChanges()
				: RepeatedRequests.NONE;
		this.mix = this.chance.of(0.4) ? Mix.PLAIN : Mix.any(this.chance);
		this.present = TOPOLOGIES.get(this.chance.below(4));
		this.cluster = new SimulatedCluster(this.chance.split(), this.scenario, topologyOf(this.present), design,
				ConvergenceSettings.any(this.chance).halved(), logged);
		this.cluster.limitWrites(this.design.longestWrite(this.chance));
		this.newest = new Layout(0, topologyOf(this.present));
		int expiring = new Chance(~seed).of(0.3) ? 1 : 0;
		for (int i = 0; i < this.scenario.keys(); i++) {
			Key key = Key.of(new byte[] { (byte) i, (byte) this.chance.below(128) });
			this.keys.put(key, new KeyHistory(key, i < expiring, false, this.cluster, this.scenario.uncertainMillis()));
		}
	}

	/** With one copy on one node, five on five nodes, and three on all others. */
	private static Topology topologyOf(List<Integer> nodes) {
		return SimulatedCluster.topologyOf(nodes, (nodes.size() == MOST_COPIES) ? MOST_COPIES : COPIES);
	}

	private static Scenario scenario(Chance chance) {
		boolean calmNetwork = chance.of(0.3);
		return new Scenario(POOL, 3, 1 + chance.below(2), 2 + chance.below(2), 3 + chance.below(3),
				calmNetwork ? 0 : chance.between(0, 0.002), calmNetwork ? 0 : chance.between(0, 0.05),
				calmNetwork ? 0 : chance.between(0, 0.05), chance.of(0.3) ? 400 : 10, 0,
				calmNetwork ? 0 : chance.below(4), chance.below(6), 0, false, 0,
				chance.of(0.5) ? chance.between(0, 0.3) : 0, 0);
	}

	/**
	 * Runs the history of a seed.
	 * @return what is wrong with it, without the log; null where all is well
	 */
	static @Nullable String run(long seed, Design design) {
		return new ChangeSimulation(seed, design, false).run();
	}

	/** Runs the history of a seed again, and tells all of it. */
	static String story(long seed, Design design) {
		ChangeSimulation simulation = new ChangeSimulation(seed, design, true);
		String fault = simulation.run();
		return "Seed %d, %s%n%s%n%s".formatted(seed, simulation.scenario, simulation.cluster.log(),
				(fault != null) ? fault : Simulation.ALL_IS_WELL);
	}

	private @Nullable String run() {
		this.cluster.timeline()
			.after(START_NANOS, () -> await("all vote at the beginning", 60 * SECOND, this::allVote, () -> {
				work();
				later(0.2, 3, this::change);
				this.cluster.nodes().forEach(this::look);
			}));
		this.cluster.timeline().after(LONGEST_HISTORY, () -> {
			this.cluster.fail("the history does not end");
			this.cluster.timeline().end();
		});
		this.cluster.timeline().run();
		return fault();
	}

	private void later(double leastSeconds, double mostSeconds, Runnable task) {
		this.cluster.timeline().after(this.chance.nanos(1_000 * leastSeconds, 1_000 * mostSeconds), task);
	}

	/** A few operations of a few clients, on any node. */
	private void work() {
		for (int i = 0; i < this.scenario.clients(); i++) {
			client("c" + i).work(this.scenario.operations(), keys(), () -> {
			});
		}
	}

	private SimulatedClient client(String name) {
		return client(name, new KeyHistory.Habitual(this.keys, this.mix));
	}

	private SimulatedClient client(String name, KeyHistory.Habitual habits) {
		return new SimulatedClient(name, this.cluster, this.chance.split(), this.repeats, this.numbers, habits,
				new LinkedHashMap<>());
	}

	private List<Key> keys() {
		return List.copyOf(this.keys.keySet());
	}

	/** The next change; settles if there is none. Waits for one that lost its disk. */
	private void change() {
		if (this.hasLost && !allVote()) {
			correctClocks();
			await("a node that lost its disk does not vote ", LONGEST_CHANGE, this::allVote, this::change);
			return;
		}
		if (this.changes-- == 0) {
			settle();
			return;
		}
		List<Integer> next = TOPOLOGIES.get(this.chance.below(TOPOLOGIES.size()));
		for (int i = 0; i < 100 && !mayBe(next); i++) {
			next = TOPOLOGIES.get(this.chance.below(TOPOLOGIES.size()));
		}
		if (!mayBe(next)) {
			settle();
			return;
		}
		mayDie(next);
		this.cluster.trouble(TROUBLE);
		long number = this.number + 1;
		this.number += 2;
		Layout both = new Layout(number, Topology.changing(topologyOf(this.present), topologyOf(next)));
		this.cluster.log().add(() -> "the operator begins " + both);
		decide(both, next);
	}

	/** Has a node look for a newer layout, again and again, and take it. */
	private void look(SimulatedNode node) {
		later(0.1, this.chance.of(0.1) ? 8 : 2, () -> {
			if (node.isUp() && !this.cluster.network().isIsolated(node.index())) {
				node.take(this.newest);
			}
			look(node);
		});
	}

	/** Begins a change that the nodes take while they serve. */
	private void decide(Layout both, List<Integer> after) {
		List<Integer> before = this.present;
		List<SimulatedNode> added = nodesOf(after.stream().filter(node -> !before.contains(node)).toList());
		this.newest = both;
		added.forEach(node -> {
			this.cluster.configure(node, both);
			later(0.01, this.chance.of(0.2) ? 10 : 2, () -> startFor(both, node));
		});
		someWork(this.isQuiet ? 0 : 4);
		if (this.dead < 0 && before.size() >= COPIES && after.size() >= COPIES && this.losses.of(0.3)) {
			this.cluster.timeline().after(this.losses.nanos(10, 20_000), () -> loseDisk(both));
		}
		if (this.dead >= 0 && after.size() >= COPIES && this.losses.of(0.5)) {
			loseDiskOnceCopied(both, after);
		}
		if (this.dead < 0 && this.chance.of(this.design.aborts())) {
			later(0.01, 25, () -> abort(both, added));
			return;
		}
		this.cluster.timeline().after(LONGEST_CHANGE / 2, this::correctClocks);
		await(STUCK, LONGEST_CHANGE, () -> nodesOf(after).stream().anyMatch(ChangeSimulation::isOver), () -> {
			if (this.dead >= 0) {
				// It is within reach again, if it lives, and clients still ask it.
				this.dead = -1;
				double cutOff = this.removedLiveOn ? this.removals.between(0, MOST_CUT_OFF_SECONDS) : 0;
				this.cluster.timeline().after((long) (cutOff * SECOND), this.cluster.network()::heal);
				someWork(4);
			}
			later(0.01, this.chance.of(0.3) ? 10 : 2, () -> finish(both, after));
		});
	}

	/**
	 * Lets a node lose its disk in a change, if all vote. Not the one that founded the
	 * cluster alone: it would listen for the cluster first, which is not simulated.
	 */
	private void loseDisk(Layout both) {
		List<SimulatedNode> members = both.topology().members().stream().map(this.cluster::nodeOf).toList();
		if (!this.newest.equals(both) || !members.stream().allMatch(SimulatedNode::mayVote)) {
			return;
		}
		loseDisk(members.get(this.losses.below(members.size())));
	}

	/**
	 * Lets a node that stays lose its disk while a dead one is being replaced, once all
	 * of the others have what they are to hold.
	 */
	private void loseDiskOnceCopied(Layout both, List<Integer> after) {
		if (!this.newest.equals(both)) {
			return;
		}
		List<SimulatedNode> members = nodesOf(after);
		if (members.stream().allMatch(ChangeSimulation::hasCopied)) {
			loseDisk(members.get(this.losses.below(members.size())));
		}
		else {
			this.cluster.timeline().after(POLL_INTERVAL, () -> loseDiskOnceCopied(both, after));
		}
	}

	private static boolean hasCopied(SimulatedNode node) {
		Convergence convergence = node.convergence();
		return convergence != null && node.isSettled() && node.mayVote() && node.layout().isMoving()
				&& (convergence.change().step() == Step.SYNCED || convergence.change().step() == Step.DONE);
	}

	private void loseDisk(SimulatedNode node) {
		if (this.cluster.layoutOf(node).topology().size() == 1) {
			return;
		}
		this.hasLost = true;
		node.crash();
		node.log("loses its disk");
		node.disk().lose();
		this.cluster.timeline().after(this.losses.nanos(1, 5_000), () -> {
			if (!node.isStarted()) {
				node.start();
			}
		});
	}

	/** Nodes whose clocks are too far apart refuse ballots, which repairs need. */
	private void correctClocks() {
		this.cluster.nodes().forEach(node -> node.time().correct());
	}

	/** Starts a node that is added, unless the change was given up before that. */
	private void startFor(Layout both, SimulatedNode added) {
		if (!this.givenUp.contains(both.number())) {
			added.startAfterAll();
		}
	}

	private void finish(Layout both, List<Integer> after) {
		this.cluster.log().add(() -> "the operator ends " + both);
		List<Integer> leaving = this.present.stream().filter(node -> !after.contains(node)).toList();
		this.newest = both.moved(both.number() + 1);
		this.present = after;
		leave(leaving);
	}

	/** Gives up a change, unless it is over. */
	private void abort(Layout both, List<SimulatedNode> added) {
		this.cluster.log().add(() -> "the operator gives up " + both);
		this.givenUp.add(both.number());
		this.newest = both.aborted(both.number() + 1);
		leave(added.stream().map(SimulatedNode::index).toList());
	}

	/** Stops nodes for good once all others have a layout without them. */
	private void leave(List<Integer> leaving) {
		this.removed.addAll(leaving);
		Layout layout = this.newest;
		someWork(this.isQuiet ? 0 : 2);
		await("a layout is not taken ", LONGEST_CHANGE,
				() -> nodesOf(this.present).stream()
					.allMatch(node -> node.isUp() && node.isSettled() && node.layout().number() == layout.number()),
				() -> {
					if (this.removedLiveOn) {
						nodesOf(leaving).forEach(this::liveOn);
					}
					else {
						nodesOf(leaving).forEach(SimulatedNode::die);
						nodesOf(leaving).stream().filter(_ -> this.chance.of(0.5)).forEach(this::comeBack);
					}
					work();
					later(0.1, 8, this::change);
				});
	}

	/** Has a node that has left go on for a while. */
	private void liveOn(SimulatedNode node) {
		this.cluster.timeline().after((long) (this.removals.between(0, MOST_LIVING_ON_SECONDS) * SECOND), node::die);
		readAnything(node);
	}

	/** Reads that may be stale bring what they find to all that they ask. */
	private void readAnything(SimulatedNode node) {
		Operations operations = node.operations();
		if (operations != null) {
			Key key = keys().get(this.removals.below(keys().size()));
			operations.get(key, new Replicas(1, operations.defaults().from())).subscribe(_ -> {
			}, _ -> {
			});
		}
		this.cluster.timeline().after(this.removals.nanos(500, 10_000), () -> readAnything(node));
	}

	/** Has a node that has left be one that may be added, as an empty one. */
	private void comeBack(SimulatedNode node) {
		node.disk().lose();
		this.removed.remove(node.index());
	}

	private List<SimulatedNode> nodesOf(List<Integer> indexes) {
		return indexes.stream().map(this.cluster.nodes()::get).toList();
	}

	private static boolean isOver(SimulatedNode node) {
		Convergence convergence = node.convergence();
		return convergence != null && node.isSettled() && node.layout().isMoving() && convergence.isOver();
	}

	private boolean mayBe(List<Integer> next) {
		return !next.equals(this.present) && next.stream().noneMatch(this.removed::contains);
	}

	/** At times one that is not in the next topology dies, which is why it is changed. */
	private void mayDie(List<Integer> next) {
		List<Integer> leaving = this.present.stream().filter(node -> !next.contains(node)).toList();
		if (!leaving.isEmpty() && this.present.size() >= COPIES && this.chance.of(0.3)) {
			this.dead = leaving.getFirst();
			if (this.scenario.partitions() > 0 || this.chance.of(0.5)) {
				this.cluster.nodes().get(this.dead).die();
			}
			else {
				// Out of reach of the operator too: it keeps the topology before.
				this.cluster.network().isolate(this.dead);
			}
			work();
		}
	}

	private void someWork(int bursts) {
		if (bursts > 0) {
			later(0.2, 10, () -> {
				if (!this.isEnding) {
					work();
					someWork(bursts - 1);
				}
			});
		}
	}

	private static String describe(SimulatedNode node) {
		Convergence convergence = node.convergence();
		return (convergence == null) ? "down" : "%s %s %s".formatted(convergence.state().withheldBecause(),
				convergence.changeStatus(), node.layout());
	}

	private void await(String what, long nanos, BooleanSupplier condition, Runnable then) {
		await(what, condition, then, this.cluster.timeline().now() + nanos);
	}

	private void await(String what, BooleanSupplier condition, Runnable then, long until) {
		if (condition.getAsBoolean()) {
			then.run();
		}
		else if (this.cluster.timeline().now() < until) {
			this.cluster.timeline().after(POLL_INTERVAL, () -> await(what, condition, then, until));
		}
		else {
			this.cluster.fail(what + this.cluster.nodes().stream().map(ChangeSimulation::describe).toList());
			this.cluster.timeline().end();
		}
	}

	private boolean allVote() {
		return nodesOf(this.present).stream().allMatch(SimulatedNode::mayVote);
	}

	/**
	 * Puts everything right. Then each key is read and written on each node, with repairs
	 * under way or, at times, long after the last one.
	 */
	private void settle() {
		this.isEnding = true;
		this.cluster.settle();
		for (int node : this.present) {
			if (!this.cluster.nodes().get(node).isStarted()) {
				this.cluster.nodes().get(node).start();
			}
		}
		// The last operations have to end: with others at work conditional ones may not.
		long shortRest = this.cluster.longestWrite().toNanos() + this.chance.between(5 * SECOND, 12 * SECOND);
		long rest = this.chance.of(0.2) ? Math.max(LONG_REST, shortRest) : shortRest;
		this.cluster.timeline().after(rest, () -> await("all vote in the end", 60 * SECOND, this::allVote, () -> {
			KeyHistory.Habitual habits = new KeyHistory.Habitual(this.keys, this.mix);
			useEach(client("last", habits), habits, 0);
		}));
	}

	private void useEach(SimulatedClient client, KeyHistory.Habitual habits, int at) {
		if (at == this.present.size() * keys().size()) {
			this.cluster.timeline().end();
			return;
		}
		SimulatedNode node = this.cluster.nodes().get(this.present.get(at / keys().size()));
		Key key = keys().get(at % keys().size());
		Runnable next = () -> useEach(client, habits, at + 1);
		must(client, Intent.to(Kind.GET), key, node, () -> must(client, Intent.to(Kind.PUT), key, node,
				this.design.knowsConditions() ? () -> must(client, habits.exchange(key), key, node, next) : next));
	}

	private void must(SimulatedClient client, Intent intent, Key key, SimulatedNode node, Runnable then) {
		client.send(intent, key, node, Long.MAX_VALUE, outcome -> {
			// Other clients may not be done yet.
			if (outcome != Outcome.DONE && outcome != Outcome.NOT_MET) {
				this.cluster
					.fail("all has been put right, and a %s on n%d ends %s".formatted(intent, node.index(), outcome));
			}
			then.run();
		});
	}

	private @Nullable String fault() {
		this.cluster.noteOpen();
		StringBuilder faults = new StringBuilder();
		if (this.cluster.failure() != null) {
			faults.append(this.cluster.failure()).append('\n');
		}
		this.keys.forEach((key, known) -> {
			known.faults(false).forEach(fault -> faults.append(fault).append('\n'));
			Violation violation = Linearizability.check(known.operations());
			if (violation != null) {
				faults.append("Key k%d, seed %d. %s".formatted(key.bytes()[0], this.seed, violation));
			}
		});
		return faults.isEmpty() ? null : faults.toString();
	}

}
