package io.kvorum.transport;

import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Topology;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.testing.Ports;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/** Nodes of a cluster in one JVM, on free loopback ports, with their transports only. */
final class TransportNodes implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** Most peers in tests open no streams. */
	private static final Duration NOT_FOR_LONG = Duration.ofMillis(200);

	/** Knows the event loop of the calling thread, as a node does. */
	private static final class Callers implements CallerThreads {

		private final FastThreadLocal<Executor> loops = new FastThreadLocal<>();

		@Override
		public Executor current() {
			Executor loop = this.loops.get();
			return (loop != null) ? loop : Runnable::run;
		}

		void learn(EventLoop loop) {
			this.loops.set(loop);
		}

	}

	final List<String> addresses = new ArrayList<>();

	final Topology topology;

	private final LoopResources loops = LoopResources.create("transport-test", 2, true);

	private final Callers callers = new Callers();

	private final List<ReplicaTransport> transports = new ArrayList<>();

	TransportNodes(int nodes) {
		for (int i = 0; i < nodes; i++) {
			this.addresses.add("http://127.0.0.1:" + Ports.free());
		}
		this.topology = Topology.of(this.addresses, nodes);
	}

	/** Limits that are short where a test waits for them. */
	static TransportSettings settings(@Nullable String secret, int maxInFlight) {
		return settings(secret, maxInFlight, Duration.ofSeconds(1));
	}

	/** With room for handshakes of TLS, the first of which take long. */
	static TransportSettings settings(@Nullable String secret, @Nullable ReplicaTls tls) {
		return new TransportSettings(secret, tls, Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofMillis(30),
				NOT_FOR_LONG, 20_000, 4 << 20);
	}

	static TransportSettings settings(@Nullable String secret, int maxInFlight, Duration silenceTimeout) {
		return new TransportSettings(secret, null, Duration.ofMillis(500), silenceTimeout, Duration.ofMillis(30),
				NOT_FOR_LONG, maxInFlight, 2 << 20);
	}

	/** A stream that could not be opened, or has ended, is not tried again in time. */
	static TransportSettings probingNever() {
		return new TransportSettings("the secret", null, Duration.ofSeconds(5), Duration.ofSeconds(5),
				Duration.ofHours(1), PATIENCE, 20_000, 2 << 20);
	}

	static Handshake handshake(String secret) {
		return new Handshake(secret, new SecureRandom()::nextLong, TimeSource.SYSTEM);
	}

	TestReplica replica(int node) {
		return new TestReplica(this.topology.member(this.addresses.get(node)));
	}

	ReplicaTransport start(TestReplica local) {
		return start(local, settings("the secret", 20_000));
	}

	ReplicaTransport start(TestReplica local, TransportSettings settings) {
		return start(local, settings, this.topology);
	}

	ReplicaTransport start(TestReplica local, TransportSettings settings, Topology view) {
		return start(local, settings, view, TransportEvents.NONE);
	}

	ReplicaTransport start(TestReplica local, TransportSettings settings, TransportEvents events) {
		return start(local, settings, this.topology, events);
	}

	ReplicaTransport start(TestReplica local, TransportSettings settings, Topology view, TransportEvents events) {
		return start(local, settings, view, events, socketAddress(local.member().address()), TimeSource.SYSTEM);
	}

	/** Starts a node that listens elsewhere than others call it, or with other clocks. */
	ReplicaTransport start(TestReplica local, TransportSettings settings, Topology view, TransportEvents events,
			InetSocketAddress listening, TimeSource time) {
		ReplicaTransport transport = new ReplicaTransport(listening, view,
				(_, topologies) -> topologies.contains(view.parts().getFirst().fingerprint()), local, answers(),
				settings, this.loops, WebClient.builder(), this.callers::learn, this.callers, time,
				new SecureRandom()::nextLong, events);
		this.transports.add(transport);
		transport.start();
		return transport;
	}

	private static PlainAnswers answers() {
		return new PlainAnswers() {

			@Override
			public String exchangeLayouts(String theirs) {
				return theirs;
			}

			@Override
			public Mono<String> report() {
				return Mono.just("a report");
			}

		};
	}

	static InetSocketAddress socketAddress(String address) {
		URI uri = URI.create(address);
		return new InetSocketAddress(uri.getHost(), uri.getPort());
	}

	/** The replica on another node, as this transport reaches it. */
	Replica remote(ReplicaTransport from, int node) {
		return from.replicas().get(this.topology.member(this.addresses.get(node)).index());
	}

	static Deadline in(Duration time) {
		return Deadline.after(TimeSource.SYSTEM, time);
	}

	static Deadline soon() {
		return in(Duration.ofSeconds(10));
	}

	static Reply reply(Mono<Reply> mono) {
		Reply reply = mono.block(PATIENCE);
		if (reply == null) {
			throw new AssertionError("there is no reply");
		}
		return reply;
	}

	boolean isThere(ReplicaTransport from, int node) {
		return remote(from, node).expectedNanos() != Replica.AWAY;
	}

	void awaitThere(ReplicaTransport from, int node) {
		await("node %d is there".formatted(node), () -> hasAllStreams(from, node));
	}

	boolean hasAllStreams(ReplicaTransport from, int node) {
		return from.peers()
			.stream()
			.anyMatch(peer -> peer.address().equals(this.addresses.get(node)) && peer.streams() == peer.wanted());
	}

	void awaitAway(ReplicaTransport from, int node) {
		await("node %d is away".formatted(node), () -> !isThere(from, node));
	}

	/** Looks again and again until it is so, for as long as a slow machine needs. */
	static void await(String what, BooleanSupplier condition) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() > end) {
				throw new AssertionError("not so within %s: %s".formatted(PATIENCE, what));
			}
			pause();
		}
	}

	private static void pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(5);
		}
		catch (InterruptedException ex) {
			throw new AssertionError("interrupted", ex);
		}
	}

	/** Stops it as Spring does, and returns when it says that it is done. */
	static void stop(ReplicaTransport transport) {
		CountDownLatch done = new CountDownLatch(1);
		transport.stop(done::countDown);
		try {
			if (!done.await(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
				throw new AssertionError("the transport did not stop");
			}
		}
		catch (InterruptedException ex) {
			throw new AssertionError("interrupted", ex);
		}
	}

	@Override
	public void close() {
		this.transports.stream().filter(ReplicaTransport::isRunning).forEach(TransportNodes::stop);
		this.loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(PATIENCE);
	}

}
