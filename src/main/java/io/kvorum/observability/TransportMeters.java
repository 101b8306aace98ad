package io.kvorum.observability;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.transport.TransportEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** Meters of the traffic between nodes. Peers are few, so each has its own. */
final class TransportMeters implements TransportEvents {

	private static final Duration SHORTEST = Duration.ofNanos(100_000);

	private static final Duration LONGEST = Duration.ofSeconds(10);

	private final MeterRegistry registry;

	private final ClockRefusals clockRefusals;

	private final Map<String, OfPeer> peers = new ConcurrentHashMap<>();

	private final Map<Called, Timer> calls = new ConcurrentHashMap<>();

	private final DistributionSummary batchSize;

	private final Map<Refused, Counter> refused = new EnumMap<>(Refused.class);

	TransportMeters(MeterRegistry registry, ClockRefusals clockRefusals) {
		this.registry = registry;
		this.clockRefusals = clockRefusals;
		this.batchSize = DistributionSummary.builder("kvorum.peer.batch.size")
			.description("Operations and replies sent to a peer in one buffer")
			.baseUnit("frames")
			.register(registry);
		for (Refused why : Refused.values()) {
			this.refused.put(why, counter(why));
		}
	}

	private Counter counter(Refused why) {
		return Counter.builder("kvorum.peer.streams.refused")
			.tag("reason", ReplicationMeters.text(why))
			.description("Streams to this node that were refused")
			.register(this.registry);
	}

	@Override
	public void linked(Member peer) {
		this.peers.computeIfAbsent(peer.address(), address -> new OfPeer(address, this.registry));
	}

	@Override
	public void unlinked(Member peer) {
		OfPeer meters = this.peers.remove(peer.address());
		if (meters != null) {
			meters.gauges.forEach(this.registry::remove);
		}
	}

	@Override
	public void replied(Member peer, Call call, Reply reply, long nanos) {
		this.calls.computeIfAbsent(new Called(peer, call, reply.outcome()), this::timer)
			.record(nanos, TimeUnit.NANOSECONDS);
		if (reply instanceof Failed failed && failed.reason() == Reason.CLOCK) {
			this.clockRefusals.refusedBy(peer);
		}
	}

	private Timer timer(Called called) {
		return Timer.builder("kvorum.peer.calls")
			.tag("peer", called.peer.address())
			.tag("call", ReplicationMeters.text(called.call))
			.tag("outcome", called.outcome)
			.description("Calls of a peer's replica, until it replied or failed to")
			.publishPercentileHistogram()
			.minimumExpectedValue(SHORTEST)
			.maximumExpectedValue(LONGEST)
			.register(this.registry);
	}

	@Override
	public void batchSent(int frames) {
		this.batchSize.record(frames);
	}

	@Override
	public void opened(Member peer) {
		ofOpen(peer).incrementAndGet();
	}

	@Override
	public void closed(Member peer) {
		ofOpen(peer).decrementAndGet();
	}

	private AtomicInteger ofOpen(Member peer) {
		OfPeer meters = this.peers.get(peer.address());
		// The last stream to a node that has left may end after that.
		return (meters != null) ? meters.open : new AtomicInteger();
	}

	@Override
	public void refused(Refused why) {
		Objects.requireNonNull(this.refused.get(why)).increment();
	}

	private record Called(Member peer, Call call, String outcome) {
	}

	/** The open streams to a peer. */
	private static final class OfPeer {

		private final AtomicInteger open = new AtomicInteger();

		private final List<Gauge> gauges;

		OfPeer(String address, MeterRegistry registry) {
			this.gauges = List.of(
					Gauge.builder("kvorum.peer.up", this.open, streams -> (streams.get() > 0) ? 1 : 0)
						.tag("peer", address)
						.description("1 while the peer is there: calls go to it; 0 while they fail at once")
						.strongReference(true)
						.register(registry),
					Gauge.builder("kvorum.peer.streams", this.open, AtomicInteger::get)
						.tag("peer", address)
						.description("Streams to the peer that are open")
						.baseUnit("streams")
						.strongReference(true)
						.register(registry));
		}

	}

}
