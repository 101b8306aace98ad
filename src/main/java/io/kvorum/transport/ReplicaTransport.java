package io.kvorum.transport;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RouterFunctions;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * A node's end of the replica protocol: listens for peers and keeps streams to them.
 * Starts after the store has opened, and stops before it closes.
 */
public final class ReplicaTransport implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ReplicaTransport.class);

	/** Starts after the store and before the web server. */
	private static final int PHASE = 1000;

	/** Time that peers have to finish their operations when this node stops. */
	private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration CHECK_INTERVAL = Duration.ofMillis(10);

	/** Longest life of a connection that has not become a stream. */
	private static final Duration ACCEPT_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration CHORES_INTERVAL = Duration.ofSeconds(1);

	/**
	 * Longest time for which an address from DNS is cached, whatever its TTL. A peer may
	 * restart with another address and is away until that is known. Names that are not
	 * found are not cached.
	 */
	private static final Duration ADDRESS_LIFETIME = Duration.ofSeconds(1);

	private final InetSocketAddress address;

	private final ReplicaEndpoint endpoint;

	private final LoopResources loops;

	private final Consumer<EventLoop> onConnection;

	private final PendingConnections pending = new PendingConnections(ACCEPT_TIMEOUT);

	/** The links to all nodes that operations under way may need, by their address. */
	private final Map<String, PeerLink> links = new ConcurrentHashMap<>();

	private final TransportSettings settings;

	private final Member self;

	private final Handshake handshake;

	private final List<EventLoop> eventLoops;

	/** A client for each event loop. */
	private final List<WebClient> pinned;

	/** The event loop of the first of these clients. */
	private final Scheduler firstLoop;

	private final CallerThreads callers;

	private final TimeSource time;

	private final TransportEvents events;

	private volatile Topology topology;

	private volatile TopologyNames names;

	private volatile List<Replica> replicas;

	private volatile @Nullable DisposableServer server;

	private Disposable.Composite running = Disposables.composite();

	/**
	 * Creates a transport that is not started.
	 * @param address to listen on
	 * @param accepted which other nodes this node works with
	 * @param local the replica of this node
	 * @param answers answers what other nodes ask without a stream
	 * @param loops shared with the public server: a request, its streams and their
	 * replies stay on one event loop
	 * @param onConnection receives the event loop of each connection, on that loop
	 * @param random unpredictable numbers; used by this constructor only
	 */
	public ReplicaTransport(InetSocketAddress address, Topology topology, Acceptance accepted, Replica local,
			PlainAnswers answers, TransportSettings settings, LoopResources loops, WebClient.Builder clients,
			Consumer<EventLoop> onConnection, CallerThreads callers, TimeSource time, LongSupplier random,
			TransportEvents events) {
		this.address = address;
		this.settings = settings;
		this.loops = loops;
		this.onConnection = onConnection;
		this.callers = callers;
		this.time = time;
		this.events = events;
		this.self = local.member();
		this.handshake = new Handshake(settings.secret(), random, time);
		this.endpoint = new ReplicaEndpoint(topology, accepted, this.self, local, settings, time, callers, this.pending,
				this.handshake, this::wake, answers, events);
		this.eventLoops = eventLoops(loops);
		this.firstLoop = Schedulers.fromExecutorService(this.eventLoops.getFirst());
		this.pinned = this.eventLoops.stream().map(loop -> client(clients, loop)).toList();
		this.topology = topology;
		this.names = TopologyNames.of(topology);
		this.replicas = linked(topology, this.names, local);
	}

	/** The replicas of all members by index, with links to all other members. */
	private List<Replica> linked(Topology topology, TopologyNames names, Replica local) {
		List<Replica> replicas = new ArrayList<>();
		for (Member member : topology.members()) {
			if (member.id() == this.self.id()) {
				replicas.add(local);
				continue;
			}
			PeerLink link = this.links.computeIfAbsent(member.address(), _ -> link(member, topology, names));
			replicas.add(new RemoteReplica(member, link.ofLoops(), link.large(), this.callers, names));
		}
		return List.copyOf(replicas);
	}

	private static void start(PeerLink link) {
		link.state().stopping(false);
		Disposable.Composite started = Disposables.composite();
		link.streams().forEach(stream -> started.add(stream.run().subscribe()));
		link.started(started);
	}

	private PeerLink link(Member peer, Topology topology, TopologyNames names) {
		int loops = this.eventLoops.size();
		this.events.linked(peer);
		PeerState state = new PeerState(peer, loops + 1, this.time, this.events);
		PeerStream large = stream(peer, peer.index() % loops, topology, names, state, null);
		Map<EventLoop, PeerStream> ofLoops = new HashMap<>();
		for (int i = 0; i < loops; i++) {
			ofLoops.put(this.eventLoops.get(i), stream(peer, i, topology, names, state, large));
		}
		return new PeerLink(state, large, ofLoops);
	}

	private PeerStream stream(Member peer, int loop, Topology topology, TopologyNames names, PeerState state,
			@Nullable PeerStream large) {
		return new PeerStream(this.self, peer, this.eventLoops.get(loop), this.pinned.get(loop), names,
				topology.factor(), this.settings, this.handshake, this.time, this.events, state, large);
	}

	/**
	 * Changes the nodes: dials new ones, and tells those with streams to this node. The
	 * links to nodes that have left stay, and others are not told, until
	 * {@link #announce}: operations from before may be under way. Nodes without such
	 * operations are told at once: they may refuse a layout that this node has missed.
	 * @param served the nodes of operations that may be under way; null if there are none
	 * @return the replicas of all members, by the index of the member
	 */
	public List<Replica> become(Layout next, Replica local, @Nullable Topology served) {
		Set<String> before = Set.copyOf(this.links.keySet());
		TopologyNames names = TopologyNames.of(next);
		List<Replica> linked = linked(next.topology(), names, local);
		this.topology = next.topology();
		this.names = names;
		this.replicas = linked;
		this.endpoint.become(next, local);
		this.links.forEach((address, link) -> {
			if (!before.contains(address)) {
				if (isRunning()) {
					start(link);
				}
			}
			else if (next.topology().has(address) && (served == null || !served.has(address))) {
				link.streams().forEach(stream -> stream.tell(names));
			}
		});
		return linked;
	}

	/**
	 * Tells all nodes of the topology of this one, and ends the links to those that have
	 * left. Called when no operation of an earlier topology is under way.
	 */
	public void announce() {
		TopologyNames names = this.names;
		this.links.forEach((address, link) -> {
			if (this.topology.has(address)) {
				link.streams().forEach(stream -> stream.tell(names));
			}
			else {
				this.links.remove(address);
				link.stop();
				this.events.unlinked(link.state().peer());
			}
		});
	}

	/**
	 * Whether the nodes know what they were told by {@link #announce}, as far as they
	 * have streams of this node.
	 */
	public boolean isAnnounced() {
		return this.links.values().stream().flatMap(PeerLink::streams).allMatch(PeerStream::isTold);
	}

	/**
	 * Exchanges layouts with any node.
	 * @param address of the node
	 * @param text the layout that this node knows
	 * @return the layout that the other node knows; an error if it does not answer
	 */
	public Mono<String> exchangeLayouts(String address, String text) {
		return call(PlainCall.LAYOUT, address, text).timeout(this.settings.silenceTimeout());
	}

	/** As {@link PeerReports#of}. */
	public Mono<String> report(String address) {
		return call(PlainCall.REPORT, address, "");
	}

	/**
	 * Makes a call. It is cancelled on its event loop: another thread could cancel it in
	 * the moment of the answer, and Reactor would log an error.
	 */
	private Mono<String> call(PlainCall call, String address, String text) {
		return call
			.of(this.pinned.getFirst(), this.handshake, this.self, new Member(0, address), this.settings.tls() != null,
					text)
			.cancelOn(this.firstLoop);
	}

	private static List<EventLoop> eventLoops(LoopResources loops) {
		List<EventLoop> eventLoops = new ArrayList<>();
		for (EventExecutor loop : loops.onServer(LoopResources.DEFAULT_NATIVE)) {
			eventLoops.add((EventLoop) loop);
		}
		return eventLoops;
	}

	private WebClient client(WebClient.Builder clients, EventLoop loop) {
		HttpClient http = HttpClient.create(ConnectionProvider.newConnection())
			.runOn(loop)
			.resolver(names -> names.cacheMaxTimeToLive(ADDRESS_LIFETIME))
			.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) this.settings.connectTimeout().toMillis())
			.doOnChannelInit((_, channel, _) -> this.onConnection.accept(channel.eventLoop()))
			.disableRetry(true);
		ReplicaTls tls = this.settings.tls();
		HttpClient secured = (tls == null) ? http
				: http.secure(spec -> spec.sslContext(tls.ofClient()).handshakeTimeout(this.settings.connectTimeout()));
		return clients.clone().clientConnector(new ReactorClientHttpConnector(secured)).build();
	}

	/** The replicas of all members, by the member's index. */
	public List<Replica> replicas() {
		return this.replicas;
	}

	/** The status of each peer, in the order of the topology. */
	public List<PeerStatus> peers() {
		return states().map(PeerState::status).toList();
	}

	/** The states of the other members, in the order of the topology. */
	private Stream<PeerState> states() {
		return this.topology.members()
			.stream()
			.flatMap(member -> Stream.ofNullable(this.links.get(member.address())))
			.map(PeerLink::state);
	}

	/** The addresses of the peers to which a stream is open. */
	public Set<String> there() {
		return peers().stream().filter(peer -> peer.streams() > 0).map(PeerStatus::address).collect(Collectors.toSet());
	}

	/** The addresses of the peers that refuse this node. */
	public List<String> refusing() {
		return peers().stream().filter(PeerStatus::refused).map(PeerStatus::address).toList();
	}

	/** The addresses of the peers that have an open stream of each lane to this node. */
	public Set<String> reachedBy() {
		return this.endpoint.reachedBy();
	}

	/**
	 * Ends the streams of nodes whose topologies are not accepted any more.
	 */
	public void endOthers() {
		this.endpoint.endOthers();
	}

	@Override
	public void start() {
		this.endpoint.begin();
		ReactorHttpHandlerAdapter handler = new ReactorHttpHandlerAdapter(
				RouterFunctions.toHttpHandler(this.endpoint.routes()));
		try {
			this.server = secured(HttpServer.create()).bindAddress(() -> this.address)
				.runOn(this.loops)
				.doOnChannelInit((_, channel, _) -> {
					this.onConnection.accept(channel.eventLoop());
					this.pending.arrived(channel);
				})
				.handle(handler)
				.bindNow();
		}
		catch (RuntimeException ex) {
			throw new ReplicaPortException(this.address, ex);
		}
		this.running = Disposables.composite();
		this.links.values().forEach(ReplicaTransport::start);
		this.running.add(Flux.interval(CHORES_INTERVAL, Schedulers.single())
			.doOnNext(_ -> this.endpoint.endSilent())
			.subscribe());
		awaitPeers();
	}

	private HttpServer secured(HttpServer plain) {
		ReplicaTls tls = this.settings.tls();
		return (tls == null) ? plain
				: plain.secure(spec -> spec.sslContext(tls.ofServer()).handshakeTimeout(ACCEPT_TIMEOUT))
					.doOnChannelInit((_, channel, _) -> channel.pipeline()
						.addBefore(NettyPipeline.HttpCodec, "kvorum.tlsFailures",
								new TlsFailures(this.endpoint::handshakeFailed)));
	}

	/** Dials a peer at once: a node that opens a stream to this one can accept one. */
	private void wake(String address) {
		PeerLink link = this.links.get(address);
		if (link != null) {
			link.streams().forEach(PeerStream::wake);
		}
	}

	/**
	 * Waits for each reachable peer, so that a ready node can serve. All streams to the
	 * peer must be open, and one of each lane from it. A peer that accepts no streams is
	 * not waited for: it waits for this node when it starts. A silent peer is waited for,
	 * until the timeout.
	 */
	private void awaitPeers() {
		Duration limit = this.settings.peersTimeout();
		Mono.defer(() -> awaited().isEmpty() ? Mono.just(true) : Mono.<Boolean>empty())
			.repeatWhenEmpty(again -> again.delayElements(CHECK_INTERVAL))
			.timeout(limit, Mono.fromRunnable(() -> logger.warn(
					"{} accepted no streams of this node, or opened none to it, within {} ms: this node starts without them",
					awaited(), limit.toMillis())))
			.toFuture()
			.join();
	}

	private List<String> awaited() {
		Set<String> reachedBy = this.endpoint.reachedBy();
		return states()
			.filter(state -> !state.isGone() && !(state.isThere() && reachedBy.contains(state.peer().address())))
			.map(state -> state.peer().address())
			.toList();
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	/**
	 * Lets peers finish their operations for at most {@link #LEAVE_TIMEOUT}. The port is
	 * free when the callback runs.
	 */
	@Override
	public void stop(Runnable callback) {
		this.endpoint.leave();
		Mono.defer(() -> this.endpoint.hasStreams() ? Mono.<Boolean>empty() : Mono.just(true))
			.repeatWhenEmpty(again -> again.delayElements(CHECK_INTERVAL))
			.timeout(LEAVE_TIMEOUT, Mono.just(false))
			.then(Mono.defer(this::end))
			.doFinally(_ -> callback.run())
			.subscribe();
	}

	private Mono<Void> end() {
		this.links.values().forEach(PeerLink::stop);
		this.running.dispose();
		this.endpoint.end();
		DisposableServer bound = this.server;
		if (bound == null) {
			return Mono.empty();
		}
		this.server = null;
		bound.dispose();
		return bound.onDispose();
	}

	@Override
	public boolean isRunning() {
		return this.server != null;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
