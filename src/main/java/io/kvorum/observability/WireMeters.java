package io.kvorum.observability;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.kvorum.wire.Refusal;
import io.kvorum.wire.Timeout;
import io.kvorum.wire.WireEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Meters of the guard of the HTTP port. */
final class WireMeters implements WireEvents {

	private final EnumMap<Refusal, Counter> refused;

	private final EnumMap<Timeout, Counter> timedOut;

	private final Counter connectionsRefused;

	private final Counter handshakesFailed;

	private final AtomicInteger connections = new AtomicInteger();

	WireMeters(MeterRegistry registry) {
		this.refused = byEach(Refusal.class,
				refusal -> Counter.builder("kvorum.http.refused")
					.description("Requests refused before they reached the application, or because of their body")
					.tag("reason", ReplicationMeters.text(refusal))
					.register(registry));
		this.timedOut = byEach(Timeout.class,
				timeout -> Counter.builder("kvorum.http.timeouts")
					.description("Connections that ran into a time limit")
					.tag("limit", ReplicationMeters.text(timeout))
					.register(registry));
		this.connectionsRefused = Counter.builder("kvorum.http.connections.refused")
			.description("Connections closed on accept because there were too many")
			.register(registry);
		this.handshakesFailed = Counter.builder("kvorum.http.handshakes.failed")
			.description("TLS handshakes that failed")
			.register(registry);
		Gauge.builder("kvorum.http.connections", this.connections, AtomicInteger::get)
			.description("Connections that are open")
			.baseUnit("connections")
			.register(registry);
	}

	private static <E extends Enum<E>> EnumMap<E, Counter> byEach(Class<E> type, Function<E, Counter> maker) {
		EnumMap<E, Counter> counters = new EnumMap<>(type);
		for (E constant : type.getEnumConstants()) {
			counters.put(constant, maker.apply(constant));
		}
		return counters;
	}

	@Override
	public void refused(Refusal refusal) {
		count(this.refused, refusal);
	}

	@Override
	public void timedOut(Timeout timeout) {
		count(this.timedOut, timeout);
	}

	@Override
	public void connectionRefused() {
		this.connectionsRefused.increment();
	}

	@Override
	public void handshakeFailed() {
		this.handshakesFailed.increment();
	}

	@Override
	public void connectionOpened() {
		this.connections.incrementAndGet();
	}

	@Override
	public void connectionClosed() {
		this.connections.decrementAndGet();
	}

	private static <E extends Enum<E>> void count(Map<E, Counter> counters, E constant) {
		Counter counter = counters.get(constant);
		if (counter != null) {
			counter.increment();
		}
	}

}
