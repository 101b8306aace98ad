package io.kvorum.observability;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairEvents;
import io.kvorum.convergence.change.LayoutEvents;
import io.kvorum.convergence.hints.HintEvents;
import io.kvorum.convergence.tombstones.CollectionEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/**
 * Meters of convergence: hints, repairs and the removal of tombstones.
 */
final class ConvergenceMeters implements RepairEvents, HintEvents, CollectionEvents, LayoutEvents {

	private final MeterRegistry registry;

	/** By the address of the peer. */
	private final Map<String, OfPeer> peers = new ConcurrentHashMap<>();

	private final Counter letGo;

	private final Counter collected;

	private final AtomicInteger waitingForRepair;

	private final AtomicInteger waitingForHints;

	ConvergenceMeters(MeterRegistry registry) {
		this.registry = registry;
		this.letGo = Counter.builder("kvorum.repair.let.go")
			.description("Entries removed because they do not belong here or no other node knows them")
			.baseUnit("entries")
			.register(registry);
		this.collected = Counter.builder("kvorum.tombstones.collected")
			.description("Tombstones removed because no node needs them any more")
			.register(registry);
		this.waitingForRepair = waiting("repair", registry);
		this.waitingForHints = waiting("hints", registry);
	}

	private static AtomicInteger waiting(String reason, MeterRegistry registry) {
		AtomicInteger tombstones = new AtomicInteger();
		Gauge.builder("kvorum.tombstones.waiting", tombstones, AtomicInteger::get)
			.tag("reason", reason)
			.description("Tombstones that are old enough to be removed and have to wait, as of the last round")
			.strongReference(true)
			.register(registry);
		return tombstones;
	}

	/** The counters of a peer. They stay when it leaves: what they count has happened. */
	private OfPeer of(Member peer) {
		return this.peers.computeIfAbsent(peer.address(), _ -> new OfPeer(peer, this.registry));
	}

	@Override
	public void became(Topology topology, Member self) {
		topology.members().stream().filter(member -> !member.equals(self)).forEach(this::of);
	}

	@Override
	public void compared(Member peer, long bytes) {
		of(peer).compared.increment((double) bytes);
	}

	@Override
	public void differing(Member peer, int keys) {
		of(peer).differing.increment(keys);
	}

	@Override
	public void moved(Member peer, Direction direction, int entries, long bytes) {
		Moved moved = switch (direction) {
			case HERE -> of(peer).here;
			case THERE -> of(peer).there;
		};
		moved.entries.increment(entries);
		moved.bytes.increment((double) bytes);
	}

	@Override
	public void letGo(int entries) {
		this.letGo.increment(entries);
	}

	@Override
	public void ended(Member peer, boolean complete, long nanos) {
		Timer runs = complete ? of(peer).complete : of(peer).partial;
		runs.record(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void kept(Member target) {
		of(target).kept.increment();
	}

	@Override
	public void dropped(Member target, Cause cause, long hints) {
		Objects.requireNonNull(of(target).dropped.get(cause)).increment((double) hints);
	}

	@Override
	public void replayed(Member target, long bytes) {
		of(target).replayed.increment();
		of(target).replayedBytes.increment((double) bytes);
	}

	@Override
	public void collected(int tombstones) {
		this.collected.increment(tombstones);
	}

	@Override
	public void waiting(int forRepair, int forHints) {
		this.waitingForRepair.set(forRepair);
		this.waitingForHints.set(forHints);
	}

	/** Counters of the entries that moved in one direction. */
	private record Moved(Counter entries, Counter bytes) {
	}

	private static final class OfPeer {

		private final Counter compared;

		private final Counter differing;

		private final Moved here;

		private final Moved there;

		private final Timer complete;

		private final Timer partial;

		private final Counter kept;

		private final Map<Cause, Counter> dropped = new EnumMap<>(Cause.class);

		private final Counter replayed;

		private final Counter replayedBytes;

		private final Member peer;

		private final MeterRegistry registry;

		OfPeer(Member peer, MeterRegistry registry) {
			this.peer = peer;
			this.registry = registry;
			this.compared = counter("kvorum.repair.compared", "Data exchanged with the peer to find differences")
				.baseUnit("bytes")
				.register(registry);
			this.differing = counter("kvorum.repair.differing", "Keys that were found to differ from the peer's")
				.baseUnit("keys")
				.register(registry);
			this.here = moved(Direction.HERE);
			this.there = moved(Direction.THERE);
			this.complete = runs("complete");
			this.partial = runs("partial");
			this.kept = counter("kvorum.hints.kept", "Hints kept for the peer").register(registry);
			for (Cause cause : Cause.values()) {
				this.dropped.put(cause, dropped(cause));
			}
			this.replayed = counter("kvorum.hints.replayed", "Hints replayed to the peer").register(registry);
			this.replayedBytes = counter("kvorum.hints.replayed.size",
					"Size of the entries of the hints replayed to the peer")
				.baseUnit("bytes")
				.register(registry);
		}

		private Counter.Builder counter(String name, String description) {
			return Counter.builder(name).tag("peer", this.peer.address()).description(description);
		}

		private Moved moved(Direction direction) {
			return new Moved(
					counter("kvorum.repair.moved", "Entries that repairs moved between this node and the peer")
						.tag("direction", text(direction))
						.baseUnit("entries")
						.register(this.registry),
					counter("kvorum.repair.moved.size",
							"Size of the entries that repairs moved between this node and the peer")
						.tag("direction", text(direction))
						.baseUnit("bytes")
						.register(this.registry));
		}

		private Timer runs(String outcome) {
			return Timer.builder("kvorum.repair.runs")
				.tag("peer", this.peer.address())
				.tag("outcome", outcome)
				.description("Repairs with the peer that have ended, with the time that each took")
				.register(this.registry);
		}

		private Counter dropped(Cause cause) {
			return counter("kvorum.hints.dropped", "Hints not kept, or given up: the peer is repaired instead")
				.tag("cause", text(cause))
				.register(this.registry);
		}

		private static String text(Enum<?> value) {
			return value.name().toLowerCase(Locale.ROOT);
		}

	}

}
