package io.kvorum.simulation;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.AntiEntropy;
import io.kvorum.convergence.antientropy.PromiseRepair;
import io.kvorum.convergence.antientropy.RepairEvents;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.Responder;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.convergence.change.Changeover;
import io.kvorum.convergence.change.EarlierChanges;
import io.kvorum.convergence.change.Step;
import io.kvorum.convergence.hints.HintEvents;
import io.kvorum.convergence.hints.HintedHandoff;
import io.kvorum.convergence.quarantine.NodeState;
import io.kvorum.convergence.quarantine.Quarantine;
import io.kvorum.convergence.quarantine.SystemBoot;
import io.kvorum.convergence.tombstones.CollectedTombstones;
import io.kvorum.convergence.tombstones.CollectionEvents;
import io.kvorum.convergence.tombstones.CollectionRule;
import io.kvorum.convergence.tombstones.TombstoneCollector;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.Replica;
import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.StoreSize;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** All that makes the replica of a node equal to others, from its start to its crash. */
final class Convergence {

	/** In which a disk that was opened is read for its digests, in milliseconds. */
	private static final double MOST_READING_MILLIS = 500;

	private final SimulatedNode node;

	private final Layout layout;

	private final Topology topology;

	private final RendezvousPlacement placement;

	private final ConvergenceSettings settings;

	private final Design design;

	private final Chance chance;

	private final SimulatedIndex index;

	private final NodeRecord record;

	private final NodeState state;

	private final ExpiryHorizon horizon;

	private final CollectedTombstones collected;

	private final ChangeState change;

	/** What runs for this layout. */
	private final Disposable.Composite running = Disposables.composite();

	private @Nullable AntiEntropy antiEntropy;

	private @Nullable Changeover changeover;

	private @Nullable EarlierChanges earlier;

	Convergence(SimulatedNode node, Layout layout, RendezvousPlacement placement, ConvergenceSettings settings,
			Design design, Chance chance) {
		this.node = node;
		Topology topology = layout.topology();
		this.layout = layout;
		this.topology = topology;
		this.placement = placement;
		this.settings = settings;
		this.design = design;
		this.chance = chance;
		this.index = new SimulatedIndex(node);
		this.collected = new CollectedTombstones();
		this.record = new SimulatedRecord(node.disk());
		this.state = new NodeState(topology, node.member(), this.record,
				new Responder(this.index, this.index, placement, topology, node.member()), node.time(),
				design.mostAway(settings.mostAway()), SystemBoot.SYNCED);
		this.change = new ChangeState(layout, this.record, StoreSize.NONE);
		this.horizon = new ExpiryHorizon(node.time(), design.expiryMargin(ConvergenceSettings.EXPIRY_MARGIN));
	}

	/** Goes on with another layout that the disk has. */
	private Convergence(Convergence before, Layout layout, RendezvousPlacement placement, ChangeState change) {
		this.node = before.node;
		this.layout = layout;
		this.topology = layout.topology();
		this.placement = placement;
		this.settings = before.settings;
		this.design = before.design;
		this.chance = before.chance;
		this.index = before.index;
		this.record = before.record;
		this.state = before.state;
		this.change = change;
		this.horizon = before.horizon;
		this.collected = before.collected;
		this.state.become(this.topology, this.node.member(),
				new Responder(this.index, this.index, placement, this.topology, this.node.member()));
	}

	/** Before another layout is taken. */
	Mono<Void> forgetOthers(Layout next) {
		return this.state.forgetOthers(next.topology());
	}

	/** Ends what runs, and goes on with another layout that the disk has. */
	Convergence become(Layout layout, RendezvousPlacement placement, ChangeState change) {
		this.running.dispose();
		return new Convergence(this, layout, placement, change);
	}

	/** Begins the change of the layout, which others are told of from now on. */
	void announce() {
		this.change.announce();
		if (this.earlier != null) {
			this.earlier.told();
		}
		beginChange();
	}

	/** Whether the change is over on each node. */
	boolean isOver() {
		return this.changeover != null && this.changeover.isOver();
	}

	NodeState state() {
		return this.state;
	}

	ChangeState change() {
		return this.change;
	}

	/** Reads the step of the layout, or begins with a layout that the disk has not. */
	Mono<Void> takeLayout() {
		Layout last = ChangeState.layoutIn(this.record);
		if (this.layout.number() == 0 || (last != null && last.number() == this.layout.number())) {
			this.change.load();
			this.change.announce();
			return Mono.empty();
		}
		return this.change.adopt(this.node.member(), !this.record.isNew(), null)
			.then(Mono.fromRunnable(this.change::announce));
	}

	/** The change on a disk that nodes with the topology before are not refused in. */
	static @Nullable Layout openIn(SimulatedDisk disk) {
		NodeRecord record = new SimulatedRecord(disk);
		Layout layout = ChangeState.layoutIn(record);
		if (layout == null) {
			return null;
		}
		ChangeState change = new ChangeState(layout, record, StoreSize.NONE);
		change.load();
		return (change.step() == Step.OPEN) ? layout : null;
	}

	/** The progress of a change, for people. */
	String changeStatus() {
		return (this.changeover != null) ? String.valueOf(this.changeover.status()) : "";
	}

	/** Answers the queries of other nodes. */
	PeerQueries queries() {
		return this.change.orElse(this.state);
	}

	/** Selects the tombstones that the node has collected. */
	Predicate<Version> collected() {
		return this.collected::contains;
	}

	/** Whether nothing is known to differ. */
	boolean isConverged() {
		return this.antiEntropy != null && this.antiEntropy.isConverged();
	}

	/** Begins all of it but the change of the layout. */
	MissedStores run(Replica local, List<Replica> replicas) {
		SimulatedNode node = this.node;
		Alarms alarms = node.alarms();
		List<Replica> others = replicas.stream().filter(replica -> !replica.member().equals(node.member())).toList();
		RepairLog repairs = repairLog(this.record);
		this.state.whenRestarted(repairs::needAll);
		HintedHandoff handoff = new HintedHandoff(new SimulatedHints(node), others, replicas.size(),
				this.settings.handoff(), repairs::need, this.state, node.time(), alarms, HintEvents.NONE);
		CollectionRule rule = new CollectionRule(repairLogOfRule(repairs), this.index.keyHash(), handoff::oldestMillis,
				this.change::isEarlierOver, this.settings.grace(), ConvergenceSettings.REQUESTS_KEPT, node.time());
		KeySettling settling = (key, least) -> (node.operations() instanceof ProductOperations operations)
				? operations.settle(key, least) : Mono.just(Held.nothing());
		PromiseRepair promises = new PromiseRepair(local, replicas, this.index, this.placement, settling, node.time(),
				ConvergenceSettings.repair());
		AntiEntropy repairing = new AntiEntropy(local, replicas, this.index, this.placement, repairs,
				rule::isDispensable, this.state, node.time(), alarms, ConvergenceSettings.repair(), settling,
				RepairEvents.NONE);
		this.antiEntropy = repairing;
		EarlierChanges before = new EarlierChanges(this.change, others, this.settings.patienceWithEarlier(node),
				node.longestWrite(), effectsOnEarlier(repairs), node.time());
		this.earlier = before;
		begin(Mono.defer(before::round).then(Mono.defer(() -> alarms.after(Duration.ofMillis(500)))).repeat());
		node.after(this.chance.nanos(1, MOST_READING_MILLIS), () -> this.index.digests().completed());
		begin(new Quarantine(this.state, others, repairing::rebuild, this.design.promises(promises), handoff::giveUpAll,
				node.time(), alarms, ConvergenceSettings.quarantine(node.acceptsLoss()))
			.run());
		Changeover changeover = new Changeover(this.layout, node.member(), this.change, others,
				this.design.comparison(repairing), this.design.promises(promises), this.state::isMember,
				this.state::isToBeRebuilt, node::endOthers, ConvergenceSettings.PATIENCE, node.time(), alarms);
		this.changeover = changeover;
		if (this.design.repairs()) {
			begin(handoff.run());
			begin(repairing.run());
		}
		begin(new TombstoneCollector(this.index, this.index, rule, this.collected, node.time(), alarms,
				ConvergenceSettings.COLLECT_INTERVAL, ConvergenceSettings.EXPIRY_MARGIN, CollectionEvents.NONE)
			.run());
		begin(Mono.defer(this::collectExpired)
			.then(Mono.defer(() -> alarms.after(Duration.ofNanos(this.chance.nanos(100, 5_000)))))
			.repeat());
		return handoff;
	}

	private EarlierChanges.Effects effectsOnEarlier(RepairLog repairs) {
		return new EarlierChanges.Effects() {

			@Override
			public void refused() {
				Convergence.this.node.endOthers();
			}

			@Override
			public void over() {
				repairs.fence();
			}

		};
	}

	/** Begins the change of the layout. */
	void beginChange() {
		if (this.changeover != null) {
			begin(this.changeover.run());
		}
	}

	private RepairLog repairLog(NodeRecord record) {
		RepairLog log = new RepairLog(this.topology, this.node.member(), record);
		log.load();
		return log;
	}

	private RepairLog repairLogOfRule(RepairLog repairs) {
		NodeRecord forged = this.design.forgedRepairs(this.topology);
		return (forged != null) ? repairLog(forged) : repairs;
	}

	private void begin(Flux<?> work) {
		this.running.add(work.subscribe(_ -> {
		}, this.node::fail));
	}

	/** As the storage engine does: what has expired long ago becomes a tombstone. */
	private Mono<Void> collectExpired() {
		long horizonMillis = this.horizon.millis();
		DiskContent content = this.node.disk().content();
		return Flux.fromIterable(List.copyOf(content.entries.entrySet()))
			.filter(entry -> entry.getValue() instanceof Live live && live.expiresAtMillis() <= horizonMillis)
			.flatMap(entry -> bury(entry.getKey(), entry.getValue().version()))
			.then();
	}

	private Mono<Boolean> bury(Key key, Version version) {
		return this.node.disk().write(() -> {
			boolean buried = this.node.disk().content().bury(key, version, this.node.time().millis());
			if (buried) {
				this.node.log(() -> "buries k%d %s".formatted(key.bytes()[0], Values.text(version)));
			}
			return buried;
		});
	}

}
