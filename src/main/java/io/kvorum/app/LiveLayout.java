package io.kvorum.app;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyChange;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.Responder;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.change.EarlierChanges;
import io.kvorum.convergence.change.LayoutEvents;
import io.kvorum.convergence.change.Step;
import io.kvorum.convergence.quarantine.NodeState;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Inspection;
import io.kvorum.coordination.View;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.InternalKeys;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutAdoption;
import io.kvorum.layout.LayoutNode;
import io.kvorum.layout.LayoutPeers;
import io.kvorum.layout.LayoutRefusedException;
import io.kvorum.layout.LayoutRegister;
import io.kvorum.layout.LeavingTime;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.range.Ranges;
import io.kvorum.replication.FailureLog;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Replica;
import io.kvorum.storage.rocksdb.RocksStorage;
import io.kvorum.transport.ReplicaTransport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Has this node follow the layouts of its cluster while it serves. A node that takes a
 * layout records it, makes the parts that are of one layout, and goes through the steps
 * of {@link LayoutAdoption}. Then the {@link io.kvorum.convergence.change.Changeover} of
 * a change begins.
 * <p>
 * Nodes tell each other which layout they know, and look at the {@link LayoutRegister} at
 * times. A node that knows a newer layout than its own takes that one next, whatever lies
 * between: each was decided when the one before it could be left.
 * <p>
 * Works on the thread of convergence; what others ask for comes on any thread.
 */
final class LiveLayout implements LayoutNode, LayoutPeers {

	private static final Logger logger = LoggerFactory.getLogger(LiveLayout.class);

	private static final String WAITS = "this node is in no cluster yet: add it by the endpoint \"layout\" of one that is";

	private static final String ASKS = "this node is in no cluster yet, and asks the nodes of kvorum.cluster.nodes to add it. They do once they are stable; the log of one of them says what is in the way";

	private static final String HAS_ENTRIES = "this node is in no cluster, and cannot be added, as its store is not empty: start it with an empty directory";

	private static final Duration INTERVAL = Duration.ofMillis(200);

	/**
	 * The time between two exchanges of layouts while nodes change, or one refuses this
	 * node: it may not know a layout.
	 */
	private static final Duration EXCHANGE_INTERVAL = Duration.ofSeconds(1);

	/**
	 * The time between two exchanges at all other times, and between two reads of the
	 * register: a node that was not told of a decision finds out.
	 */
	private static final Duration LOOK_INTERVAL = Duration.ofSeconds(10);

	/**
	 * The time for which nodes that ask to be added are collected: the fewer changes, the
	 * less is copied twice.
	 */
	private static final Duration JOIN_DELAY = Duration.ofSeconds(3);

	/** Limit of the time in which a new node answers. */
	private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(1);

	/** Exchanges under way at a time. */
	private static final int CONCURRENCY = 16;

	private final String self;

	/** The nodes to begin with; null if this node waits to be added. */
	private final @Nullable Topology founding;

	/** Addresses of the configuration. */
	private final List<String> seeds;

	/** This node, if nodes join by themselves; null if an operator adds them. */
	private final @Nullable ClusterNode joining;

	private final KnownLayout known;

	private final RocksStorage storage;

	private final NodeState state;

	private final RepairLog repairs;

	private final ReplicaTransport transport;

	private final Operations operations;

	private final LocalReplicas locals;

	private final LayoutParts.Factory factory;

	private final Function<Topology, RendezvousPlacement> placements;

	private final Handoffs handoffs;

	private final LayoutEvents events;

	private final TimeSource time;

	private final ConvergenceThread thread;

	private final long maxCopyRate;

	private final LeavingTime leaving;

	private final LayoutRegister register;

	private final LayoutAdmin admin;

	/** What runs for the present layout. */
	private final Sinks.Many<Flux<?>> running = Sinks.many().unicast().onBackpressureBuffer();

	/** The changeover that runs; it begins later than the rest. */
	private final Sinks.Many<Flux<?>> changing = Sinks.many().unicast().onBackpressureBuffer();

	private volatile @Nullable LayoutParts parts;

	/** The taking of the present layout; null if it is in force, or there is none. */
	private volatile @Nullable LayoutAdoption adoption;

	/** The partitions that move in the last change that was looked at. */
	private volatile @Nullable Moves moves;

	/** The topology of the operations that begin now; null if there are none. */
	private volatile @Nullable Topology served;

	/** Whether it was removed, and serves no operations any more. */
	private volatile boolean hasLeft;

	private final long startedNanos;

	private long exchangedNanos;

	private long registerDueNanos;

	/** The instant at which nodes that have asked for it are added. */
	private long joinDueNanos;

	/** The reason why they were not added the last time. */
	private String joinRefused = "";

	private final FailureLog failures = new FailureLog(logger,
			"The layout of this node makes no progress; trying again: {}");

	/** The number of the newest layout that all other nodes were told of. */
	private long toldNumber;

	/** The changes before the present layout; null if there is none. */
	private volatile @Nullable EarlierChanges earlier;

	private int turn;

	/** The partitions that move in the change of the layout with this number. */
	private record Moves(long number, TopologyChange change) {
	}

	/** Makes the replica of this node for a layout. */
	@FunctionalInterface
	interface LocalReplicas {

		LocalReplica of(Member self, ChangeState change, boolean isAlone);

	}

	/**
	 * The parts that operations go through, whose nodes change.
	 *
	 * @param longest the longest time limit of an operation
	 */
	record Operations(Coordinator coordinator, Ranges ranges, Inspection inspection, Duration longest) {

		void become(LayoutParts parts) {
			Topology topology = parts.topology();
			this.coordinator.become(new View(parts.placement(), parts.self(), parts.replicas(),
					ClusterConfiguration.policyOf(topology)));
			this.ranges.become(topology, parts.placement(), parts.self(), parts.replicas());
			this.inspection.become(topology, parts.placement(), parts.replicas());
		}

	}

	LiveLayout(String self, @Nullable Topology founding, List<String> seeds, @Nullable ClusterNode joining,
			KnownLayout known, RocksStorage storage, NodeState state, RepairLog repairs, ReplicaTransport transport,
			Operations operations, LocalReplicas locals, LayoutParts.Factory factory,
			Function<Topology, RendezvousPlacement> placements, Handoffs handoffs, LayoutEvents events, TimeSource time,
			ConvergenceThread thread, long maxCopyRate, LeavingTime leaving) {
		this.leaving = leaving;
		this.self = self;
		this.founding = founding;
		this.seeds = List.copyOf(seeds);
		this.joining = joining;
		this.known = known;
		this.storage = storage;
		this.state = state;
		this.repairs = repairs;
		this.transport = transport;
		this.operations = operations;
		this.locals = locals;
		this.factory = factory;
		this.placements = placements;
		this.handoffs = handoffs;
		this.events = events;
		this.time = time;
		this.thread = thread;
		this.maxCopyRate = maxCopyRate;
		this.startedNanos = time.nanos();
		this.exchangedNanos = this.startedNanos - LOOK_INTERVAL.toNanos();
		this.registerDueNanos = time.nanos();
		this.register = new LayoutRegister(operations.coordinator(), this::decisionWithout);
		this.admin = new LayoutAdmin(this.register, this);
	}

	/** Why a node that belongs to no cluster serves nothing. */
	static String waits(boolean asks) {
		return asks ? ASKS : WAITS;
	}

	private LayoutDecision decisionWithout() {
		Layout layout = layout();
		if (layout == null) {
			throw new IllegalStateException("this node belongs to no cluster");
		}
		return new LayoutDecision(layout.number(),
				layout.named(this.state.clusterName()).named(this.known.heardName()));
	}

	/** Changes the nodes for operators. */
	LayoutAdmin admin() {
		return this.admin;
	}

	/**
	 * Takes the layout on disk, or that of the configuration, with the store open and
	 * before any other node can ask.
	 */
	void open() {
		Layout recorded = ChangeState.layoutIn(this.storage);
		Layout first = (recorded != null) ? recorded
				: (this.founding != null) ? new Layout(0, this.founding, this.state.clusterName()) : null;
		if (first == null) {
			this.known.waits(this.storage.isNew(), this.joining);
			return;
		}
		this.known.begins(first);
		ChangeState change = new ChangeState(first, this.storage, this.storage);
		change.load();
		if (change.step() == Step.OPEN) {
			goOn(first, change);
			return;
		}
		this.operations.become(begin(first, change));
		this.transport.announce();
		change.announce();
		this.served = first.topology();
	}

	/**
	 * Determines the ID of this node's cluster while no layout decision has recorded it:
	 * that of the cluster which this node founded, or the one that others report once
	 * this node votes. A node without a vote may have lost its disk, so it accepts any
	 * reported ID.
	 */
	private Mono<Void> nameCluster() {
		LayoutParts now = this.parts;
		if (now == null || now.layout().number() > 0) {
			return Mono.empty();
		}
		boolean mayVote = this.state.withheldBecause() == null;
		Mono<Void> recorded = (this.state.clusterName() == Layout.UNKNOWN && mayVote)
				? this.state.nameCluster(this.known.heardName()) : Mono.empty();
		// One that cannot be recorded now holds up nothing.
		return recorded.onErrorComplete().then(Mono.fromRunnable(() -> {
			long name = this.state.clusterName();
			if (name != Layout.UNKNOWN) {
				this.known.named(new Layout(0, now.topology(), name));
			}
		}));
	}

	/**
	 * Goes on with a change as if it had just been taken: new nodes may not have answered
	 * yet.
	 */
	private void goOn(Layout moving, ChangeState change) {
		Layout before = moving.aborted(moving.number());
		this.operations.become(begin(before, new ChangeState(before, this.storage, this.storage)));
		this.transport.announce();
		this.served = before.topology();
		this.adoption = adoptionOf(moving);
		begin(moving, change);
	}

	private LayoutAdoption adoptionOf(Layout next) {
		return new LayoutAdoption(this.served, next, this.operations.longest(), this.time);
	}

	/** Whether this node works together with a node of this layout. */
	boolean accepts(long number, List<Long> topologies) {
		LayoutParts now = this.parts;
		return now != null && now.change().accepts(number, topologies);
	}

	@Override
	public @Nullable Layout layout() {
		LayoutParts now = this.parts;
		return (now != null) ? now.layout() : null;
	}

	/** The parts of the present layout; null if this node belongs to no cluster. */
	@Nullable LayoutParts parts() {
		return this.parts;
	}

	@Override
	public boolean isSettled() {
		return this.parts != null && this.adoption == null;
	}

	@Override
	public @Nullable String outside() {
		// A node that was just added serves nothing before its operations know the nodes.
		if (this.served == null) {
			return this.known.text().equals(NOT_EMPTY) ? HAS_ENTRIES : waits(this.joining != null);
		}
		Layout newest = this.known.newest();
		return (newest == null || !isRemoved()) ? null
				: "this node was removed from the cluster by layout %d: it can be switched off once all others are stable. It keeps its data, and %s"
					.formatted(newest.number(), this.hasLeft ? "serves no requests any more"
							: "serves requests for an hour, or a quarter of kvorum.gc-grace if that is less");
	}

	/** Whether a newer layout is without this node. */
	boolean isRemoved() {
		Layout newest = this.known.newest();
		return newest != null && isNewer(newest) && !newest.topology().has(this.self);
	}

	@Override
	public @Nullable ChangeStatus change() {
		LayoutParts now = this.parts;
		if (now == null || !now.layout().isMoving()) {
			return null;
		}
		ChangeStatus status = now.changeover().status();
		if (status == null) {
			return null;
		}
		LayoutAdoption taking = this.adoption;
		if (taking == null) {
			return status;
		}
		return switch (taking.phase()) {
			case PREPARING -> new ChangeStatus(status.step(), taking.unready(), "to be there and to vote");
			case DRAINING, TELLING ->
				new ChangeStatus(status.step(), List.of(), "operations that began before have to end");
		};
	}

	@Override
	public void decided(LayoutDecision decision) {
		this.known.learn(decision);
	}

	@Override
	public @Nullable CopyProgress copying() {
		LayoutParts now = this.parts;
		Moves moves = this.moves;
		return (now == null || moves == null || moves.number != now.layout().number()) ? null
				: now.changeover().progress(moves.change);
	}

	@Override
	public Mono<Store> store() {
		LayoutParts now = this.parts;
		long node = (now != null) ? now.self().id() : 0;
		return this.storage.liveBytes().map(bytes -> new Store(node, bytes, this.maxCopyRate));
	}

	@Override
	public Mono<String> ask(String address) {
		return address.equals(this.self) ? Mono.fromSupplier(this.known::text)
				: this.transport.exchangeLayouts(address, this.known.text());
	}

	/** Runs while subscribed to, with the replica port open. To be subscribed to once. */
	Flux<?> run() {
		return Flux.defer(() -> {
			LayoutParts now = this.parts;
			if (now != null) {
				run(now.run(), this.running);
				if (isSettled()) {
					run(now.changeover().run(), this.changing);
				}
			}
			return Flux.merge(Flux.switchOnNext(this.running.asFlux()), Flux.switchOnNext(this.changing.asFlux()),
					rounds());
		}).subscribeOn(this.thread.scheduler());
	}

	/** Runs instead of what has run before. */
	private static void run(Flux<?> work, Sinks.Many<Flux<?>> instead) {
		instead.tryEmitNext(work).orThrow();
	}

	/** Counted down when this node may vote; at once if it belongs to no cluster. */
	CountDownLatch votingRight() {
		LayoutParts now = this.parts;
		return (now != null) ? now.quarantine().votingRight() : new CountDownLatch(0);
	}

	private Flux<?> rounds() {
		return this.failures.tell(Mono.defer(this::round))
			.then(Mono.defer(() -> this.thread.alarms().after(INTERVAL)))
			.publishOn(this.thread.scheduler())
			.repeat();
	}

	private Mono<Void> round() {
		return nameCluster().then(Mono.defer(this::follow))
			.then(Mono.defer(this::tellAndAsk))
			.then(Mono.fromRunnable(this::leave))
			.then(Mono.defer(this::refuseEarlier))
			.then(Mono.defer(this::decideEnd))
			.then(Mono.defer(this::look))
			.then(Mono.defer(this::findMoves))
			.then(Mono.defer(this::addAsking));
	}

	private Mono<Void> follow() {
		Layout newest = this.known.newest();
		LayoutParts now = this.parts;
		if (newest == null || !isNewer(newest) || !newest.topology().has(this.self)) {
			return advance();
		}
		Layout next = (now == null) ? newest
				: LayoutAdoption.next(this.self, now.layout(), mayBeLeft(), standing(), newest);
		return (next != null) ? take(next) : advance();
	}

	private boolean mayBeLeft() {
		LayoutAdoption taking = this.adoption;
		return taking == null || taking.isHeldUp();
	}

	private LayoutAdoption.Standing standing() {
		return LayoutAdoption.Standing.of(this.state.withheldBecause() == null, this.state.isMember(),
				this.startedNanos, this.time.nanos());
	}

	/** Ends operations some time after this node was removed. */
	private void leave() {
		LayoutParts now = this.parts;
		if (now == null || !this.leaving.isOver(isRemoved())) {
			this.hasLeft = false;
			return;
		}
		if (!this.hasLeft) {
			this.hasLeft = true;
			String why = String.valueOf(outside());
			logger.warn("No request is served from now on: {}", why);
			this.operations.coordinator()
				.become(View.none(now.self(), now.local(), ClusterConfiguration.policyOf(now.topology()), why));
		}
	}

	private Mono<Void> refuseEarlier() {
		EarlierChanges now = this.earlier;
		return (now != null && isSettled()) ? now.round() : Mono.empty();
	}

	/** Adds nodes that have asked for that, if nodes join by themselves. */
	private Mono<Void> addAsking() {
		if (!this.known.hasAsking()) {
			this.joinDueNanos = this.time.nanos() + JOIN_DELAY.toNanos();
			return Mono.empty();
		}
		if (this.time.nanos() - this.joinDueNanos < 0) {
			return Mono.empty();
		}
		this.joinDueNanos = this.time.nanos() + JOIN_DELAY.toNanos();
		List<String> asking = this.known.takeAsking();
		if (this.joining == null || !isStable()) {
			refuse(asking, (this.joining == null) ? "kvorum.cluster.join is manual on this node"
					: "a change of the nodes is under way");
			return Mono.empty();
		}
		return unlessTooFewAnswer(this.admin.join(asking)
			.doOnNext(decision -> logger.info("Adding nodes that asked to join. Asked: {}; new layout: {}", asking,
					decision.layout().topology()))
			.onErrorResume(LayoutRefusedException.class, refused -> {
				refuse(asking, String.valueOf(refused.getMessage()));
				return Mono.empty();
			}));
	}

	/** Logs why nodes are not added, which ask again and again. */
	private void refuse(List<String> asking, String why) {
		if (!why.equals(this.joinRefused)) {
			logger.info("Nodes {} ask to join, but must wait: {}", asking, why);
		}
		this.joinRefused = why;
	}

	/** Finds out what moves, which takes up to seconds with many nodes. */
	private Mono<Void> findMoves() {
		LayoutParts now = this.parts;
		Moves found = this.moves;
		if (now == null || !now.layout().isMoving() || (found != null && found.number == now.layout().number())) {
			return Mono.empty();
		}
		Layout layout = now.layout();
		return Mono.fromCallable(() -> TopologyChange.between(layout.before(), layout.after()))
			.subscribeOn(Schedulers.boundedElastic())
			.doOnNext(change -> this.moves = new Moves(layout.number(), change))
			.publishOn(this.thread.scheduler())
			.then();
	}

	private boolean isNewer(Layout newest) {
		LayoutParts now = this.parts;
		return now == null || newest.number() > now.layout().number();
	}

	/** The first step. */
	private Mono<Void> take(Layout next) {
		ChangeState change = new ChangeState(next, this.storage, this.storage);
		LayoutParts now = this.parts;
		boolean mayBegin = now != null && now.layout().number() == 0 && !this.state.isMember();
		// The placement of many nodes with zones and weights takes seconds.
		return Mono.fromCallable(() -> this.placements.apply(next.topology()))
			.subscribeOn(Schedulers.boundedElastic())
			.delayUntil(_ -> noticeOldDisk())
			.delayUntil(_ -> this.state.forgetOthers(next.topology()))
			.delayUntil(_ -> change.adopt(next.topology().member(this.self),
					now != null && this.state.withheldBecause() == null, (now != null) ? now.change() : null))
			// It has begun another cluster meanwhile, with an empty disk.
			.delayUntil(_ -> (mayBegin && this.state.isMember()) ? this.state.becomeStale() : Mono.empty())
			.publishOn(this.thread.scheduler())
			.flatMap(placement -> Mono.fromRunnable(() -> {
				run(Flux.never(), this.changing);
				run(Flux.never(), this.running);
				this.adoption = adoptionOf(next);
				run(begin(next, change, placement).run(), this.running);
				logger.info("This node takes layout {}: {}", next.number(), next.topology());
			}));
	}

	/**
	 * A cluster of one has itself decided to grow. A node that is one, and has no such
	 * decision on its disk, has an older disk, or had to begin with an empty one.
	 */
	private Mono<Void> noticeOldDisk() {
		LayoutParts now = this.parts;
		if (now == null || now.topology().size() > 1) {
			return Mono.empty();
		}
		return this.storage.read(InternalKeys.LAYOUT, Deadline.NONE)
			.ofType(Live.class)
			.filter(live -> LayoutRegister.decisionOf(live).layout().number() > now.layout().number())
			.hasElement()
			.flatMap(hasDecided -> hasDecided ? Mono.empty() : this.state.becomeStale());
	}

	private LayoutParts begin(Layout layout, ChangeState change) {
		return begin(layout, change, this.placements.apply(layout.topology()));
	}

	private LayoutParts begin(Layout layout, ChangeState change, RendezvousPlacement placement) {
		Topology topology = layout.topology();
		Member own = topology.member(this.self);
		LocalReplica local = this.locals.of(own, change, topology.size() == 1);
		// Before other nodes can ask by the new topology.
		this.storage.digests().become(topology.factor());
		this.state.become(topology, own, new Responder(this.storage, this.storage, placement, topology, own));
		this.handoffs.begin(change);
		this.repairs.become(topology, own);
		List<Replica> replicas = this.transport.become(layout, local, this.served);
		LayoutParts made = this.factory.of(layout, own, placement, change, local, replicas);
		this.parts = made;
		// Not all that this node worked with until now may have a place in this layout.
		this.transport.endOthers();
		this.earlier = new EarlierChanges(change, PeersConfiguration.othersOf(replicas, own), earlierPatience(),
				// A read repair may be made for as long after a read.
				this.operations.longest().multipliedBy(2), effectsOnEarlier(), this.time);
		this.known.belongs();
		this.handoffs.become(made);
		this.events.became(topology, own);
		return made;
	}

	private EarlierChanges.Effects effectsOnEarlier() {
		return new EarlierChanges.Effects() {

			@Override
			public void refused() {
				LiveLayout.this.transport.endOthers();
			}

			@Override
			public void over() {
				LiveLayout.this.repairs.fence();
			}

		};
	}

	/**
	 * As removed nodes have, and others to hear of a layout and end what is under way.
	 */
	private Duration earlierPatience() {
		Duration taking = this.operations.longest().plus(LOOK_INTERVAL).plus(LOOK_INTERVAL);
		Duration leaving = this.leaving.limit();
		return (taking.compareTo(leaving) > 0) ? taking : leaving;
	}

	private Mono<Void> advance() {
		LayoutParts now = this.parts;
		LayoutAdoption taking = this.adoption;
		if (now == null || taking == null) {
			return Mono.empty();
		}
		return (taking.phase() == LayoutAdoption.Phase.PREPARING) ? awaitNewNodes(now, taking)
				: Mono.fromRunnable(() -> announceWhenDrained(now, taking));
	}

	private Mono<Void> awaitNewNodes(LayoutParts now, LayoutAdoption taking) {
		List<Member> added = taking.added(now.self());
		return Flux.fromIterable(now.replicas())
			.filter(replica -> added.contains(replica.member()))
			.flatMap(replica -> replica.readVersion(InternalKeys.LAYOUT, Deadline.after(this.time, PROBE_TIMEOUT))
				.ofType(Failed.class)
				.map(failed -> Map.entry(replica.member(), failed.reason() == Reason.REBUILDING)), CONCURRENCY)
			.collectMap(Map.Entry::getKey, Map.Entry::getValue)
			.publishOn(this.thread.scheduler())
			.doOnNext(unready -> {
				if (taking.prepared(unready, member -> isThere(now, member))) {
					this.operations.become(now);
					taking.served();
					this.served = now.topology();
				}
			})
			.then();
	}

	/** A node that refuses this one is there, and further in the change. */
	private boolean isThere(LayoutParts now, Member member) {
		return now.replicas().get(member.index()).isThere() || this.transport.refusing().contains(member.address());
	}

	private void announceWhenDrained(LayoutParts now, LayoutAdoption taking) {
		if (taking.drained()) {
			this.transport.announce();
		}
		// Others may end streams of nodes with the layout before as soon as they are told
		// that there is none. All streams of this node must say so before.
		if (taking.phase() == LayoutAdoption.Phase.TELLING && this.transport.isAnnounced()) {
			now.change().announce();
			run(now.changeover().run(), this.changing);
			if (this.earlier != null) {
				this.earlier.told();
			}
			this.adoption = null;
		}
	}

	/**
	 * Exchanges layouts with one other node and those that refuse this one, or with all
	 * that are not told yet.
	 */
	private Mono<Void> tellAndAsk() {
		Layout newest = this.known.newest();
		boolean isNews = newest != null && newest.number() > this.toldNumber;
		List<String> refusing = this.transport.refusing();
		boolean isQuiet = isStable() && !this.known.lacksName() && refusing.isEmpty();
		Duration interval = isQuiet ? LOOK_INTERVAL : EXCHANGE_INTERVAL;
		if (!isNews && this.time.nanos() - this.exchangedNanos < interval.toNanos()) {
			return Mono.empty();
		}
		this.exchangedNanos = this.time.nanos();
		List<String> others = others(newest);
		if (others.isEmpty()) {
			return Mono.empty();
		}
		if (newest != null) {
			this.toldNumber = newest.number();
		}
		Set<String> asked = new LinkedHashSet<>((isNews || this.parts == null) ? others : refusing);
		asked.add(others.get(Math.floorMod(this.turn++, others.size())));
		String text = this.known.text();
		return Flux.fromIterable(asked)
			.flatMap(address -> this.transport.exchangeLayouts(address, text)
				.doOnNext(this.known::exchange)
				.onErrorComplete(), CONCURRENCY)
			.then();
	}

	private boolean isStable() {
		LayoutParts now = this.parts;
		return isSettled() && now != null && !now.layout().isMoving() && !isRemoved();
	}

	private List<String> others(@Nullable Layout newest) {
		Set<String> others = new LinkedHashSet<>(this.seeds);
		Stream.of(Optional.ofNullable(newest), Optional.ofNullable(layout()))
			.flatMap(Optional::stream)
			.flatMap(layout -> layout.topology().members().stream())
			.forEach(member -> others.add(member.address()));
		others.remove(this.self);
		return new ArrayList<>(others);
	}

	/** Decides that the change is over, if it is so for all nodes. */
	private Mono<Void> decideEnd() {
		LayoutParts now = this.parts;
		if (now == null || !isSettled() || isRemoved() || !now.layout().isMoving() || !now.changeover().isOver()) {
			return Mono.empty();
		}
		return unlessTooFewAnswer(this.admin.finish(now.layout()));
	}

	/** Reads the last decision, in case this node was not told of it. */
	private Mono<Void> look() {
		if (this.parts == null || this.time.nanos() - this.registerDueNanos < 0) {
			return Mono.empty();
		}
		this.registerDueNanos = this.time.nanos() + LOOK_INTERVAL.toNanos();
		return unlessTooFewAnswer(this.register.read().doOnNext(this::decided));
	}

	/** Tries again at the next round if too few nodes answer. */
	private static Mono<Void> unlessTooFewAnswer(Mono<?> decision) {
		return decision.then().onErrorComplete(OperationFailedException.class);
	}

}
