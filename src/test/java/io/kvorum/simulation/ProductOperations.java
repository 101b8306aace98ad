package io.kvorum.simulation;

import java.time.Duration;

import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.replication.Coordinator;
import io.kvorum.replication.ReadRepair;
import io.kvorum.replication.ReplicationEvents;
import io.kvorum.replication.ReplicationSettings;
import io.kvorum.storage.CallerThreads;
import reactor.core.publisher.Mono;

/** The coordinator itself. */
final class ProductOperations implements Operations {

	static final Duration READ_TIMEOUT = Duration.ofSeconds(1);

	static final Duration WRITE_TIMEOUT = Duration.ofSeconds(2);

	private final Coordinator coordinator;

	ProductOperations(Parts parts) {
		SimulatedNode node = parts.node();
		ReadRepair repair = new ReadRepair(node.time(), WRITE_TIMEOUT, ReplicationEvents.NONE);
		repair.run().subscribe();
		this.coordinator = new Coordinator(parts.placement(), node.member(), parts.replicas(), parts.clock(),
				node.time(), parts.policy(),
				new ReplicationSettings(READ_TIMEOUT, WRITE_TIMEOUT, Duration.ofMillis(35)), repair,
				time -> Mono.create(sink -> node.after(time.toNanos(), () -> sink.success(0L))), CallerThreads.NONE,
				ReplicationEvents.NONE);
	}

	@Override
	public Mono<Integer> get(Key key, Replicas asked) {
		return this.coordinator.get(key, asked).map(Values::number);
	}

	@Override
	public Mono<?> put(Key key, Replicas asked, int value) {
		return this.coordinator.put(key, asked, "", Values.of(value), null);
	}

	@Override
	public Mono<?> delete(Key key, Replicas asked) {
		return this.coordinator.delete(key, asked);
	}

}
