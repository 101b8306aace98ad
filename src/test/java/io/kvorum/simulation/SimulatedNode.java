package io.kvorum.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.kv.Entry;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.layout.LayoutAdoption;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.StoreSize;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A node: what survives a crash, and what is made anew after it. Nothing that a node has
 * set out to do happens after its crash.
 */
final class SimulatedNode {

	private static final long LAYOUT_INTERVAL = Duration.ofMillis(200).toNanos();

	private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(1);

	/** By which others know that a node is down. */
	private static final long SILENCE = Duration.ofSeconds(1).toNanos();

	private static final long STREAMS_TOLD = Duration.ofSeconds(1).toNanos();

	private final SimulatedCluster cluster;

	private final int index;

	/** The layout that it works with. */
	private Layout layout;

	/** The topology that it has been started with last. */
	private Topology startedWith;

	private boolean hasBegun;

	/** What it says of its layout to others. */
	private Layout told;

	/** The replicas and the clock of its present life. */
	private @Nullable HybridLogicalClock clock;

	/** Gets what operations miss, whatever layout they began with. */
	private MissedStores missedStores = MissedStores.NONE;

	/** The topology of the operations that begin now. */
	private Topology served;

	/** Whether others know of its layout. */
	private boolean isSettled = true;

	private final SimulatedTime time;

	private final SimulatedDisk disk;

	/** What others said of their layouts on the streams that this node has accepted. */
	private final Map<Integer, Layout> streams = new HashMap<>();

	/** What it says of its layout on its own streams, by the node that they lead to. */
	private final Map<Integer, Layout> links = new HashMap<>();

	/** Of clients that wait for this node, told when it crashes. */
	private final Set<Runnable> waiting = new LinkedHashSet<>();

	private int starts;

	/** The last start, by this node's clock. */
	private long startedNanos;

	/** When it went down last. */
	private long downNanos;

	/** About to crash: whatever it does still reaches nobody. */
	private boolean dying;

	/** When the last round of stores began. */
	private long roundAt = -1;

	/** The nodes that the last round of stores reached. */
	private int reached;

	/** Null while the node is down. */
	private @Nullable Operations operations;

	/** Null while the node is down. */
	private @Nullable Replica replica;

	private @Nullable Convergence convergence;

	/** The taking of the layout that is not settled. */
	private @Nullable LayoutAdoption adoption;

	private boolean started;

	private boolean dead;

	private boolean acceptsLoss;

	SimulatedNode(SimulatedCluster cluster, int index, Layout layout, Chance chance, Scenario scenario) {
		this.cluster = cluster;
		this.index = index;
		this.layout = layout;
		this.startedWith = layout.topology();
		this.told = layout;
		this.served = layout.topology();
		double skew = scenario.skewMillis();
		this.time = new SimulatedTime(cluster.timeline(), chance.between(-skew, skew), chance.between(0.999, 1.001),
				chance.between(0, 1L << 50));
		this.disk = new SimulatedDisk(this, chance.split(), scenario, cluster.design().disk());
	}

	/** Serves as soon as its clock has a bound. */
	void start() {
		if (this.dead) {
			return;
		}
		Layout configured = this.cluster.layoutOf(this);
		Layout recorded = ChangeState.layoutIn(new SimulatedRecord(this.disk));
		this.layout = (recorded != null && recorded.number() > configured.number()) ? recorded : configured;
		Layout opened = Convergence.openIn(this.disk);
		Layout goesOn = (opened != null && opened.number() == this.layout.number()) ? opened : null;
		if (goesOn != null) {
			this.layout = goesOn.aborted(goesOn.number());
		}
		this.startedWith = this.layout.topology();
		this.told = this.layout;
		this.links.clear();
		this.served = this.layout.topology();
		this.isSettled = true;
		this.starts++;
		this.startedNanos = this.time.nanos();
		this.started = true;
		HybridLogicalClock clock = new HybridLogicalClock(this.time);
		long identity = this.disk.content().identity;
		long bound = this.cluster.design().clockBound(this.disk.boundMillis());
		clock.start(identity, bound, this.disk::storeBound).thenAccept(_ -> serve(clock, goesOn)).exceptionally(ex -> {
			fail(ex);
			return null;
		});
	}

	/**
	 * Serves.
	 * @param goesOn the change that the disk has, if it is open; null otherwise
	 */
	private void serve(HybridLogicalClock clock, @Nullable Layout goesOn) {
		Convergence convergence = this.cluster.convergenceOf(this);
		if (convergence == null) {
			serveWith(clock, null);
			return;
		}
		if (goesOn != null) {
			serveWith(clock, convergence);
			ChangeState change = new ChangeState(goesOn, new SimulatedRecord(this.disk), StoreSize.NONE);
			change.load();
			this.isSettled = false;
			prepare(goesOn, convergence, change);
			return;
		}
		BooleanSupplier life = life();
		convergence.takeLayout().onErrorComplete().subscribe(_ -> {
		}, this::fail, () -> {
			if (life.getAsBoolean()) {
				serveWith(clock, convergence);
			}
		});
	}

	private void serveWith(HybridLogicalClock clock, @Nullable Convergence convergence) {
		log(() -> "serves with " + this.layout);
		this.clock = clock;
		List<Replica> replicas = begin(clock, convergence);
		if (convergence != null) {
			convergence.beginChange();
		}
		this.operations = this.cluster.design().operations(partsOf(replicas, clock));
	}

	private Parts partsOf(List<Replica> replicas, HybridLogicalClock clock) {
		return this.cluster.partsOf(this, replicas, clock,
				(member, key, entry, why) -> this.missedStores.missed(member, key, entry, why));
	}

	/** Makes the replicas of the present layout, and begins to make them equal. */
	private List<Replica> begin(HybridLogicalClock clock, @Nullable Convergence convergence) {
		if (!this.hasBegun || this.cluster.design().followsFactor()) {
			this.disk.content().digests().become(topology().factor());
			this.hasBegun = true;
		}
		this.convergence = convergence;
		VotingRight standing = (convergence != null) ? this.cluster.design().votingRight(convergence.state())
				: VotingRight.TRUSTED;
		PeerQueries queries = (convergence != null) ? convergence.queries() : PeerQueries.NONE;
		Design design = this.cluster.design();
		Predicate<Version> isCollected = design.collected((convergence != null) ? convergence.collected() : _ -> false);
		Replica local = design.replica(new LocalReplica(member(), this.disk, clock, this.time, standing, queries,
				isCollected, topology().size() == 1), this.time);
		this.replica = local;
		link();
		List<Replica> replicas = this.cluster.replicasFor(this, local);
		this.missedStores = (convergence != null) ? toMembers(convergence.run(local, replicas)) : MissedStores.NONE;
		return replicas;
	}

	/** Operations that began with an earlier layout name its members. */
	private MissedStores toMembers(MissedStores missedStores) {
		Topology topology = topology();
		return (member, key, entry, why) -> topology.members()
			.stream()
			.filter(present -> present.id() == member.id())
			.forEach(present -> missedStores.missed(present, key, entry, why));
	}

	/** Takes another layout while it serves, as the product does. */
	void take(Layout newest) {
		Convergence before = this.convergence;
		if (before == null || newest.number() <= this.layout.number() || !newest.topology().has(addressOf())) {
			return;
		}
		boolean mayBeLeft = this.isSettled || (this.adoption != null && this.adoption.isHeldUp());
		Layout next = LayoutAdoption.next(addressOf(), this.layout, mayBeLeft,
				LayoutAdoption.Standing.of(mayVote(), before.state().isMember(), this.startedNanos, this.time.nanos()),
				newest);
		if (next != null) {
			takeNext(next, before);
		}
	}

	private void takeNext(Layout next, Convergence before) {
		this.isSettled = false;
		ChangeState change = new ChangeState(next, new SimulatedRecord(this.disk), StoreSize.NONE);
		BooleanSupplier life = life();
		before.forgetOthers(next)
			.then(change.adopt(next.topology().member(addressOf()), mayVote(), before.change()))
			.subscribe(_ -> {
			}, error -> log("cannot take a layout: " + error.getMessage()), () -> {
				if (life.getAsBoolean() && before == this.convergence) {
					prepare(next, before, change);
				}
			});
	}

	private String addressOf() {
		return SimulatedCluster.addressOf(this.index);
	}

	private void prepare(Layout next, Convergence before, ChangeState change) {
		log(() -> "takes " + next);
		this.layout = next;
		Convergence convergence = this.cluster.following(before, next, change);
		List<Replica> replicas = begin(Objects.requireNonNull(this.clock), convergence);
		endOthers();
		LayoutAdoption adoption = new LayoutAdoption(this.served, next, this.cluster.longestWrite(), this.time);
		this.adoption = adoption;
		awaitNewNodes(convergence, replicas, adoption);
	}

	private void awaitNewNodes(Convergence convergence, List<Replica> replicas, LayoutAdoption adoption) {
		if (this.convergence != convergence) {
			return;
		}
		BooleanSupplier life = life();
		List<Member> added = adoption.added(member());
		Flux.fromIterable(replicas)
			.filter(replica -> added.contains(replica.member()))
			.flatMap(replica -> replica.readVersion(InternalKeys.LAYOUT, Deadline.after(this.time, PROBE_TIMEOUT))
				.ofType(Failed.class)
				.map(failed -> Map.entry(replica.member(), failed.reason() == Reason.REBUILDING)))
			.collectMap(Map.Entry::getKey, Map.Entry::getValue)
			.subscribe(unready -> {
				if (!life.getAsBoolean() || this.convergence != convergence) {
					return;
				}
				if (adoption.prepared(unready, member -> replicas.get(member.index()).isThere())) {
					serveWith(replicas);
					adoption.served();
					tellWhenDrained(convergence, adoption);
				}
				else {
					after(LAYOUT_INTERVAL, () -> awaitNewNodes(convergence, replicas, adoption));
				}
			}, this::fail);
	}

	private void serveWith(List<Replica> replicas) {
		log(() -> "needs replicas of " + this.layout);
		Objects.requireNonNull(this.operations).become(partsOf(replicas, Objects.requireNonNull(this.clock)));
		this.served = topology();
	}

	private void tellWhenDrained(Convergence convergence, LayoutAdoption adoption) {
		if (this.convergence != convergence) {
			return;
		}
		if (this.cluster.design().drains() && !adoption.drained()) {
			after(LAYOUT_INTERVAL, () -> tellWhenDrained(convergence, adoption));
			return;
		}
		this.told = layout();
		this.links.replaceAll((_, _) -> layout());
		after(STREAMS_TOLD, () -> {
			if (this.convergence == convergence) {
				log(() -> "tells of " + this.layout);
				this.isSettled = true;
				convergence.announce();
			}
		});
	}

	/** Whether others know of the layout that it works with. */
	boolean isSettled() {
		return this.isSettled;
	}

	/** What it says of its layout to those it has streams to already. */
	Layout told() {
		return this.told;
	}

	/** What it says of its layout to another node. */
	Layout toldTo(SimulatedNode other) {
		return this.links.getOrDefault(other.index, layout());
	}

	/** As in the product: others hear of a layout when earlier operations are over. */
	private void link() {
		for (Member member : topology().members()) {
			int other = this.cluster.nodeOf(member).index;
			if (!this.links.containsKey(other) || !this.served.has(member.address())) {
				this.links.put(other, layout());
			}
		}
	}

	/** The topology that it has been started with last. */
	Topology startedWith() {
		return this.startedWith;
	}

	void crash() {
		log("crashes");
		this.downNanos = now();
		loseStreams();
		this.starts++;
		this.started = false;
		this.dying = false;
		this.operations = null;
		this.replica = null;
		this.convergence = null;
		this.disk.crash();
		List<Runnable> left = List.copyOf(this.waiting);
		this.waiting.clear();
		left.forEach(Runnable::run);
	}

	/** Crashes for good. */
	void die() {
		this.dead = true;
		if (this.started) {
			crash();
		}
	}

	/** Starts it though it may have died, for which a restart may be due still. */
	void startAfterAll() {
		this.dead = false;
		start();
	}

	/** Crashes in the middle of a store phase, at times. */
	void mayDie() {
		if (!this.dying && this.cluster.dies()) {
			this.dying = true;
			this.cluster.timeline().after(0, () -> this.cluster.crash(this));
		}
	}

	boolean isDying() {
		return this.dying;
	}

	/** Whether the round of stores that begins now does not reach another node. */
	boolean isCutOffFrom(int receiver) {
		if (this.roundAt != now()) {
			this.roundAt = now();
			this.reached = this.cluster.reachedByRound(this);
		}
		return (this.reached & 1 << receiver) == 0;
	}

	/** Crashes soon after it has answered, at times. */
	void mayTrip(boolean hasPromised) {
		this.cluster.mayTrip(this, hasPromised);
	}

	/** It is about to ask another node to accept what it proposes. */
	void proposing() {
		this.cluster.proposing(this);
	}

	@Nullable Operations operations() {
		return this.operations;
	}

	@Nullable Replica replica() {
		return this.replica;
	}

	/** Null while the node is down, or where nothing makes replicas equal. */
	@Nullable Convergence convergence() {
		return this.convergence;
	}

	/** Whether it is up and may vote. */
	boolean mayVote() {
		return this.convergence != null && this.convergence.state().withheldBecause() == null;
	}

	/** Whether it takes itself for a member whatever its disk lacks. */
	boolean acceptsLoss() {
		return this.acceptsLoss || this.cluster.design().acceptsLoss();
	}

	/** Has the next start accept what the disk lacks. */
	void acceptLoss(boolean accepted) {
		this.acceptsLoss = accepted;
	}

	/** The limit of the time of a write. */
	Duration longestWrite() {
		return this.cluster.longestWrite();
	}

	Alarms alarms() {
		return time -> Mono.create(sink -> after(time.toNanos(), () -> sink.success(0L)));
	}

	/** Whether others know that it is down. */
	boolean isSilent() {
		return this.replica == null && now() - this.downNanos > SILENCE;
	}

	/** Whether it is up, or about to be. */
	boolean isStarted() {
		return this.started;
	}

	boolean isUp() {
		return this.operations != null;
	}

	/** It, in its topology. */
	Member member() {
		return memberOf(this);
	}

	/** Another node, in the topology of this one. */
	Member memberOf(SimulatedNode other) {
		return this.layout.topology().member(SimulatedCluster.addressOf(other.index));
	}

	/** The topology that it works with. */
	Topology topology() {
		return this.layout.topology();
	}

	/** The layout that it works with. */
	Layout layout() {
		return this.layout;
	}

	/** Whether it works together with a node that has this layout. */
	boolean accepts(Layout other) {
		Convergence convergence = this.convergence;
		return convergence == null
				|| this.cluster.design().accepts(convergence.change().accepts(other.number(), fingerprintsOf(other)));
	}

	/**
	 * Whether what another node sends is taken. As in the product that is decided when a
	 * stream is opened, and when the other node tells of another layout on it.
	 * @param told what the other node says of its layout
	 */
	boolean takesFrom(SimulatedNode other, Layout told) {
		Layout known = this.streams.get(other.index);
		if (known != null && known.number() == told.number()
				&& known.topology().fingerprint() == told.topology().fingerprint()) {
			return true;
		}
		if (!accepts(told)) {
			this.streams.remove(other.index);
			return false;
		}
		this.streams.put(other.index, told);
		return true;
	}

	/** Ends the streams of nodes that are not accepted any more. */
	void endOthers() {
		this.streams.values().removeIf(told -> !accepts(told));
	}

	/** The streams from and to this node end, as they do when it is cut off for long. */
	void loseStreams() {
		this.streams.clear();
		this.cluster.nodes().forEach(node -> node.streams.remove(this.index));
	}

	private static List<Long> fingerprintsOf(Layout layout) {
		return layout.isMoving() ? List.of(layout.before().fingerprint(), layout.after().fingerprint())
				: List.of(layout.topology().fingerprint());
	}

	int index() {
		return this.index;
	}

	SimulatedTime time() {
		return this.time;
	}

	SimulatedDisk disk() {
		return this.disk;
	}

	/** The instant of the simulation, which the node cannot know. */
	long now() {
		return this.cluster.timeline().now();
	}

	/** Does something later, unless the node crashes before. */
	void after(long nanos, Runnable task) {
		int start = this.starts;
		this.cluster.timeline().after(nanos, () -> {
			if (this.starts == start) {
				task.run();
			}
		});
	}

	/** True until the node crashes. */
	BooleanSupplier life() {
		int start = this.starts;
		return () -> this.starts == start;
	}

	void atCrash(Runnable task) {
		this.waiting.add(task);
	}

	void notAtCrash(Runnable task) {
		this.waiting.remove(task);
	}

	/** Of an error that no design may give. */
	void fail(Throwable error) {
		this.cluster.fail("an unexpected error on n%d: %s".formatted(index(), error));
	}

	void log(String what) {
		this.cluster.log().add(() -> "n%d %s".formatted(index(), what));
	}

	void log(String what, Entry entry) {
		log(() -> what + Values.text(entry));
	}

	void log(Supplier<String> what) {
		this.cluster.log().add(() -> "n%d %s".formatted(index(), what.get()));
	}

	/** An entry is proposed. It may be chosen although no disk ever has it. */
	void proposed(Key key, Entry entry) {
		this.cluster.proposed(key, entry);
	}

	/** It has an entry on its disk. */
	void has(Key key, Entry entry) {
		log(() -> "has k%d %s".formatted(key.bytes()[0], Values.text(entry)));
		this.cluster.seen(key, entry);
	}

}
