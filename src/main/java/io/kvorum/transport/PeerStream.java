package io.kvorum.transport;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLException;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import io.kvorum.transport.ReplicaProtocol.Lane;
import io.kvorum.transport.TransportEvents.Call;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Stream of operations to a peer and of their replies: one HTTP request that does not
 * end. The stream is opened again when it has ended.
 * <p>
 * <b>One event loop.</b> A stream for small entries runs on the event loop of the
 * connections whose requests it serves. Its calls need no locks and no change of threads.
 * The calls of one turn of the loop leave in one buffer. The stream for large entries
 * serves all loops.
 * <p>
 * <b>Every operation is answered</b>: by the peer, by the sweep for overdue calls, or by
 * the end of the stream. The sweep comes at most one {@link #SWEEP_INTERVAL} after the
 * deadline. The end of the stream leaves the outcome of a store unknown.
 * <p>
 * <b>A suspended peer</b> still accepts connections and data in its kernel. A stream is
 * therefore open only after the peer's hello, and is pinged when it is quiet. It is given
 * up when the peer owes an answer and is silent for too long. Without a stream operations
 * fail at once.
 */
final class PeerStream {

	/** Interval of the sweep for overdue operations while any are under way. */
	private static final Duration SWEEP_INTERVAL = Duration.ofMillis(20);

	/** Latency counted for a read that a peer in quarantine has refused. */
	private static final long REBUILDING_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** Pings for each silence timeout. */
	private static final int PINGS = 4;

	/**
	 * The time that a byte may take on the stream for large entries, one second for each
	 * megabyte. A ping waits behind what was sent before it.
	 */
	private static final long NANOS_PER_LARGE_BYTE = 1_000;

	private final Member self;

	private final Member peer;

	private final Lane lane;

	private final EventLoop loop;

	private final WebClient client;

	private final int factor;

	private final TransportSettings settings;

	private final Handshake handshake;

	private final TimeSource time;

	private final TransportEvents events;

	private final PeerState state;

	/**
	 * Stream that takes the calls whose entries are too large for this one; null on the
	 * stream for large entries.
	 */
	private final @Nullable PeerStream large;

	private final InFlight inFlight;

	private final ExpectedLatency latency = new ExpectedLatency();

	private FrameWriter writer;

	/** Ends the connection when it is given an error. */
	private Sinks.Empty<Void> broken = Sinks.empty();

	/** Ends the wait for the next attempt, even if that wait has not begun. */
	private Sinks.Empty<Void> woken = Sinks.empty();

	/** Reply to operations while the stream is not open; null while it is open. */
	private volatile @Nullable Failed absence = Failed.notDone(Reason.AWAY, "not connected yet");

	/** Whether the peer has announced that it stops. */
	private boolean leaving;

	private boolean pinged;

	/**
	 * The topologies of this node as the peer knows them, or will when the stream is
	 * opened. They say how the operations on the stream count.
	 */
	private volatile TopologyNames told;

	/**
	 * What the peer knows of the topologies of this node, if the stream is open or being
	 * opened; null otherwise.
	 */
	private volatile @Nullable TopologyNames known;

	/** What was told last on the open stream, and the ping behind it. */
	private @Nullable TopologyNames telling;

	private int lastPing;

	/** The topologies of the peer; null if it is of a release that does not tell. */
	private volatile @Nullable TopologyNames theirs;

	/** Form of the entries on the current stream, or on the last one. */
	private volatile EntryForm form = EntryForm.STORED;

	/** Whether the stream was given up because the peer was silent. */
	private boolean silent;

	/** Time of what was sent last. */
	private long spokenNanos;

	/** Time of the peer's last sign of life. At first the start of the attempt. */
	private long heardNanos;

	/** Time since which the peer has owed an answer, while it owes one. */
	private long owedNanos;

	private boolean sweeping;

	/** The bytes of calls that have timed out since the last pong: still on their way. */
	private long overdueBytes;

	/** Time when {@link #watch} last looked, or is to look first. */
	private long watchedNanos;

	PeerStream(Member self, Member peer, EventLoop loop, WebClient client, TopologyNames topologies, int factor,
			TransportSettings settings, Handshake handshake, TimeSource time, TransportEvents events, PeerState state,
			@Nullable PeerStream large) {
		this.self = self;
		this.peer = peer;
		this.lane = (large != null) ? Lane.SMALL : Lane.LARGE;
		this.loop = loop;
		this.client = client;
		this.told = topologies;
		this.factor = factor;
		this.settings = settings;
		this.handshake = handshake;
		this.time = time;
		this.events = events;
		this.state = state;
		this.large = large;
		this.inFlight = new InFlight(settings.maxInFlight());
		this.writer = newWriter();
	}

	private FrameWriter newWriter() {
		return new FrameWriter(this.loop, this.lane.maxWaitingBytes(), this.events::batchSent);
	}

	/**
	 * Asks the peer, from any thread.
	 * @param caller receives the reply, unless the caller is on this loop
	 */
	void call(Call call, Key key, Version version, byte[] entry, Deadline deadline, MonoSink<Reply> sink,
			Executor caller) {
		boolean here = this.loop.inEventLoop();
		PeerCall pending = new PeerCall(call, key, version, deadline.atNanos(), this.time.nanos(), sink,
				here ? null : caller);
		if (here) {
			begin(pending, entry, pending.startedNanos);
		}
		else {
			begin(pending, entry);
		}
	}

	/** Begins a call from another loop or thread. */
	private void begin(PeerCall call, byte[] entry) {
		try {
			this.loop.execute(() -> begin(call, entry, this.time.nanos()));
		}
		catch (RejectedExecutionException _) {
			call.reply(Failed.notDone(Reason.UNAVAILABLE, "this node is stopping"));
		}
	}

	private void begin(PeerCall call, byte[] entry, long now) {
		Reply refused = refusal(call, entry, now);
		if (refused != null) {
			finish(call, refused);
			return;
		}
		if (owesNothing()) {
			this.owedNanos = now;
		}
		this.spokenNanos = now;
		int correlation = this.inFlight.add(call);
		byte[] written = call.isStore() ? this.form.written(call.key, entry) : entry;
		call.sentBytes = written.length;
		this.writer.send(new CallFrame(correlation, call, call.kind(this.form), written, this.time));
		if (!this.sweeping) {
			this.sweeping = true;
			sweepLater();
		}
	}

	private @Nullable Reply refusal(PeerCall call, byte[] entry, long now) {
		Failed absent = this.absence;
		if (absent != null) {
			return absent;
		}
		if (call.needsBallots() && !this.form.knowsBallots()) {
			return Replica.NO_BALLOTS;
		}
		if (call.deadlineNanos <= now) {
			return Failed.notDone(Reason.TIMEOUT, "the deadline had passed before the operation began");
		}
		if (!this.writer.hasRoomFor(entry.length)) {
			return Failed.notDone(Reason.OVERLOADED,
					"%d bytes wait for the network to %s".formatted(this.lane.maxWaitingBytes(), this.peer.address()));
		}
		return this.inFlight.isFull() ? Failed.notDone(Reason.OVERLOADED,
				"kvorum.cluster.max-in-flight of %d is reached".formatted(this.settings.maxInFlight())) : null;
	}

	private void finish(PeerCall call, Reply reply) {
		this.events.replied(this.peer, call.call, reply, this.time.nanos() - call.startedNanos);
		call.reply(reply);
	}

	/** Whether operations can be sent. Called from any thread. */
	boolean isOpen() {
		return this.absence == null;
	}

	/**
	 * Whether the peer has these topologies, or does not tell its own. From any thread.
	 */
	boolean isTo(TopologyNames topologies) {
		TopologyNames told = this.theirs;
		return told == null || told.equals(topologies);
	}

	/** Whether the peer has told of an earlier layout than this one. From any thread. */
	boolean isBehind(TopologyNames topologies) {
		TopologyNames told = this.theirs;
		return told != null && told.number() < topologies.number();
	}

	/** Whether it is open to a peer that knows no tags. Called from any thread. */
	boolean isOpenWithoutTags() {
		return isOpen() && !this.form.knowsLayouts();
	}

	/**
	 * Tells the peer of other topologies of this node, behind all operations sent so far.
	 * Called from any thread.
	 */
	void tell(TopologyNames topologies) {
		this.told = topologies;
		this.loop.execute(this::sendTold);
	}

	/** Another thread may have told something newer meanwhile. */
	private void sendTold() {
		if (isOpen() && this.form.knowsLayouts()) {
			TopologyNames newest = this.told;
			this.writer.send(OperationFrame.topology(newest));
			this.telling = newest;
			this.lastPing++;
			ping(this.time.nanos(), this.lastPing);
		}
	}

	/**
	 * Whether the peer knows what was told last, or there is no stream on which it could
	 * know anything else. Called from any thread.
	 */
	boolean isTold() {
		TopologyNames known = this.known;
		return known == null || known.equals(this.told);
	}

	/** Whether it is open to a peer that knows no ballots. Called from any thread. */
	boolean isOpenWithoutBallots() {
		return isOpen() && !this.form.knowsBallots();
	}

	/**
	 * The expected time of a read, in nanoseconds; {@link Replica#AWAY} without a stream.
	 */
	long expectedNanos() {
		if (this.absence != null) {
			return Replica.AWAY;
		}
		long now = this.time.nanos();
		return Math.max(this.latency.nanos(now), silentNanos(now));
	}

	/** The time for which the peer has been silent while it owes an answer. */
	private long silentNanos(long now) {
		return owesNothing() ? 0 : now - Math.max(this.heardNanos, this.owedNanos);
	}

	/**
	 * The time that large entries may take to the peer, as long as it is heard on another
	 * stream: one that has stopped is silent on all.
	 */
	private long onItsWayNanos() {
		return (this.lane == Lane.LARGE && this.state.hasSeveral())
				? NANOS_PER_LARGE_BYTE * (this.inFlight.sentBytes() + this.overdueBytes) : 0;
	}

	private boolean owesNothing() {
		return this.inFlight.size() == 0 && !this.pinged;
	}

	/** Opens the stream, and opens it again whenever it has ended, until cancelled. */
	Mono<Void> run() {
		Scheduler scheduler = Schedulers.fromExecutorService(this.loop);
		return Mono.defer(this::connect)
			.then(Mono.defer(() -> pause(scheduler)))
			.repeat()
			.then()
			.subscribeOn(scheduler)
			.cancelOn(scheduler);
	}

	private Mono<Void> pause(Scheduler scheduler) {
		return Mono.delay(this.settings.probeInterval(), scheduler).then().or(this.woken.asMono());
	}

	/**
	 * Tries again at once because the peer is known to be there. An attempt under way may
	 * have begun before that, so another one follows if it fails. Called from any thread.
	 */
	void wake() {
		this.loop.execute(() -> {
			if (!isOpen()) {
				this.woken.tryEmitEmpty();
			}
		});
	}

	private Mono<Void> connect() {
		FrameReader<ReplyFrame> reader = new FrameReader<>(this.settings.maxFrameBytes(), ReplyFrame::read);
		this.writer = newWriter();
		this.broken = Sinks.empty();
		this.woken = Sinks.empty();
		this.leaving = false;
		this.pinged = false;
		this.silent = false;
		this.overdueBytes = 0;
		this.heardNanos = this.time.nanos();
		this.watchedNanos = this.heardNanos + this.settings.connectTimeout().toNanos();
		ScheduledFuture<?> watch = this.loop.scheduleAtFixedRate(this::watch, this.settings.connectTimeout().toNanos(),
				this.settings.silenceTimeout().toNanos() / PINGS, TimeUnit.NANOSECONDS);
		return challenge().flatMap(challenge -> exchange(opening(challenge), reader))
			.or(this.broken.asMono())
			.then(Mono.<Void>error(() -> new StreamEndedException(Reason.AWAY, "it has ended the stream")))
			.onErrorResume(error -> {
				ended(error);
				return Mono.empty();
			})
			.doOnCancel(() -> ended(new StreamEndedException(Reason.AWAY, "this node is stopping")))
			.doFinally(_ -> {
				watch.cancel(false);
				reader.close();
			});
	}

	/** Asks the peer for its challenge; empty text without a secret. */
	private Mono<String> challenge() {
		if (!this.handshake.isNeeded()) {
			return Mono.just("");
		}
		return this.client.get()
			.uri(url(ReplicaProtocol.CHALLENGE_PATH))
			.exchangeToMono(response -> (response.statusCode().value() == HttpStatus.OK.value())
					? response.bodyToMono(String.class) : response.releaseBody().then(Mono.<String>empty()))
			.filter(Handshake::isChallenge)
			.switchIfEmpty(Mono
				.error(() -> refused("%s gives no challenge, unlike a node that speaks %s of the replica protocol"
					.formatted(this.peer.address(), ReplicaProtocol.VERSIONS))));
	}

	private static StreamEndedException refused(String why) {
		return new StreamEndedException(Reason.REFUSED, why);
	}

	private Opening opening(String challenge) {
		return new Opening(challenge, this.handshake.isNeeded() ? this.handshake.nonce() : "", this.self.address(),
				this.peer.address(), this.lane.name(), this.told.text());
	}

	private Mono<Void> exchange(Opening opening, FrameReader<ReplyFrame> reader) {
		return this.client.post()
			.uri(url(ReplicaProtocol.PATH))
			.headers(headers -> addHeaders(headers, opening))
			.body(BodyInserters.fromDataBuffers(this.writer.buffers()))
			.exchangeToMono(response -> receive(response, opening, reader));
	}

	private String url(String path) {
		return ReplicaProtocol.url(this.peer, this.settings.tls() != null, path);
	}

	private void addHeaders(HttpHeaders headers, Opening opening) {
		headers.set(ReplicaProtocol.VERSION_HEADER, String.valueOf(ReplicaProtocol.VERSIONS.oldest()));
		headers.set(ReplicaProtocol.NEWEST_VERSION_HEADER, String.valueOf(ReplicaProtocol.VERSIONS.newest()));
		headers.set(ReplicaProtocol.FROM_HEADER, this.self.address());
		headers.set(ReplicaProtocol.TO_HEADER, this.peer.address());
		this.known = new TopologyNames(opening.topology());
		headers.set(ReplicaProtocol.TOPOLOGY_HEADER, opening.topology());
		headers.set(ReplicaProtocol.LANE_HEADER, this.lane.name());
		if (this.handshake.isNeeded()) {
			headers.set(ReplicaProtocol.CHALLENGE_HEADER, opening.challenge());
			headers.set(ReplicaProtocol.NONCE_HEADER, opening.nonce());
			headers.set(ReplicaProtocol.PROOF_HEADER, this.handshake.proof(Side.CALLER, opening));
		}
	}

	private Mono<Void> receive(ClientResponse response, Opening opening, FrameReader<ReplyFrame> reader) {
		int status = response.statusCode().value();
		if (status != HttpStatus.OK.value()) {
			Reason reason = (status == HttpStatus.SERVICE_UNAVAILABLE.value()) ? Reason.AWAY : Reason.REFUSED;
			return response.bodyToMono(String.class)
				.defaultIfEmpty("status " + status)
				.flatMap(words -> Mono.error(new StreamEndedException(reason, ReplicaProtocol.printable(words))));
		}
		String proof = response.headers().asHttpHeaders().getFirst(ReplicaProtocol.PROOF_HEADER);
		if (this.handshake.isNeeded() && !this.handshake.isProof(proof, Side.CALLED, opening)) {
			// An error of this flow would wait for the end of the response.
			this.broken.tryEmitError(refused(this.peer.address() + " has another kvorum.cluster.secret"));
			return Mono.never();
		}
		ProtocolRange chosen = chosenBy(response);
		if (chosen == null || !ReplicaProtocol.VERSIONS.contains(chosen.newest())) {
			this.broken.tryEmitError(refused("%s answers in %s of the replica protocol, this node speaks %s".formatted(
					this.peer.address(), (chosen != null) ? chosen : "an unknown version", ReplicaProtocol.VERSIONS)));
			return Mono.never();
		}
		this.form = new EntryForm(chosen.newest(), this.factor);
		String theirs = response.headers().asHttpHeaders().getFirst(ReplicaProtocol.TOPOLOGY_HEADER);
		this.theirs = (theirs != null) ? new TopologyNames(theirs) : null;
		return response.body(BodyExtractors.toDataBuffers()).doOnNext(buffer -> {
			this.heardNanos = this.time.nanos();
			reader.read(buffer, this::received);
		}).then();
	}

	/**
	 * The version that the peer has chosen; the oldest offered if it names none, null if
	 * it names none that is valid.
	 */
	private static @Nullable ProtocolRange chosenBy(ClientResponse response) {
		String version = response.headers().asHttpHeaders().getFirst(ReplicaProtocol.VERSION_HEADER);
		int oldest = ReplicaProtocol.VERSIONS.oldest();
		return (version != null) ? ProtocolRange.of(version, null) : new ProtocolRange(oldest, oldest);
	}

	private void received(ReplyFrame frame) {
		switch (frame.kind) {
			case ReplicaProtocol.HELLO -> open();
			case ReplicaProtocol.PONG -> ponged(frame.correlation);
			case ReplicaProtocol.LEAVING -> leave();
			case ReplicaProtocol.TOPOLOGY -> this.theirs = frame.topology();
			default -> replied(frame);
		}
	}

	private void open() {
		if (this.absence != null && !this.leaving) {
			this.absence = null;
			this.woken = Sinks.empty();
			// The peer counts the stream as open once it hears from this node.
			ping(this.heardNanos, 0);
			if (!this.form.knowsLayouts()) {
				this.known = null;
			}
			else if (!isTold()) {
				this.loop.execute(this::sendTold);
			}
			this.state.opened();
		}
	}

	private void leave() {
		this.leaving = true;
		this.absence = Failed.notDone(Reason.AWAY, this.peer.address() + " is stopping");
		endWhereDone();
	}

	private void endWhereDone() {
		if (this.leaving && this.inFlight.size() == 0) {
			this.writer.end();
		}
	}

	private void replied(ReplyFrame frame) {
		PeerCall call = this.inFlight.remove(frame.correlation);
		if (call == null) {
			return; // Too late: the sweep has answered it.
		}
		if (frame.kind == ReplicaProtocol.TOO_LARGE && this.large != null) {
			this.large.begin(call.elsewhere(this.loop), Frame.NO_BYTES);
		}
		else {
			Reply reply = replyIn(frame, call);
			if (call.isRead()) {
				this.latency.add(cost(reply, this.heardNanos - call.startedNanos), this.heardNanos);
			}
			finish(call, reply);
		}
		endWhereDone();
	}

	/**
	 * The latency to count: a peer that is in quarantine, and quick to say so, is asked
	 * last.
	 */
	private static long cost(Reply reply, long nanos) {
		return (reply instanceof Failed failed && failed.reason() == Reason.REBUILDING) ? REBUILDING_NANOS : nanos;
	}

	private Reply replyIn(ReplyFrame frame, PeerCall call) {
		try {
			return frame.toReply(call.key, this.form);
		}
		catch (DamagedEntryException ex) {
			return Failed.notDone(Reason.UNREADABLE, "the entry was damaged on its way: " + ex.getMessage());
		}
		catch (IllegalStateException | IllegalArgumentException ex) {
			return call.lost(Reason.INTERNAL, "the peer has sent an invalid reply: " + ex.getMessage());
		}
	}

	private void sweepLater() {
		var _ = this.loop.schedule(this::sweep, SWEEP_INTERVAL.toNanos(), TimeUnit.NANOSECONDS);
	}

	private void sweep() {
		long now = this.time.nanos();
		this.inFlight.removeIf(call -> call.deadlineNanos <= now, call -> timeOut(call, now));
		endWhereDone();
		this.sweeping = this.inFlight.size() > 0;
		if (this.sweeping) {
			sweepLater();
		}
	}

	private void timeOut(PeerCall call, long now) {
		this.overdueBytes += call.sentBytes;
		if (call.isRead()) {
			this.latency.add(now - call.startedNanos, now);
		}
		finish(call, call.lost(Reason.TIMEOUT, this.peer.address() + " has not answered within the deadline"));
	}

	/**
	 * Checks whether the peer is alive. Runs from the connect timeout after the start of
	 * an attempt until its stream ends, several times per silence timeout.
	 */
	private void watch() {
		long now = this.time.nanos();
		boolean stoodStill = now - this.watchedNanos > this.settings.silenceTimeout().toNanos() / 2;
		this.watchedNanos = now;
		if (stoodStill) {
			// This node did, and has not read yet what the peer has sent meanwhile.
			this.owedNanos = now;
		}
		else if (this.absence != null && !this.leaving) {
			breakOff("it has not said hello within kvorum.cluster.connect-timeout of %d ms"
				.formatted(this.settings.connectTimeout().toMillis()));
		}
		else if (silentNanos(now) > this.settings.silenceTimeout().toNanos() + onItsWayNanos()) {
			breakOff("it has been silent for kvorum.cluster.silence-timeout of %d ms"
				.formatted(this.settings.silenceTimeout().toMillis()));
		}
		else if ((!this.pinged && now - this.heardNanos > this.settings.silenceTimeout().toNanos() / PINGS)
				|| now - this.spokenNanos > this.settings.silenceTimeout().toNanos()) {
			// Also where much is heard, as one long reply: the peer hears nothing then.
			ping(now, 0);
		}
	}

	private void ponged(int ping) {
		this.pinged = false;
		this.overdueBytes = 0;
		if (ping != 0 && ping == this.lastPing) {
			this.known = this.telling;
		}
	}

	/** Sends a ping, which the peer answers behind all that was sent before. */
	private void ping(long now, int number) {
		if (owesNothing()) {
			this.owedNanos = now;
		}
		this.pinged = true;
		this.spokenNanos = now;
		this.writer.send(OperationFrame.ping(number));
	}

	private void breakOff(String why) {
		this.silent = true;
		this.broken.tryEmitError(new StreamEndedException(Reason.AWAY, why));
	}

	private void ended(Throwable error) {
		Throwable cause = (error instanceof WebClientRequestException && error.getCause() != null) ? error.getCause()
				: error;
		SSLException refusal = TlsFailures.refusalIn(error);
		String why = ReplicaProtocol.printable((refusal != null) ? words(refusal) : String.valueOf(cause.getMessage()));
		boolean wasOpen = this.absence == null || this.leaving;
		Reason reason = reasonOf(cause, refusal);
		this.absence = Failed.notDone(reason, this.peer.address() + " is away: " + why);
		if (wasOpen) {
			this.state.closed(reason, why);
		}
		else {
			this.state.notOpened(reason, why, this.silent || cause instanceof ConnectTimeoutException);
		}
		this.pinged = false;
		this.known = null;
		this.inFlight.removeIf(_ -> true, call -> finish(call, call.lost(Reason.DISCONNECTED,
				"the connection to %s has ended: %s".formatted(this.peer.address(), why))));
	}

	private static String words(SSLException refusal) {
		return (TlsFailures.isOfOther(refusal) ? "it refuses TLS with this node: " : "TLS with it has failed: ")
				+ TlsFailures.words(refusal);
	}

	private static Reason reasonOf(Throwable cause, @Nullable SSLException refusal) {
		if (refusal != null) {
			return TlsFailures.isOfOther(refusal) ? Reason.REFUSED : Reason.UNTRUSTED;
		}
		return (cause instanceof StreamEndedException ended) ? ended.reason() : Reason.AWAY;
	}

}
