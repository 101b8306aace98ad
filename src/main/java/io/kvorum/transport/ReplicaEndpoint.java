package io.kvorum.transport;

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import io.kvorum.transport.ReplicaProtocol.Lane;
import io.kvorum.transport.TransportEvents.Refused;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/**
 * The replica port: other nodes reach this node's replica here. A stream is accepted only
 * from a node with the same secret, the same topology and a protocol version in common.
 * With TLS its certificate must name the host of that node. The reason for a refusal goes
 * to the other node and, unless this node is stopping, to the log.
 */
final class ReplicaEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(ReplicaEndpoint.class);

	/** Time after which the same refusal is logged again. */
	private static final Duration REMINDER = Duration.ofMinutes(1);

	/** Limit of the refusals that are logged within that time. */
	private static final int MAX_REMEMBERED = 256;

	private static final Refusal NOT_ITS_CERTIFICATE = new Refusal(Refused.CERTIFICATE, HttpStatus.FORBIDDEN,
			"its certificate does not name the host of the node that it claims to be");

	private static final Refusal OTHER_TEXT = new Refusal(Refused.SECRET, HttpStatus.UNAUTHORIZED,
			"its text is not the one of its proof");

	private final Member self;

	private final TransportSettings settings;

	private final TimeSource time;

	private final CallerThreads callers;

	private final TransportEvents events;

	private final PendingConnections pending;

	private final Handshake handshake;

	/** Receives the address of each node that has opened a stream. */
	private final Consumer<String> onAccepted;

	/** The accepted streams, with their node. */
	private final ConcurrentHashMap<ReplicaStream, Caller> streams = new ConcurrentHashMap<>();

	/** Whether this node works with nodes of these topologies, by their fingerprints. */
	private final Acceptance accepted;

	/** Time of the last log line, by address and reason. */
	private final ConcurrentHashMap<String, Long> loggedNanos = new ConcurrentHashMap<>();

	/** Answers the plain calls of other nodes. */
	private final PlainAnswers answers;

	private volatile Topology topology;

	private volatile TopologyNames names;

	private volatile Replica replica;

	private volatile boolean stopping;

	/** Whether the streams have been ended. One that was being opened may still come. */
	private volatile boolean ended;

	ReplicaEndpoint(Topology topology, Acceptance accepted, Member self, Replica replica, TransportSettings settings,
			TimeSource time, CallerThreads callers, PendingConnections pending, Handshake handshake,
			Consumer<String> onAccepted, PlainAnswers answers, TransportEvents events) {
		this.answers = answers;
		this.onAccepted = onAccepted;
		this.handshake = handshake;
		this.pending = pending;
		this.topology = topology;
		this.names = TopologyNames.of(topology);
		this.accepted = accepted;
		this.self = self;
		this.replica = replica;
		this.settings = settings;
		this.time = time;
		this.callers = callers;
		this.events = events;
	}

	RouterFunction<ServerResponse> routes() {
		return RouterFunctions.route()
			.GET(ReplicaProtocol.CHALLENGE_PATH,
					_ -> ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).bodyValue(this.handshake.challenge()))
			.POST(ReplicaProtocol.PATH, this::accept)
			.POST(PlainCall.LAYOUT.path(),
					request -> answer(request, text -> Mono.just(this.answers.exchangeLayouts(text))))
			.POST(PlainCall.REPORT.path(), request -> answer(request, _ -> this.answers.report()))
			.build();
	}

	/** Changes the nodes, and tells those that have streams to this one. */
	void become(Layout next, Replica replica) {
		TopologyNames names = TopologyNames.of(next);
		this.replica = replica;
		this.topology = next.topology();
		this.names = names;
		this.streams.keySet().forEach(stream -> stream.tell(() -> this.names));
	}

	/**
	 * Answers a {@link PlainCall}. Nothing of its text is read before the proof of the
	 * text's hash. Spring reads no text above 256 KiB; a layout in a change of 255 nodes
	 * with long names has 150.
	 */
	private Mono<ServerResponse> answer(ServerRequest request, Function<String, Mono<String>> answers) {
		String hash = header(request, ReplicaProtocol.TEXT_HEADER).orElse("");
		Opening opening = opening(request).about(hash);
		Refusal refusal = plainRefusal(request, opening);
		if (refusal != null) {
			return refuse(request, refusal);
		}
		return request.bodyToMono(String.class).defaultIfEmpty("").flatMap(text -> {
			if (this.handshake.isNeeded() && !Handshake.hashOf(text).equals(hash)) {
				return refuse(request, OTHER_TEXT);
			}
			return answers.apply(text).flatMap(answer -> {
				ServerResponse.BodyBuilder response = ServerResponse.ok().contentType(MediaType.TEXT_PLAIN);
				if (this.handshake.isNeeded()) {
					response.header(ReplicaProtocol.PROOF_HEADER,
							this.handshake.proof(Side.CALLED, opening.about(Handshake.hashOf(answer))));
				}
				return response.bodyValue(answer);
			});
		});
	}

	private @Nullable Refusal plainRefusal(ServerRequest request, Opening opening) {
		Refusal misled = addressRefusal(request);
		if (misled != null) {
			return misled;
		}
		if (this.settings.tls() != null && !showsItsCertificate(request)) {
			return NOT_ITS_CERTIFICATE;
		}
		return this.handshake.isNeeded() ? proofRefusal(request, opening) : null;
	}

	private Mono<ServerResponse> refuse(ServerRequest request, Refusal refusal) {
		this.events.refused(refusal.why);
		log(request, refusal);
		return ServerResponse.status(refusal.status)
			.contentType(MediaType.TEXT_PLAIN)
			.header("Connection", "close")
			.bodyValue(refusal.words);
	}

	private Mono<ServerResponse> accept(ServerRequest request) {
		Refusal refusal = refusalOf(request);
		if (refusal != null) {
			return refuse(request, refusal);
		}
		Channel channel = channelOf(request);
		this.pending.accepted(channel);
		int version = version(request).orElseThrow();
		String from = header(request, ReplicaProtocol.FROM_HEADER).orElse("");
		AtomicReference<ReplicaStream> self = new AtomicReference<>();
		ReplicaStream stream = new ReplicaStream(() -> this.replica, lane(request).orElseThrow(),
				new EntryForm(version, this.topology.factor()), this.settings, this.time, this.callers.current(),
				() -> PendingConnections.close(channel), names -> changed(self.get(), new Caller(from, names)),
				this.events);
		self.set(stream);
		ServerResponse.BodyBuilder answer = ServerResponse.ok()
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.header(ReplicaProtocol.VERSION_HEADER, String.valueOf(version))
			.header(ReplicaProtocol.TOPOLOGY_HEADER, this.names.text());
		if (this.handshake.isNeeded()) {
			answer.header(ReplicaProtocol.PROOF_HEADER, this.handshake.proof(Side.CALLED, opening(request)));
		}
		return answer.body((response,
				_) -> response.writeWith(stream.exchange(request.body(BodyExtractors.toDataBuffers()))
					.doFirst(() -> register(stream, new Caller(from, topologies(request))))
					.doFinally(_ -> this.streams.remove(stream))));
	}

	private static Channel channelOf(ServerRequest request) {
		Connection connection = ServerHttpRequestDecorator.getNativeRequest(request.exchange().getRequest());
		return connection.channel();
	}

	private void register(ReplicaStream stream, Caller from) {
		this.streams.put(stream, from);
		// The nodes may have changed since the answer was begun.
		stream.tell(() -> this.names);
		if (this.ended || !from.topologies.isAccepted(this.accepted)) {
			stream.end();
		}
		else if (this.stopping) {
			stream.leave();
		}
		else {
			this.onAccepted.accept(from.address);
		}
	}

	/** A peer has other topologies than when it opened the stream. */
	private void changed(ReplicaStream stream, Caller now) {
		if (this.streams.replace(stream, now) != null && !now.topologies.isAccepted(this.accepted)) {
			stream.end();
		}
	}

	private @Nullable Refusal refusalOf(ServerRequest request) {
		if (this.settings.tls() != null && !showsItsCertificate(request)) {
			return NOT_ITS_CERTIFICATE;
		}
		if (version(request).isEmpty()) {
			ProtocolRange spoken = versions(request);
			return new Refusal(Refused.PROTOCOL, HttpStatus.UPGRADE_REQUIRED,
					"%s speaks %s of the replica protocol, and not %s: update by way of a release that speaks a version of both"
						.formatted(this.self.address(), ReplicaProtocol.VERSIONS,
								(spoken != null) ? spoken : "another"));
		}
		if (this.handshake.isNeeded()) {
			Refusal refusal = proofRefusal(request, opening(request));
			if (refusal != null) {
				return refusal;
			}
		}
		if (this.stopping) {
			return new Refusal(Refused.STOPPING, HttpStatus.SERVICE_UNAVAILABLE, "it is stopping");
		}
		Refusal misled = addressRefusal(request);
		if (misled != null) {
			return misled;
		}
		if (!topologies(request).isAccepted(this.accepted)) {
			return new Refusal(Refused.TOPOLOGY, HttpStatus.CONFLICT,
					"%s has another topology: %s. If this persists, kvorum.cluster.nodes or kvorum.replication.factor differ"
						.formatted(this.self.address(), this.topology));
		}
		if (lane(request).isEmpty()) {
			return new Refusal(Refused.LANE, HttpStatus.BAD_REQUEST,
					"%s has no such lane".formatted(this.self.address()));
		}
		return null;
	}

	private @Nullable Refusal addressRefusal(ServerRequest request) {
		String to = header(request, ReplicaProtocol.TO_HEADER).orElse("none");
		return to.equals(this.self.address()) ? null : new Refusal(Refused.ADDRESS, HttpStatus.MISDIRECTED_REQUEST,
				"this is %s, not %s".formatted(this.self.address(), ReplicaProtocol.printable(to)));
	}

	private static TopologyNames topologies(ServerRequest request) {
		return new TopologyNames(header(request, ReplicaProtocol.TOPOLOGY_HEADER).orElse("none"));
	}

	/** The protocol versions of the calling node; null if it names none. */
	private static @Nullable ProtocolRange versions(ServerRequest request) {
		return ProtocolRange.of(header(request, ReplicaProtocol.VERSION_HEADER).orElse(null),
				header(request, ReplicaProtocol.NEWEST_VERSION_HEADER).orElse(null));
	}

	/** The newest protocol version that both nodes speak; empty if there is none. */
	private static OptionalInt version(ServerRequest request) {
		ProtocolRange spoken = versions(request);
		return (spoken != null) ? ReplicaProtocol.VERSIONS.common(spoken) : OptionalInt.empty();
	}

	/** The requested lane; empty if no lane has that name. */
	private static Optional<Lane> lane(ServerRequest request) {
		String name = header(request, ReplicaProtocol.LANE_HEADER).orElse(Lane.SMALL.name());
		return Stream.of(Lane.values()).filter(lane -> lane.name().equals(name)).findFirst();
	}

	/**
	 * Returns null if the request proves the secret with a challenge of this node that is
	 * neither expired nor used.
	 */
	private @Nullable Refusal proofRefusal(ServerRequest request, Opening opening) {
		String proof = header(request, ReplicaProtocol.PROOF_HEADER).orElse(null);
		if (!this.handshake.isProof(proof, Side.CALLER, opening)) {
			return new Refusal(Refused.SECRET, HttpStatus.UNAUTHORIZED,
					"%s has another kvorum.cluster.secret".formatted(this.self.address()));
		}
		return this.handshake.accept(opening.challenge()) ? null
				: new Refusal(Refused.CHALLENGE, HttpStatus.UNAUTHORIZED,
						"the proof is of a challenge that %s has not given, that is older than %d s, or was used before"
							.formatted(this.self.address(), Handshake.LIFETIME.toSeconds()));
	}

	private static Opening opening(ServerRequest request) {
		return new Opening(header(request, ReplicaProtocol.CHALLENGE_HEADER).orElse(""),
				header(request, ReplicaProtocol.NONCE_HEADER).orElse(""),
				header(request, ReplicaProtocol.FROM_HEADER).orElse(""),
				header(request, ReplicaProtocol.TO_HEADER).orElse(""),
				header(request, ReplicaProtocol.LANE_HEADER).orElse(""),
				header(request, ReplicaProtocol.TOPOLOGY_HEADER).orElse(""));
	}

	/** Whether the certificate, whose key TLS has checked, names the claimed host. */
	private boolean showsItsCertificate(ServerRequest request) {
		SslInfo tls = request.exchange().getRequest().getSslInfo();
		X509Certificate[] shown = (tls != null) ? tls.getPeerCertificates() : null;
		return shown != null && shown.length > 0
				&& claimed(request).filter(member -> SubjectNames.name(shown[0], ReplicaProtocol.host(member)))
					.isPresent();
	}

	/**
	 * The node that the caller claims to be; empty if the cluster has no such node. A
	 * node that is being added, or asks for a layout, may be one that this node does not
	 * know yet. It has to prove the secret: by a certificate alone any host of the
	 * authority could be added.
	 */
	private Optional<Member> claimed(ServerRequest request) {
		boolean mayBeAdded = this.handshake.isNeeded()
				&& (topologies(request).isChange() || request.path().equals(PlainCall.LAYOUT.path()));
		return header(request, ReplicaProtocol.FROM_HEADER).flatMap(address -> this.topology.members()
			.stream()
			.filter(member -> member.address().equals(address))
			.findFirst()
			.or(() -> (mayBeAdded && ReplicaProtocol.isAddress(address)) ? Optional.of(new Member(0, address))
					: Optional.empty()));
	}

	private static Optional<String> header(ServerRequest request, String name) {
		return Optional.ofNullable(request.headers().firstHeader(name));
	}

	/** Logs a refusal, without a claimed address that is not of the cluster. */
	private void log(ServerRequest request, Refusal refusal) {
		String from = claimed(request).filter(_ -> refusal.why != Refused.CERTIFICATE)
			.map(Member::address)
			.or(() -> request.remoteAddress().map(it -> String.valueOf(it.getAddress())))
			.orElse("unknown");
		String address = request.remoteAddress().map(it -> String.valueOf(it.getAddress())).orElse("unknown");
		// A caller that only claims to be a node must not use up that node's log lines.
		if (refusal.why != Refused.STOPPING && isDue(refusal.why + " " + from + " " + address)) {
			logger.atWarn()
				.addKeyValue("peer", from)
				.addKeyValue("reason", text(refusal.why))
				.log("A stream from {} was refused: {} (it came from {})", from, refusal.words, address);
		}
	}

	/** Counts and logs a TLS handshake that has failed. */
	void handshakeFailed(Channel channel, Throwable cause) {
		Refused why = TlsFailures.isOfOther(cause) ? Refused.ALERT : Refused.HANDSHAKE;
		this.events.refused(why);
		String from = (channel.remoteAddress() instanceof InetSocketAddress address)
				? String.valueOf(address.getAddress()) : "unknown";
		if (isDue(why + " " + from)) {
			logger.atWarn()
				.addKeyValue("peer", from)
				.addKeyValue("reason", text(why))
				.log("A connection from {} {}: {}", from,
						(why == Refused.ALERT) ? "refuses TLS with this node" : "was refused",
						ReplicaProtocol.printable(TlsFailures.words(cause)));
		}
	}

	private static String text(Refused why) {
		return why.name().toLowerCase(Locale.ROOT);
	}

	private boolean isDue(String what) {
		long now = this.time.nanos();
		this.loggedNanos.values().removeIf(logged -> now - logged > REMINDER.toNanos());
		return this.loggedNanos.size() < MAX_REMEMBERED && this.loggedNanos.putIfAbsent(what, now) == null;
	}

	void begin() {
		this.stopping = false;
		this.ended = false;
	}

	/** Asks all peers to end their streams. */
	void leave() {
		this.stopping = true;
		this.streams.keySet().forEach(ReplicaStream::leave);
	}

	boolean hasStreams() {
		return !this.streams.isEmpty();
	}

	/** The addresses of the nodes that have an open stream of each lane to this node. */
	Set<String> reachedBy() {
		Map<String, Set<Lane>> open = new HashMap<>();
		this.streams.forEach((stream, from) -> {
			if (stream.isOpen()) {
				open.computeIfAbsent(from.address, _ -> EnumSet.noneOf(Lane.class)).add(stream.lane());
			}
		});
		open.values().removeIf(lanes -> lanes.size() < Lane.values().length);
		return open.keySet();
	}

	void end() {
		this.ended = true;
		this.streams.keySet().forEach(ReplicaStream::end);
	}

	/**
	 * Ends the streams of nodes whose topologies are not accepted any more.
	 */
	void endOthers() {
		this.streams.forEach((stream, from) -> {
			if (!from.topologies.isAccepted(this.accepted)) {
				stream.end();
			}
		});
	}

	/** Ends the streams of peers that have been silent for too long. */
	void endSilent() {
		this.streams.keySet().forEach(ReplicaStream::endIfSilent);
	}

	/** A node that has opened a stream. */
	private record Caller(String address, TopologyNames topologies) {
	}

	private record Refusal(Refused why, HttpStatus status, String words) {
	}

}
