package io.kvorum.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Replica;
import io.kvorum.testing.Placements;
import org.jspecify.annotations.Nullable;

/** Nodes and what goes wrong with them. */
final class SimulatedCluster {

	static final String NOT_THE_SAME = "Two entries of one version are not the same";

	static final String TWO_OUTCOMES = "A repeat has another outcome";

	static final String TWO_ETAGS = "A value has two ETags, or an ETag two values";

	private final Timeline timeline = new Timeline();

	private final Chance chance;

	private final Scenario scenario;

	private final Design design;

	private final @Nullable ConvergenceSettings convergence;

	private final EventLog log;

	private final SimulatedNetwork network;

	private final List<SimulatedNode> nodes;

	/** The topology that each node has from its next start on. */
	private final Layout[] layouts;

	/** What a disk has had. */
	private final Map<Version, Entry> seen = new HashMap<>();

	/** The newest version of each value that a disk has had. */
	private final Map<Integer, Version> versions = new HashMap<>();

	private final Map<Integer, Version> etags = new HashMap<>();

	private final Map<Version, Integer> values = new HashMap<>();

	/** Of the operations that clients wait for: notes one that is so at the end. */
	private final Set<Runnable> open = new LinkedHashSet<>();

	/** The limit of the time of a write. */
	private Duration longestWrite = ProductOperations.WRITE_TIMEOUT;

	private Moments moments = Moments.USUAL;

	private boolean settled;

	private @Nullable String failure;

	/**
	 * A cluster that has started.
	 * @param convergence null where replicas are made equal by reads and writes only
	 */
	SimulatedCluster(Chance chance, Scenario scenario, Design design, @Nullable ConvergenceSettings convergence,
			boolean logged) {
		this(chance, scenario, topologyOf(IntStream.range(0, scenario.nodes()).boxed().toList(), scenario.factor()),
				design, convergence, logged);
	}

	/**
	 * A cluster of which the nodes of this topology have started.
	 * @param convergence null where replicas are made equal by reads and writes only
	 */
	SimulatedCluster(Chance chance, Scenario scenario, Topology topology, Design design,
			@Nullable ConvergenceSettings convergence, boolean logged) {
		this.chance = chance;
		this.scenario = scenario;
		this.design = design;
		this.convergence = convergence;
		this.log = new EventLog(this.timeline, logged);
		this.network = new SimulatedNetwork(this.timeline, chance.split(), scenario, this.log);
		this.layouts = new Layout[scenario.nodes()];
		Arrays.fill(this.layouts, new Layout(0, topology));
		this.nodes = IntStream.range(0, scenario.nodes())
			.mapToObj(index -> new SimulatedNode(this, index, this.layouts[index], chance.split(), scenario))
			.toList();
		this.nodes.stream()
			.filter(node -> topology.members().stream().anyMatch(it -> it.address().equals(addressOf(node.index()))))
			.forEach(SimulatedNode::start);
	}

	static String addressOf(int index) {
		return "http://n" + index;
	}

	/** The topology of these nodes, with three replicas of each key. */
	static Topology topologyOf(List<Integer> indexes, int factor) {
		return Topology.of(indexes.stream().map(SimulatedCluster::addressOf).toList(), factor);
	}

	/** The topology that a node has from its next start on. */
	Layout layoutOf(SimulatedNode node) {
		return this.layouts[node.index()];
	}

	/** Has a node start with another topology from its next start on. */
	void configure(SimulatedNode node, Layout layout) {
		this.layouts[node.index()] = layout;
	}

	/** The placement of the first node. */
	RendezvousPlacement placement() {
		return Placements.of(this.layouts[0].topology());
	}

	/** What makes the replica of a node equal to others, from a start on. */
	@Nullable Convergence convergenceOf(SimulatedNode node) {
		return (this.convergence != null) ? new Convergence(node, node.layout(), Placements.of(node.topology()),
				this.convergence, this.design, this.chance.split()) : null;
	}

	/** What makes the replica of a node equal to others, with another layout. */
	Convergence following(Convergence before, Layout layout, ChangeState change) {
		return before.become(layout, Placements.of(layout.topology()), change);
	}

	SimulatedNetwork network() {
		return this.network;
	}

	/** A client begins to wait for an operation. */
	void opens(Runnable whenOpenAtTheEnd) {
		this.open.add(whenOpenAtTheEnd);
	}

	/** It waits no more. */
	void closes(Runnable whenOpenAtTheEnd) {
		this.open.remove(whenOpenAtTheEnd);
	}

	/** The history ends: what clients still wait for may have happened. */
	void noteOpen() {
		this.open.forEach(Runnable::run);
		this.open.clear();
	}

	/** An entry is on a disk. */
	void seen(Key key, Entry entry) {
		Entry before = this.seen.put(entry.version(), entry);
		// One that has expired may have become a tombstone elsewhere.
		if (before != null && before.getClass() == entry.getClass() && !before.equals(entry)) {
			fail("%s: k%d %s".formatted(NOT_THE_SAME, key.bytes()[0], Values.text(entry)));
		}
		if (entry instanceof Live live && !InternalKeys.isInternal(key)) {
			int value = Values.number(live);
			this.versions.merge(value, live.version(), (one, other) -> one.isNewerThan(other) ? one : other);
			names(live.identity(), value);
		}
	}

	/**
	 * An entry is proposed. Replicas with something newer acknowledge it without storing
	 * it: then it was there right before that.
	 */
	void proposed(Key key, Entry entry) {
		if (entry instanceof Live live && !InternalKeys.isInternal(key)) {
			names(live.identity(), Values.number(live));
		}
	}

	/**
	 * An ETag names a value, on a disk or as a client is told. A disk may have a value
	 * under two: a conditional write that was overtaken begins anew.
	 */
	private void names(Version etag, int value) {
		Integer other = this.values.putIfAbsent(etag, value);
		if (other != null && other != value) {
			fail("%s: %s is %d and %d".formatted(TWO_ETAGS, Values.text(etag), other, value));
		}
	}

	/** A client is told the ETag of a value. */
	void has(int value, Version etag) {
		names(etag, value);
		Version before = this.etags.putIfAbsent(value, etag);
		if (before != null && !before.equals(etag)) {
			fail("%s: %d is %s and %s".formatted(TWO_ETAGS, value, Values.text(before), Values.text(etag)));
		}
	}

	/** The value that an ETag names; null if no disk has had it. */
	@Nullable Integer valueOf(Version etag) {
		return this.values.get(etag);
	}

	/** The newest version of a value that a disk has had. */
	Version versionOf(int value) {
		return this.versions.getOrDefault(value, Version.ABSENT);
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

	SimulatedNode nodeOf(Member member) {
		return this.nodes.get(Integer.parseInt(member.address().substring(addressOf(0).length() - 1)));
	}

	List<Replica> replicasFor(SimulatedNode node, Replica local) {
		List<Replica> replicas = new ArrayList<>(node.topology().size());
		for (Member member : node.topology().members()) {
			SimulatedNode other = nodeOf(member);
			replicas.add((other == node) ? local : new RemoteReplica(node, other, this.network, this.chance.split()));
		}
		return replicas;
	}

	Parts partsOf(SimulatedNode node, List<Replica> replicas, HybridLogicalClock clock, MissedStores missedStores) {
		Topology topology = node.topology();
		Parts parts = new Parts(node, Placements.of(topology), replicas, clock, policyOf(topology), missedStores,
				this.chance.split());
		return topology.isChanging() ? this.design.inChange(parts) : parts;
	}

	private ReplicationPolicy policyOf(Topology topology) {
		return new ReplicationPolicy(topology.size(), topology.factor(),
				topology.isChanging() ? topology.parts().stream().map(this::policyOf).toList() : List.of());
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

	/** The nodes that a round of stores reaches: all, but at times few. */
	int reachedByRound(SimulatedNode from) {
		if (!this.settled && this.moments.isAlone(from)) {
			return 0;
		}
		boolean isUnlucky = !this.settled && this.chance.of(this.scenario.unlucky());
		return isUnlucky ? 1 << this.chance.below(this.scenario.nodes()) : -1;
	}

	/** Has these told of each ballot until all is put right. */
	void watch(Moments moments) {
		this.moments = moments;
	}

	/** A node is about to ask another one to accept what it proposes. */
	void proposing(SimulatedNode node) {
		if (!this.settled) {
			this.moments.proposing(node);
		}
	}

	/** Lets a node crash soon, at times. */
	void mayTrip(SimulatedNode node, boolean hasPromised) {
		if (hasPromised && !this.settled) {
			this.moments.promised(node);
		}
		double trips = this.scenario.trips();
		if (!this.settled && this.chance.of(hasPromised ? trips : trips / 5)) {
			this.timeline.after(this.chance.nanos(0.05, 2), () -> crash(node));
		}
	}

	/** Lets a node crash and start again. */
	void crash(SimulatedNode node) {
		if (node.isUp()) {
			node.crash();
			this.timeline.after(this.chance.nanos(1, this.scenario.restartsSoon() ? 15 : 200), () -> {
				if (!node.isStarted()) {
					node.start();
				}
			});
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

	/** Limits the time of writes, on nodes that start from now on. */
	void limitWrites(Duration longest) {
		this.longestWrite = longest;
	}

	Duration longestWrite() {
		return this.longestWrite;
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

	/** The moments of a ballot at which most can go wrong. */
	interface Moments {

		/** Nothing more than usual. */
		Moments USUAL = new Moments() {
		};

		/** A node has answered a promise. */
		default void promised(SimulatedNode node) {
		}

		/** A node is about to ask another one to accept. */
		default void proposing(SimulatedNode node) {
		}

		/** Whether what a node stores reaches no other one. */
		default boolean isAlone(SimulatedNode node) {
			return false;
		}

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
