package io.kvorum.observability;

import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of the convergence of this node with its peers; none for a node without peers.
 */
final class ConvergenceGauges implements MeterBinder {

	private final Convergence convergence;

	private final TimeSource time;

	private final long startedNanos;

	ConvergenceGauges(Convergence convergence, TimeSource time) {
		this.convergence = convergence;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		if (this.convergence.peers().isEmpty()) {
			return;
		}
		this.convergence.peers().forEach(peer -> bind(peer, registry));
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
		gauge("kvorum.change.step", ConvergenceGauges::step)
			.description("Step of a change of the nodes: 0 without one, 1 open, 2 closed, 3 synced, 4 done")
			.register(registry);
		gauge("kvorum.converged", it -> it.convergence.status().converged() ? 1 : 0)
			.description(
					"1 while this node votes, no slice is in need of a repair or under repair, no entry is misplaced, "
							+ "no hints wait here, and all peers are there; 0 after a start until all is compared")
			.register(registry);
	}

	private int step() {
		ChangeStatus change = this.convergence.change();
		return (change != null) ? change.step().code() : 0;
	}

	private void bind(Member peer, MeterRegistry registry) {
		gauge("kvorum.hints.waiting", it -> it.of(peer).hints().hints()).tag("peer", peer.address())
			.description("Hints that wait for the peer")
			.baseUnit("hints")
			.register(registry);
		gauge("kvorum.hints.waiting.size", it -> it.of(peer).hints().bytes()).tag("peer", peer.address())
			.description("Size of the entries of the hints that wait for the peer")
			.baseUnit("bytes")
			.register(registry);
		age("kvorum.hints.oldest.age", it -> it.oldestHintAgeMillis(peer)).tag("peer", peer.address())
			.description("Upper bound of the age of the hints that wait for the peer; 0 if there are none")
			.register(registry);
		age("kvorum.repair.oldest.age", it -> it.oldestRepairAgeMillis(peer)).tag("peer", peer.address())
			.description("Age of the oldest last repair of a slice with the peer; "
					+ "the time since the start of this node if a slice was never repaired")
			.register(registry);
	}

	private Peer of(Member member) {
		return this.convergence.status()
			.peers()
			.stream()
			.filter(peer -> peer.member().equals(member))
			.findFirst()
			.orElseThrow();
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

	private double oldestHintAgeMillis(Member peer) {
		Waiting waiting = of(peer).hints();
		return (waiting.hints() > 0) ? ageMillis(waiting.oldestMillis()) : 0;
	}

	/**
	 * The age of the oldest repair of a slice with this peer. A slice without a repair
	 * counts from the start of this node. An age since 1970 would raise an alert in every
	 * new cluster, and NaN would never raise one.
	 */
	private double oldestRepairAgeMillis(Member peer) {
		long oldest = of(peer).repair().oldestRepairMillis();
		return (oldest != RepairLog.NEVER) ? ageMillis(oldest)
				: TimeUnit.NANOSECONDS.toMillis(this.time.nanos() - this.startedNanos);
	}

	private double ageMillis(long sinceMillis) {
		return Math.max(0, this.time.millis() - sinceMillis);
	}

}
