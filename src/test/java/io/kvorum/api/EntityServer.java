package io.kvorum.api;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.CoordinationEvents;
import io.kvorum.coordination.CoordinationSettings;
import io.kvorum.coordination.CoordinationSettings.Idempotency;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Coordinators;
import io.kvorum.coordination.ReadRepair;
import io.kvorum.coordination.View;
import io.kvorum.kv.Key;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Operation;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.testing.Now;
import io.kvorum.testing.Placements;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.SteeredTime;
import io.kvorum.wire.Drain;
import io.kvorum.wire.HttpPort;
import io.kvorum.wire.WireEvents;
import io.kvorum.wire.WireLimits;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import tools.jackson.databind.json.JsonMapper;

/**
 * The handler of entities behind the guard of the port, as in a node that is alone, on a
 * storage that a test steers; and what they count.
 */
final class EntityServer implements AutoCloseable, CoordinationEvents, RequestEvents {

	static final int MAX_VALUE_BYTES = 1 << 20;

	final FullStorage storage = new FullStorage();

	/** What became of operations and requests. */
	final List<String> events = new CopyOnWriteArrayList<>();

	/** The requests that whoever traces was asked about. */
	final List<String> followed = new CopyOnWriteArrayList<>();

	final Coordinator coordinator;

	private final DisposableServer server;

	EntityServer() {
		this(AccessControl.off(new SteeredTime()), new SteeredTime());
	}

	EntityServer(AccessControl access, SteeredTime time) {
		this(access, time, 4 * MAX_VALUE_BYTES);
	}

	/** With room for so many bytes of values on their way. */
	EntityServer(AccessControl access, SteeredTime time, int maxInFlightBytes) {
		HybridLogicalClock clock = new HybridLogicalClock(time);
		clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		Topology topology = Topology.alone();
		Member self = topology.members().getFirst();
		Duration timeout = Duration.ofSeconds(1);
		List<Replica> replicas = List.of(LocalReplica.alone(self, this.storage, clock, time));
		this.coordinator = new Coordinator(
				new View(Placements.of(topology), self, replicas, new ReplicationPolicy(1, 1)), clock, time,
				new CoordinationSettings(timeout, timeout, timeout, new Idempotency(Duration.ofMinutes(10), 1000)),
				new ReadRepair(time, timeout, this), MissedStores.NONE, _ -> Mono.never(), CallerThreads.NONE, this,
				Coordinators.rangesOf(topology, replicas, time));
		this.server = serve(this.coordinator, access, maxInFlightBytes, time, this, (request, _) -> {
			this.followed.add(request.method());
			return null;
		});
	}

	/** Serves the entities of a store. The caller ends it. */
	static DisposableServer serve(KeyValueStore store, AccessControl access, int maxInFlightBytes, SteeredTime time,
			RequestEvents events, RequestTraces traces) {
		return serve(store, access,
				new ApiSettings(MAX_VALUE_BYTES, maxInFlightBytes, Duration.ofSeconds(1), null, false, false), time,
				events, traces);
	}

	/** Serves the entities of a store. The caller ends it. */
	static DisposableServer serve(KeyValueStore store, AccessControl access, ApiSettings settings, SteeredTime time,
			RequestEvents events, RequestTraces traces) {
		ProblemWriter problems = new ProblemWriter(new JsonMapper());
		EntityHandler handler = new EntityHandler(store, new AccessGate(access, problems, time, AccessEvents.NONE),
				settings, problems, time, events,
				new RequestObservations(traces, new SlowRequests(null, time.nanos()), time));
		return new HttpPort(WireLimits.defaults(), WireEvents.NONE)
			.with(new EntityRoute(handler), new Drain(Duration.ZERO))
			.apply(HttpServer.create().host("127.0.0.1").port(0))
			.bindNow();
	}

	RawHttp connect() {
		return RawHttp.connect(this.server.port());
	}

	boolean holds(Key key) {
		return Now.of(this.storage.stored.read(key, Deadline.NONE)) != null;
	}

	@Override
	public void decided(Operation operation, Consistency consistency, Outcome outcome) {
		this.events.add("%s %s".formatted(operation, outcome));
	}

	@Override
	public void answered(String method, int status, long nanos) {
		this.events.add("%s %d".formatted(method, status));
	}

	@Override
	public void close() {
		this.server.disposeNow();
	}

}
