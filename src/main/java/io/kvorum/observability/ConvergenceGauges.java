package io.kvorum.observability;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.change.LayoutEvents;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of the convergence of this node with its peers; none for a node without peers.
 */
final class ConvergenceGauges implements MeterBinder, LayoutEvents {

	private final Convergence convergence;

	private final TimeSource time;

	private final long startedNanos;

	/** The gauges of each peer, by its address. */
	private final Map<String, List<Meter>> ofPeers = new HashMap<>();

	private @Nullable MeterRegistry registry;

	/** Whether the gauges of this node are there. */
	private boolean isBound;

	ConvergenceGauges(Convergence convergence, TimeSource time) {
		this.convergence = convergence;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	@Override
	public synchronized void bindTo(MeterRegistry registry) {
		this.registry = registry;
		bind(this.convergence.peers());
	}

	@Override
	public synchronized void became(Topology topology, Member self) {
		bind(topology.members().stream().filter(member -> !member.equals(self)).toList());
	}

	private void bind(List<Member> peers) {
		MeterRegistry registry = this.registry;
		if (registry == null) {
			return;
		}
		Set<String> addresses = peers.stream().map(Member::address).collect(Collectors.toSet());
		this.ofPeers.entrySet().removeIf(of -> {
			boolean hasLeft = !addresses.contains(of.getKey());
			if (hasLeft) {
				of.getValue().forEach(registry::remove);
			}
			return hasLeft;
		});
		peers.forEach(peer -> this.ofPeers.computeIfAbsent(peer.address(), _ -> bind(peer.address(), registry)));
		if (!this.isBound && !peers.isEmpty()) {
			this.isBound = true;
			bindNode(registry);
		}
	}

	private void bindNode(MeterRegistry registry) {
		gauge("kvorum.repair.needs", it -> it.convergence.status().slicesInNeed())
			.description("Slices in need of a repair, counted once for each peer")
			.baseUnit("slices")
			.register(registry);
		gauge("kvorum.voting", it -> it.convergence.status().mayVote() ? 1 : 0)
			.description("1 while this node votes; 0 in quarantine, while it stores and does not report what it holds")
			.register(registry);
		gauge("kvorum.quarantine.parts.left", ConvergenceGauges::partsLeft)
			.description("Parts of the data to rebuild before this node leaves quarantine")
			.register(registry);
		gauge("kvorum.converged", it -> it.convergence.status().converged() ? 1 : 0)
			.description(
					"1 while this node votes, no slice is in need of a repair or under repair, no entry is misplaced, "
							+ "no hints wait here, and all peers are there; 0 after a start until all is compared")
			.register(registry);
	}

	private List<Meter> bind(String peer, MeterRegistry registry) {
		return List.of(
				gauge("kvorum.hints.waiting", it -> it.hints(peer).hints()).tag("peer", peer)
					.description("Hints that wait for the peer")
					.baseUnit("hints")
					.register(registry),
				gauge("kvorum.hints.waiting.size", it -> it.hints(peer).bytes()).tag("peer", peer)
					.description("Size of the entries of the hints that wait for the peer")
					.baseUnit("bytes")
					.register(registry),
				age("kvorum.hints.oldest.age", it -> it.oldestHintAgeMillis(peer)).tag("peer", peer)
					.description("Upper bound of the age of the hints that wait for the peer; 0 if there are none")
					.register(registry),
				age("kvorum.repair.oldest.age", it -> it.oldestRepairAgeMillis(peer)).tag("peer", peer)
					.description("Age of the oldest last repair of a slice with the peer; "
							+ "the time since the start of this node if a slice was never repaired")
					.register(registry));
	}

	/** The state of a peer; empty if it has just left. */
	private Optional<Peer> of(String address) {
		return this.convergence.status()
			.peers()
			.stream()
			.filter(peer -> peer.member().address().equals(address))
			.findFirst();
	}

	private Waiting hints(String peer) {
		return of(peer).map(Peer::hints).orElse(Waiting.NONE);
	}

	private Gauge.Builder<ConvergenceGauges> gauge(String name, ToDoubleFunction<ConvergenceGauges> value) {
		return Gauge.builder(name, this, value).strongReference(true);
	}

	private TimeGauge.Builder<ConvergenceGauges> age(String name, ToDoubleFunction<ConvergenceGauges> millis) {
		return TimeGauge.builder(name, this, TimeUnit.MILLISECONDS, millis).strongReference(true);
	}

	private double partsLeft() {
		QuarantineProgress progress = this.convergence.status().quarantine();
		return progress.partsToDo() - progress.partsDone();
	}

	private double oldestHintAgeMillis(String peer) {
		Waiting waiting = hints(peer);
		return (waiting.hints() > 0) ? ageMillis(waiting.oldestMillis()) : 0;
	}

	/**
	 * The age of the oldest repair of a slice with this peer. A slice without a repair
	 * counts from the start of this node. An age since 1970 would raise an alert in every
	 * new cluster, and NaN would never raise one.
	 */
	private double oldestRepairAgeMillis(String peer) {
		long oldest = of(peer).map(it -> it.repair().oldestRepairMillis()).orElse(RepairLog.NEVER);
		return (oldest != RepairLog.NEVER) ? ageMillis(oldest)
				: TimeUnit.NANOSECONDS.toMillis(this.time.nanos() - this.startedNanos);
	}

	private double ageMillis(long sinceMillis) {
		return Math.max(0, this.time.millis() - sinceMillis);
	}

}
