package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Replica;
import org.jspecify.annotations.Nullable;

/** Nodes and what goes wrong with them. */
final class SimulatedCluster {

	private static final int MAX_NODES = 5;

	/** By the number of nodes, as all that follow. */
	private static final List<Topology> TOPOLOGIES = IntStream.rangeClosed(1, MAX_NODES)
		.mapToObj(size -> Topology.of(IntStream.range(0, size).mapToObj(i -> "http://n" + i).toList(), 3))
		.toList();

	private static final List<RendezvousPlacement> PLACEMENTS = TOPOLOGIES.stream()
		.map(RendezvousPlacement::new)
		.toList();

	static final String NOT_THE_SAME = "Two entries of one version are not the same";

	private final Timeline timeline = new Timeline();

	private final Chance chance;

	private final Scenario scenario;

	private final Design design;

	private final @Nullable ConvergenceSettings convergence;

	private final EventLog log;

	private final SimulatedNetwork network;

	private final List<SimulatedNode> nodes;

	/** What a disk has had, by the number that is its value. */
	private final Map<Integer, Live> seen = new HashMap<>();

	private boolean settled;

	private @Nullable String failure;

	/**
	 * A cluster that has started.
	 * @param convergence null where replicas are made equal by reads and writes only
	 */
	SimulatedCluster(Chance chance, Scenario scenario, Design design, @Nullable ConvergenceSettings convergence,
			boolean logged) {
		this.chance = chance;
		this.scenario = scenario;
		this.design = design;
		this.convergence = convergence;
		this.log = new EventLog(this.timeline, logged);
		this.network = new SimulatedNetwork(this.timeline, chance.split(), scenario, this.log);
		this.nodes = topology().members()
			.stream()
			.map(member -> new SimulatedNode(this, member, chance.split(), scenario))
			.toList();
		this.nodes.forEach(SimulatedNode::start);
	}

	private Topology topology() {
		return TOPOLOGIES.get(this.scenario.nodes() - 1);
	}

	RendezvousPlacement placement() {
		return PLACEMENTS.get(this.scenario.nodes() - 1);
	}

	/** What makes the replica of a node equal to others, from a start on. */
	@Nullable Convergence convergenceOf(SimulatedNode node) {
		return (this.convergence != null)
				? new Convergence(node, topology(), placement(), this.convergence, this.design, this.chance.split())
				: null;
	}

	SimulatedNetwork network() {
		return this.network;
	}

	/** An entry is on a disk. */
	void seen(Key key, Entry entry) {
		if (entry instanceof Live live) {
			Live before = this.seen.put(Values.number(live), live);
			if (before != null && !before.equals(live)) {
				fail("%s: k%d %s".formatted(NOT_THE_SAME, key.bytes()[0], Values.text(live)));
			}
		}
	}

	/** The version of a value that a disk has had. */
	Version versionOf(int value) {
		Live live = this.seen.get(value);
		return (live != null) ? live.version() : Version.ABSENT;
	}

	Timeline timeline() {
		return this.timeline;
	}

	Design design() {
		return this.design;
	}

	EventLog log() {
		return this.log;
	}

	Scenario scenario() {
		return this.scenario;
	}

	List<SimulatedNode> nodes() {
		return this.nodes;
	}

	List<Replica> replicasFor(SimulatedNode node, Replica local) {
		List<Replica> replicas = new ArrayList<>(this.nodes.size());
		for (SimulatedNode other : this.nodes) {
			replicas.add((other == node) ? local : new RemoteReplica(node, other, this.network, this.chance.split()));
		}
		return replicas;
	}

	Parts partsOf(SimulatedNode node, List<Replica> replicas, HybridLogicalClock clock, MissedStores missedStores) {
		return new Parts(node, placement(), replicas, clock,
				new ReplicationPolicy(this.scenario.nodes(), this.scenario.factor()), missedStores,
				this.chance.split());
	}

	/** Lets things go wrong within this time from now. */
	void trouble(long nanos) {
		for (SimulatedNode node : this.nodes.subList(0, this.scenario.away())) {
			if (this.chance.of(0.5)) {
				node.crash();
			}
			else {
				this.network.isolate(node.index());
			}
		}
		for (int i = 0; i < this.scenario.partitions(); i++) {
			sometime(nanos, () -> {
				this.network.partition();
				later(this.network::heal);
			});
		}
		for (int i = 0; i < this.scenario.crashes(); i++) {
			sometime(nanos, () -> crash(any()));
		}
		for (int i = 0; i < this.scenario.jumps(); i++) {
			sometime(nanos, this::jump);
		}
		for (int i = 0; i < this.scenario.diskTrouble(); i++) {
			SimulatedNode node = any();
			sometime(nanos, () -> node.disk().trouble(true));
			sometime(nanos, () -> node.disk().trouble(false));
		}
	}

	private void sometime(long nanos, Runnable task) {
		unlessSettled(this.chance.between(0, nanos), task);
	}

	private void later(Runnable task) {
		unlessSettled(this.chance.nanos(1, 2_000), task);
	}

	private void unlessSettled(long nanos, Runnable task) {
		this.timeline.after(nanos, () -> {
			if (!this.settled) {
				task.run();
			}
		});
	}

	/** Whether a node that sends a store crashes before it has sent it. */
	boolean dies() {
		return !this.settled && this.scenario.crashes() > 0 && this.chance.of(0.01);
	}

	/** Lets a node crash and start again. */
	void crash(SimulatedNode node) {
		if (node.isUp()) {
			node.crash();
			this.timeline.after(this.chance.nanos(1, 200), node::start);
		}
	}

	private void jump() {
		SimulatedNode node = any();
		double most = Math.max(400, this.scenario.skewMillis());
		double millis = this.chance.between(-most, most);
		this.log.add(() -> "clock of n%d jumps by %.0f ms".formatted(node.index(), millis));
		node.time().jump(millis);
	}

	SimulatedNode any() {
		return this.nodes.get(this.chance.below(this.nodes.size()));
	}

	/** Puts everything right. */
	void settle() {
		this.log.add(() -> "all is put right");
		this.settled = true;
		this.network.becomeSound();
		for (SimulatedNode node : this.nodes) {
			node.disk().becomeSound();
			node.time().correct();
			if (node.disk().hasFailed()) {
				node.crash();
				node.start();
			}
		}
		this.nodes.subList(0, this.scenario.away()).stream().filter(node -> !node.isUp()).forEach(SimulatedNode::start);
	}

	/** Whether an operation on this node has no reason not to succeed. */
	boolean isWellServed(SimulatedNode node) {
		return this.convergence == null && this.scenario.isCalm()
				&& (node.index() >= this.scenario.away() || this.settled);
	}

	void fail(String why) {
		this.log.add(() -> "FAILURE: " + why);
		if (this.failure == null) {
			this.failure = why;
		}
	}

	@Nullable String failure() {
		return this.failure;
	}

}
