package io.kvorum.transport;

import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.Listed;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import io.kvorum.transport.TransportEvents.Call;
import io.kvorum.transport.TransportEvents.Refused;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.netty.http.client.HttpClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/** The replica protocol between nodes in one JVM, over real connections. */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class ReplicaTransportTests {

	private static final String RIGHT_VERSION = String.valueOf(ReplicaProtocol.VERSIONS.oldest());

	private static final Key KEY = Generator.key("key");

	private static final Live ENTRY = Generator.live(new Version(9 << 16, 9), "value");

	private final TransportNodes nodes = new TransportNodes(2);

	private final TestReplica first = this.nodes.replica(0);

	private final TestReplica second = this.nodes.replica(1);

	private final List<AutoCloseable> peers = new ArrayList<>();

	@AfterEach
	void stopAll() throws Exception {
		for (AutoCloseable peer : this.peers) {
			peer.close();
		}
		this.nodes.close();
	}

	private ScriptedPeer peer(boolean saysHello, BiConsumer<ScriptedPeer.Stream, OperationFrame> script) {
		ScriptedPeer peer = new ScriptedPeer(this.nodes.addresses.get(1), saysHello, script);
		this.peers.add(peer);
		return peer;
	}

	private Replica connected(ReplicaTransport transport) {
		this.nodes.awaitThere(transport, 1);
		return this.nodes.remote(transport, 1);
	}

	/** From the first node to the second, both started. */
	private Replica remote() {
		this.nodes.start(this.second);
		return connected(this.nodes.start(this.first));
	}

	/** No second of silence ends a stream where much is under way on a busy machine. */
	private static TransportSettings patient() {
		return TransportNodes.settings("the secret", 20_000, Duration.ofSeconds(20));
	}

	private static Live large(int bytes) {
		return new Live(new Version(7 << 16, 7), 3, Live.NEVER, "text/plain", Value.of(new Generator(1).bytes(bytes)));
	}

	private static Failed failed(Reply reply) {
		assertThat(reply).isInstanceOf(Failed.class);
		return (Failed) reply;
	}

	@Test
	void whatIsStoredThroughAPeerIsReadThroughIt() {
		Replica remote = remote();

		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.nothing());
		assertThat(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.of(ENTRY));
		assertThat(TransportNodes.reply(remote.readVersion(KEY, TransportNodes.soon())))
			.isEqualTo(new Held(ENTRY.version(), null));
		assertThat(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.REPAIR, TransportNodes.soon())))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(this.second.asked).extracting(TestReplica.Asked::call)
			.containsExactly(Call.READ, Call.STORE, Call.READ, Call.READ_VERSION, Call.REPAIR);
		assertThat(remote.member()).isEqualTo(this.second.member());
	}

	/** One that has missed a layout may be refused by nodes of later ones. */
	@Test
	void aPeerIsToldOfALayoutAtOnceIfNoOperationsWithItCanBeUnderWay() {
		List<String> told = new CopyOnWriteArrayList<>();
		peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind == ReplicaProtocol.TOPOLOGY) {
				told.add(TopologyNames.of(frame.entry).text());
			}
		}).version = String.valueOf(ReplicaProtocol.VERSIONS.newest());
		ReplicaTransport transport = this.nodes.start(this.first);
		connected(transport);
		Topology all = this.nodes.topology;
		Topology alone = Topology.of(this.nodes.addresses.subList(0, 1), 1);

		transport.become(new Layout(1, all), this.first, all);
		transport.become(new Layout(2, all), this.first, alone);
		TransportNodes.await("the peer is told", () -> !told.isEmpty());
		transport.become(new Layout(3, all), this.first, all);
		transport.announce();
		TransportNodes.await("the peer is told", () -> told.stream().anyMatch(text -> text.endsWith("@3")));

		assertThat(told).noneMatch(text -> text.endsWith("@1")).anyMatch(text -> text.endsWith("@2"));
	}

	@Test
	void theTimeThatRemainsTravelsWithTheOperation() {
		Replica remote = remote();
		TransportNodes.reply(remote.read(KEY, TransportNodes.in(Duration.ofSeconds(5))));

		assertThat(this.second.asked.getFirst().deadline().remainingNanos(TimeSource.SYSTEM)).isBetween(1L,
				Duration.ofSeconds(5).toNanos());
	}

	@ParameterizedTest
	@CsvSource({ "16000", "16384", "16385", "40000", "1048576", "2097152" })
	void entriesOfAnySizeGoThereAndComeBack(int bytes) {
		Replica remote = remote();
		Live entry = large(bytes);

		assertThat(TransportNodes.reply(remote.store(KEY, entry, Purpose.WRITE, TransportNodes.soon())))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.of(entry));
	}

	@Test
	void manyLargeEntriesAtATimeComeBackWithoutAWaitForAnythingElse() {
		TransportSettings patient = patient();
		this.nodes.start(this.second, patient);
		Replica remote = connected(this.nodes.start(this.first, patient));
		Live entry = large(1 << 20);
		TransportNodes.reply(remote.store(KEY, entry, Purpose.WRITE, TransportNodes.soon()));
		List<Reply> replies = Flux.range(0, 30)
			.flatMap(_ -> remote.read(KEY, TransportNodes.soon()), 30)
			.collectList()
			.blockOptional(Duration.ofSeconds(30))
			.orElseThrow();

		assertThat(replies).hasSize(30).allMatch(Held.of(entry)::equals);
	}

	/** From a caller outside the event loops, on the stream of large entries. */
	@Test
	void aConditionalWriteGoesThroughAPeer() {
		Replica remote = remote();
		Version ballot = new Version(9 << 16, 9);
		Version higher = new Version(9 << 16, 10);
		Entry entry = ENTRY.under(ballot, new Generator(1).lineage());
		assertThat(remote.knowsBallots()).isTrue();

		assertThat(TransportNodes.reply(remote.prepare(KEY, ballot, TransportNodes.soon()))).isEqualTo(Held.nothing());
		assertThat(TransportNodes.reply(remote.accept(KEY, entry, Version.ABSENT, TransportNodes.soon())))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(TransportNodes.reply(remote.prepare(KEY, higher, TransportNodes.soon()))).isEqualTo(Held.of(entry));
		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.of(entry));
		assertThat(this.second.asked).extracting(TestReplica.Asked::call, TestReplica.Asked::version)
			.containsExactly(tuple(Call.PREPARE, ballot), tuple(Call.ACCEPT, Version.ABSENT),
					tuple(Call.PREPARE, higher), tuple(Call.READ, Version.ABSENT));
		assertThat(this.second.asked.get(1).entry()).isEqualTo(entry);
	}

	@Test
	void whatAPromiseRefusesIsToldWithThePromiseAndWhatIsHeld() {
		Replica remote = remote();
		Version older = new Version(8 << 16, 9);
		Version promise = new Version(10 << 16, 9);
		TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon()));
		TransportNodes.reply(remote.prepare(KEY, promise, TransportNodes.soon()));
		Live late = Generator.live(older, "late");

		Reply refused = new Refusal(promise, ENTRY.version()).toFailed();
		for (Mono<Reply> call : List.of(remote.prepare(KEY, older, TransportNodes.soon()),
				remote.accept(KEY, late, Version.ABSENT, TransportNodes.soon()),
				remote.store(KEY, late, Purpose.WRITE, TransportNodes.soon()),
				remote.store(KEY, late, Purpose.WRITE_BACK, TransportNodes.soon()))) {
			assertThat(TransportNodes.reply(call)).isEqualTo(refused);
		}
		assertThat(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE_BACK, TransportNodes.soon())))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(TransportNodes.reply(remote.store(KEY, late, Purpose.REPAIR, TransportNodes.soon())))
			.as("older than what is held: nothing to do")
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(this.second.asked).extracting(TestReplica.Asked::call)
			.containsExactly(Call.STORE, Call.PREPARE, Call.PREPARE, Call.ACCEPT, Call.STORE, Call.WRITE_BACK,
					Call.WRITE_BACK, Call.REPAIR);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "4", "5" })
	void aPeerOfAnOlderReleaseIsNotAskedForBallotsAndGetsNoLineage(String version) {
		List<OperationFrame> stored = new CopyOnWriteArrayList<>();
		ScriptedPeer peer = peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind != ReplicaProtocol.PING) {
				stored.add(frame);
				stream.send(ReplyFrame.of(frame.correlation, ReplicaProtocol.ACKNOWLEDGED));
			}
		});
		peer.version = version.isEmpty() ? null : version;
		Replica remote = connected(this.nodes.start(this.first));
		Live entry = ENTRY.under(ENTRY.version(), new Generator(1).lineage());

		assertThat(remote.knowsBallots()).isFalse();
		assertThat(TransportNodes.reply(remote.prepare(KEY, ENTRY.version(), TransportNodes.soon())))
			.isSameAs(Replica.NO_BALLOTS);
		assertThat(TransportNodes.reply(remote.accept(KEY, entry, Version.ABSENT, TransportNodes.soon())))
			.isSameAs(Replica.NO_BALLOTS);
		assertThat(stored).isEmpty();
		for (Purpose purpose : Purpose.values()) {
			assertThat(TransportNodes.reply(remote.store(KEY, entry, purpose, TransportNodes.soon())))
				.isEqualTo(Acknowledged.INSTANCE);
		}
		byte[] plain = new EntryForm(version.equals("5") ? 5 : 4, 2).written(KEY, EntryFormat.encode(KEY, ENTRY));
		assertThat(stored).extracting(frame -> frame.kind)
			.containsExactly(ReplicaProtocol.STORE, ReplicaProtocol.REPAIR, ReplicaProtocol.REPAIR);
		assertThat(stored).allSatisfy(frame -> assertThat(frame.entry).isEqualTo(plain));
	}

	@Test
	void aPeerThatIsUpdatedIsAskedForBallotsFromThenOn() {
		ScriptedPeer peer = peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind == ReplicaProtocol.PREPARE) {
				stream.send(ReplyFrame.of(frame.correlation, KEY, Held.of(ENTRY)));
			}
		});
		peer.version = "5";
		ReplicaTransport transport = this.nodes.start(this.first);
		Replica remote = connected(transport);
		assertThat(remote.knowsBallots()).isFalse();
		peer.saysHello = false;
		peer.streams.forEach(ScriptedPeer.Stream::breakOff);
		this.nodes.awaitAway(transport, 1);
		assertThat(remote.knowsBallots()).as("of a peer that is away").isTrue();
		assertThat(failed(TransportNodes.reply(remote.prepare(KEY, ENTRY.version(), TransportNodes.soon()))).reason())
			.isEqualTo(Reason.AWAY);
		peer.version = "6";
		peer.saysHello = true;

		this.nodes.awaitThere(transport, 1);
		assertThat(remote.knowsBallots()).isTrue();
		assertThat(TransportNodes.reply(remote.prepare(KEY, ENTRY.version(), TransportNodes.soon())))
			.isEqualTo(Held.of(ENTRY));
	}

	/** A node of an older release asks; the newest version that it speaks. */
	@ParameterizedTest
	@ValueSource(ints = { 4, 5, 6 })
	void aCallerOfAnOlderReleaseGetsNoLineageAndARefusalAsAFailureThatDidNothing(int version) {
		this.nodes.start(this.second);
		Entry entry = ENTRY.under(ENTRY.version(), new Generator(1).lineage());
		Awaited.of(this.second.storage.store(KEY, entry, Deadline.NONE));
		EntryForm form = new EntryForm(version, 2);
		Live late = Generator.live(new Version(1 << 16, 1), "late");
		ScanOrder order = new ScanOrder(KeyRange.all(), Page.Limit.of(1000, 10));
		List<ReplyFrame> replies = repliesTo(version,
				new OperationFrame(1, ReplicaProtocol.READ, 1_000_000, KEY, Frame.NO_BYTES),
				new OperationFrame(2, ReplicaProtocol.SCAN, 1_000_000, OperationFrame.NO_KEY, order.toBytes()),
				new OperationFrame(3, ReplicaProtocol.STORE, 1_000_000, KEY,
						form.written(KEY, EntryFormat.encode(KEY, late))));

		Live known = (Live) ((version < 6) ? ENTRY : entry);
		Copies copies = (version < 5) ? Copies.DEFAULT : known.copies();
		Live expected = new Live(known.version(), copies, Live.NEVER, known.contentType(), known.value(),
				known.lineage());
		assertThat(replies.get(1).toReply(KEY, form)).isEqualTo(Held.of(expected));
		Page.Cursor cursor = page(replies.get(2).toReply(OperationFrame.NO_KEY, form)).cursor();
		assertThat(cursor.advance()).isTrue();
		assertThat(cursor.entry()).isEqualTo(expected);
		assertThat(cursor.advance()).isFalse();
		Failed refused = new Refusal(ENTRY.version(), ENTRY.version()).toFailed();
		assertThat(replies.get(3).kind).isEqualTo((version < 6) ? ReplicaProtocol.FAILED : ReplicaProtocol.REFUSED);
		assertThat(replies.get(3).toReply(KEY, form))
			.isEqualTo((version < 6) ? Failed.notDone(Reason.PROMISED, refused.detail()) : refused);
	}

	/** What the second node replies to one that speaks the versions up to this one. */
	private List<ReplyFrame> repliesTo(int newest, OperationFrame... operations) {
		String address = this.nodes.addresses.get(1);
		Opening opening = new Opening(challengeOf(address), "nonce", "", address, "",
				TopologyNames.of(this.nodes.topology).text());
		ByteBuf all = Unpooled.buffer();
		for (OperationFrame operation : operations) {
			operation.writeHead(all);
			all.writeBytes(operation.tail());
		}
		ByteBuf in = HttpClient.newConnection().headers(headers -> {
			introduce(headers, opening, RIGHT_VERSION, "the secret");
			headers.set(ReplicaProtocol.NEWEST_VERSION_HEADER, newest);
		}).post().uri(address + ReplicaProtocol.PATH).send(Mono.just(all)).responseSingle((response, body) -> {
			assertThat(response.responseHeaders().getInt(ReplicaProtocol.VERSION_HEADER)).isEqualTo(newest);
			return body.asByteArray();
		}).map(Unpooled::wrappedBuffer).blockOptional(Duration.ofSeconds(10)).orElseThrow();
		List<ReplyFrame> replies = new ArrayList<>();
		while (in.isReadable()) {
			replies.add(ReplyFrame.read(in.readSlice(in.readInt())));
		}
		replies.sort(Comparator.comparingInt(reply -> reply.correlation));
		return replies;
	}

	@ParameterizedTest
	@EnumSource(names = { "READ", "PREPARE" })
	void aLargeEntryAskedForOnAnEventLoopComesBackToThatLoop(Call call) {
		Version ballot = new Version(8 << 16, 8);
		try (TransportNodes three = new TransportNodes(3)) {
			TestReplica holder = three.replica(0);
			TestReplica between = three.replica(1);
			three.start(holder);
			ReplicaTransport asking = three.start(between);
			ReplicaTransport client = three.start(three.replica(2));
			three.awaitThere(asking, 0);
			three.awaitThere(client, 1);
			three.awaitThere(client, 0);
			Live entry = large(100_000);
			TransportNodes.reply(three.remote(client, 0).store(KEY, entry, Purpose.WRITE, TransportNodes.soon()));
			List<String> threads = new CopyOnWriteArrayList<>();
			between.script(one -> {
				threads.add(Thread.currentThread().getName());
				Replica remote = three.remote(asking, 0);
				return ((call == Call.READ) ? remote.read(one.key(), one.deadline())
						: remote.prepare(one.key(), ballot, one.deadline()))
					.doOnNext(_ -> threads.add(Thread.currentThread().getName()));
			});

			for (int i = 0; i < 10; i++) {
				threads.clear();
				Reply reply = TransportNodes.reply(three.remote(client, 1).read(KEY, TransportNodes.soon()));
				assertThat(reply).isEqualTo(Held.of(entry));
				assertThat(threads.stream().distinct()).hasSize(1);
			}
			assertThat(holder.asked).extracting(TestReplica.Asked::call)
				.containsOnly(Call.STORE, call)
				.as("on both lanes")
				.filteredOn(call::equals)
				.hasSize(20);
			assertThat(holder.asked).filteredOn(one -> one.call() == Call.PREPARE)
				.allSatisfy(one -> assertThat(one.version()).isEqualTo(ballot));
		}
	}

	@Test
	void tenThousandOperationsAnsweredInAnyOrderEachGetTheirOwnReply() {
		TransportSettings patient = patient();
		this.nodes.start(this.second, patient);
		Replica remote = connected(this.nodes.start(this.first, patient));
		List<Runnable> held = Collections.synchronizedList(new ArrayList<>());
		int operations = 10_000;
		this.second.script(one -> Mono.create(sink -> {
			held.add(() -> sink.success(
					Held.of(Generator.live(new Version(1, 1), new String(one.key().bytes(), StandardCharsets.UTF_8)))));
			if (held.size() == operations) {
				Collections.shuffle(held, ThreadLocalRandom.current());
				held.forEach(Runnable::run);
			}
		}));
		List<CompletableFuture<@Nullable Reply>> replies = new ArrayList<>();
		for (int i = 0; i < operations; i++) {
			replies.add(asked(remote.read(Generator.key("key" + i), TransportNodes.soon())));
		}

		for (int i = 0; i < operations; i++) {
			assertThat(replies.get(i).join()).isEqualTo(Held.of(Generator.live(new Version(1, 1), "key" + i)));
		}
	}

	@Test
	void aPeerWithoutAStreamIsAwayAndFailsAtOnce() {
		ReplicaTransport transport = this.nodes.start(this.first);
		Replica remote = this.nodes.remote(transport, 1);

		assertThat(remote.expectedNanos()).isEqualTo(Replica.AWAY);
		Failed read = failed(TransportNodes.reply(remote.read(KEY, TransportNodes.soon())));
		Failed store = failed(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())));
		assertThat(List.of(read, store))
			.allMatch(reply -> reply.reason() == Reason.AWAY && !reply.mayHaveHappened() && reply.mayRetry());
		TransportNodes.await("it is told why",
				() -> transport.peers().getFirst().streams() == 0 && !transport.peers().getFirst().reason().isEmpty());
	}

	@Test
	void aPeerThatStartsLaterIsFoundAndOneThatRestartsIsUsedAgain() {
		ReplicaTransport transport = this.nodes.start(this.first);
		assertThat(this.nodes.isThere(transport, 1)).isFalse();
		for (int i = 0; i < 3; i++) {
			ReplicaTransport peer = this.nodes.start(this.second);
			Replica remote = connected(transport);
			assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.nothing());
			TransportNodes.stop(peer);
			this.nodes.awaitAway(transport, 1);
		}
	}

	@Test
	void whenANodeHasStartedItAndItsPeersUseEachOtherWhateverTheProbeInterval() {
		TransportSettings settings = TransportNodes.probingNever();
		ReplicaTransport transport = this.nodes.start(this.first, settings);
		for (int i = 0; i < 3; i++) {
			ReplicaTransport peer = this.nodes.start(this.second, settings);
			assertThat(this.nodes.isThere(transport, 1)).isTrue();
			assertThat(this.nodes.hasAllStreams(peer, 0)).isTrue();
			// The end that is asked for a stream counts it a moment after the one that
			// asks.
			TransportNodes.await("both know that the other one reaches them",
					() -> transport.reachedBy().contains(this.nodes.addresses.get(1))
							&& peer.reachedBy().contains(this.nodes.addresses.get(0)));
			TransportNodes.stop(peer);
			this.nodes.awaitAway(transport, 1);
		}
	}

	@Test
	void aPeerIsAwayOnlyWithoutAnyStream() {
		ScriptedPeer peer = peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind == ReplicaProtocol.READ) {
				stream.send(ReplyFrame.of(frame.correlation, KEY, Held.of(ENTRY)));
			}
		});
		ReplicaTransport transport = this.nodes.start(this.first);
		Replica remote = connected(transport);
		peer.saysHello = false;
		peer.streams.stream().filter(stream -> stream.lane.equals("LARGE")).forEach(ScriptedPeer.Stream::breakOff);
		TransportNodes.await("the stream of this thread is lost",
				() -> transport.peers().getFirst().streams() < transport.peers().getFirst().wanted());

		assertThat(this.nodes.isThere(transport, 1)).isTrue();
		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.of(ENTRY));
	}

	@Test
	void aNodeKnowsWhoReachesItHoweverItReachesThem() {
		ReplicaTransport transport = this.nodes.start(this.first);
		peer(true, (_, _) -> {
		});
		connected(transport);
		assertThat(transport.reachedBy()).as("by one that takes streams and opens none").isEmpty();
	}

	@Test
	void aNodeKnowsWhoReachesItAndWhoDoesNoMore() {
		ReplicaTransport transport = this.nodes.start(this.first);
		ReplicaTransport peer = this.nodes.start(this.second);
		String address = this.nodes.addresses.get(1);
		TransportNodes.await("a stream from the peer", () -> transport.reachedBy().equals(Set.of(address)));

		TransportNodes.stop(peer);
		TransportNodes.await("no stream", () -> transport.reachedBy().isEmpty());
	}

	@Test
	void aTransportThatWasStoppedCanBeStartedAgain() {
		ReplicaTransport peer = this.nodes.start(this.second);
		ReplicaTransport transport = this.nodes.start(this.first);
		connected(transport);
		TransportNodes.stop(peer);
		this.nodes.awaitAway(transport, 1);
		peer.start();

		assertThat(TransportNodes.reply(connected(transport).read(KEY, TransportNodes.soon())))
			.isEqualTo(Held.nothing());
	}

	@Test
	void aPeerThatAcceptsAndNeverSaysHelloIsAway() throws Exception {
		try (var silent = new ServerSocket()) {
			silent.bind(TransportNodes.socketAddress(this.nodes.addresses.get(1)));
			ReplicaTransport transport = this.nodes.start(this.first);

			assertThat(this.nodes.isThere(transport, 1)).isFalse();
			TransportNodes.await("the reason is told",
					() -> transport.peers().getFirst().reason().contains("connect-timeout"));
		}
	}

	@Test
	void aPeerThatFallsSilentIsGivenUpItsStoresAreUnknownAndItsReadsNotDone() {
		peer(true, (_, _) -> {
		});
		Replica remote = connected(this.nodes.start(this.first));
		CompletableFuture<@Nullable Reply> store = remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())
			.toFuture();
		CompletableFuture<@Nullable Reply> read = remote.read(KEY, TransportNodes.soon()).toFuture();

		assertThat(store.join()).isInstanceOfSatisfying(Failed.class, failed -> {
			assertThat(failed.reason()).isEqualTo(Reason.DISCONNECTED);
			assertThat(failed.mayHaveHappened()).isTrue();
			assertThat(failed.detail()).contains("silence-timeout");
		});
		assertThat(read.join()).isInstanceOfSatisfying(Failed.class,
				failed -> assertThat(failed.mayHaveHappened()).isFalse());
	}

	@Test
	void aPeerThatAnswersPingsIsKeptHoweverLongAnOperationTakes() {
		ScriptedPeer peer = peer(true, ScriptedPeer::pong);
		Replica remote = connected(this.nodes.start(this.first));
		Failed reply = failed(TransportNodes
			.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.in(Duration.ofMillis(1_500)))));

		assertThat(reply.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(reply.mayHaveHappened()).isTrue();
		assertThat(peer.streams.stream().filter(stream -> stream.lane.equals("LARGE"))).hasSize(1);
	}

	@Test
	void aReplyAfterTheDeadlineFindsNobodyAndTheStreamGoesOn() {
		List<MonoSink<Reply>> held = new CopyOnWriteArrayList<>();
		Replica remote = remote();
		this.second.script(_ -> Mono.create(held::add));
		Failed late = failed(TransportNodes.reply(remote.read(KEY, TransportNodes.in(Duration.ofMillis(50)))));
		assertThat(late.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(late.mayHaveHappened()).isFalse();
		this.second.script(this.second::fromMemory);
		held.forEach(sink -> sink.success(Held.of(ENTRY)));

		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.nothing());
	}

	@Test
	void afterTheDeadlineNothingIsSent() {
		Replica remote = remote();
		Failed late = failed(
				TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.in(Duration.ZERO))));

		assertThat(late.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(late.mayHaveHappened()).isFalse();
		assertThat(this.second.asked).isEmpty();
	}

	@Test
	void beyondMaxInFlightOperationsAreRefusedAndPlacesThatAreFreeAreUsedAgain() {
		List<MonoSink<Reply>> held = new CopyOnWriteArrayList<>();
		this.second.script(_ -> Mono.create(held::add));
		this.nodes.start(this.second);
		Replica remote = connected(this.nodes.start(this.first, TransportNodes.settings("the secret", 3)));
		List<CompletableFuture<@Nullable Reply>> taken = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			taken.add(asked(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())));
		}
		Failed refused = failed(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())));
		assertThat(refused)
			.isEqualTo(Failed.notDone(Reason.OVERLOADED, "kvorum.cluster.max-in-flight of 3 is reached"));
		TransportNodes.await("three arrived", () -> held.size() == 3);
		held.forEach(sink -> sink.success(Acknowledged.INSTANCE));
		assertThat(taken).allSatisfy(store -> assertThat(store.join()).isEqualTo(Acknowledged.INSTANCE));
		this.second.script(this.second::fromMemory);

		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.nothing());
	}

	@Test
	void aConnectionThatBreaksForgetsNoOperation() {
		ScriptedPeer peer = peer(true, ScriptedPeer::pong);
		Replica remote = connected(this.nodes.start(this.first));
		List<CompletableFuture<@Nullable Reply>> stores = new ArrayList<>();
		List<CompletableFuture<@Nullable Reply>> reads = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			stores.add(asked(remote.store(Generator.key("k" + i), ENTRY, (i % 2 == 0) ? Purpose.REPAIR : Purpose.WRITE,
					TransportNodes.soon())));
			reads.add(asked(remote.readVersion(Generator.key("k" + i), TransportNodes.soon())));
		}
		TransportNodes.await("they arrived", () -> peer.frames.get() >= 1_000);
		peer.streams.forEach(ScriptedPeer.Stream::breakOff);

		for (CompletableFuture<@Nullable Reply> store : stores) {
			assertThat(failed(reply(store))).matches(Failed::mayHaveHappened)
				.extracting(Failed::reason)
				.isEqualTo(Reason.DISCONNECTED);
		}
		for (CompletableFuture<@Nullable Reply> read : reads) {
			assertThat(failed(reply(read)).mayHaveHappened()).isFalse();
		}
	}

	private static CompletableFuture<@Nullable Reply> asked(Mono<Reply> operation) {
		return operation.toFuture();
	}

	private static Reply reply(CompletableFuture<@Nullable Reply> future) {
		Reply reply = future.join();
		if (reply == null) {
			throw new AssertionError("there is no reply");
		}
		return reply;
	}

	@ParameterizedTest
	@CsvSource({ "99", "22", "0" })
	void aReplyThatIsNoneIsAnsweredAndForgetsNoOperation(byte kind) {
		peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind != ReplicaProtocol.PING) {
				stream.send(ReplyFrame.of(frame.correlation, kind));
			}
		});
		Replica remote = connected(this.nodes.start(this.first));
		Reply store = TransportNodes
			.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.in(Duration.ofSeconds(1))));

		assertThat(failed(store).reason()).isEqualTo(Reason.INTERNAL);
		assertThat(failed(store).mayHaveHappened()).isTrue();
	}

	@Test
	void bytesThatAreNoFramesEndTheStreamAndAllThatIsInFlight() {
		peer(true, (stream, frame) -> {
			if (frame.kind != ReplicaProtocol.PING) {
				stream.sendBytes(new byte[] { 127, 1, 2, 3, 4, 5, 6, 7, 8 });
			}
		});
		Replica remote = connected(this.nodes.start(this.first));

		assertThat(failed(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon()))))
			.isEqualTo(Failed.unknown(Reason.DISCONNECTED,
					"the connection to %s has ended: a frame of 2130772483 bytes, the limit is 2101248"
						.formatted(this.nodes.addresses.get(1))));
	}

	@Test
	void aNodeWithAnotherSecretIsRefusedAndToldWhy() {
		this.nodes.start(this.second, TransportNodes.settings("another", 10));
		ReplicaTransport transport = this.nodes.start(this.first);

		assertThat(this.nodes.isThere(transport, 1)).isFalse();
		TransportNodes.await("it is told why",
				() -> transport.peers().getFirst().reason().contains("another kvorum.cluster.secret"));
		// Each stream is refused by itself.
		Replica remote = this.nodes.remote(transport, 1);
		TransportNodes.await("a read is refused",
				() -> failed(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).reason() == Reason.REFUSED);
	}

	@Test
	void aNodeWithAnotherTopologyIsRefusedAndToldWhy() {
		this.nodes.start(this.second, TransportNodes.settings("the secret", 10), Topology.of(this.nodes.addresses, 1));
		ReplicaTransport transport = this.nodes.start(this.first);

		assertThat(this.nodes.isThere(transport, 1)).isFalse();
		TransportNodes.await("it is told why",
				() -> transport.peers().getFirst().reason().contains("has another topology"));
	}

	@Test
	void withoutASecretEverybodyIsLetIn() {
		this.nodes.start(this.second, TransportNodes.settings(null, 10));

		assertThat(connected(this.nodes.start(this.first, TransportNodes.settings(null, 10))).expectedNanos())
			.isNotEqualTo(Replica.AWAY);
	}

	@Test
	void aNodeWithASecretAsksNobodyWhoDoesNotShowIt() {
		this.nodes.start(this.second, TransportNodes.settings(null, 10));
		ReplicaTransport transport = this.nodes.start(this.first);

		assertThat(this.nodes.isThere(transport, 1)).isFalse();
		TransportNodes.await("it is told why",
				() -> transport.peers().getFirst().reason().contains("another kvorum.cluster.secret"));
		assertThat(this.second.asked).isEmpty();
	}

	@ParameterizedTest
	@CsvSource(nullValues = "null", value = { "the secret, right, right, right, 200", "null, right, right, right, 401",
			"the Secret, right, right, right, 401", "the secre, right, right, right, 401",
			"the secret!, right, right, right, 401", "null, right, wrong, wrong, 401", "null, wrong, wrong, wrong, 426",
			"the secret, wrong, right, right, 426", "the secret, null, right, right, 426",
			"the secret, right, wrong, right, 409", "the secret, right, null, right, 409",
			"the secret, right, right, wrong, 421", "the secret, right, right, null, 421" })
	void whoMayOpenAStream(@Nullable String secret, @Nullable String version, @Nullable String topology,
			@Nullable String to, int status) {
		this.nodes.start(this.second);
		String address = this.nodes.addresses.get(1);
		String fingerprint = TopologyNames.of(this.nodes.topology).text();
		Opening opening = new Opening(challengeOf(address), "nonce", "", "right".equals(to) ? address : orNone(to), "",
				"right".equals(topology) ? fingerprint : orNone(topology));
		int answered = open(address, opening, "right".equals(version) ? RIGHT_VERSION : version, secret);

		assertThat(answered).isEqualTo(status);
		assertThat(this.second.asked).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "LARGE, 200", "HUGE, 400", "small, 400", "'', 200" })
	void aLaneThatThereIsNotIsRefusedAndCounted(String lane, int status, CapturedOutput output) {
		List<Refused> refused = new CopyOnWriteArrayList<>();
		this.nodes.start(this.second, TransportNodes.settings("the secret", 10), new TransportEvents() {
			@Override
			public void refused(Refused why) {
				refused.add(why);
			}
		});
		String address = this.nodes.addresses.get(1);
		Opening opening = new Opening(challengeOf(address), "nonce", "", address, lane,
				TopologyNames.of(this.nodes.topology).text());

		assertThat(open(address, opening, RIGHT_VERSION, "the secret")).isEqualTo(status);
		assertThat(refused).isEqualTo((status == 400) ? List.of(Refused.LANE) : List.of());
		assertThat(output.getAll()).doesNotContain("IllegalArgumentException").doesNotContain("HUGE");
	}

	@Test
	void aChallengeThatIsOverIsNotToldAsAnotherSecret(CapturedOutput output) {
		List<Refused> refused = new CopyOnWriteArrayList<>();
		this.nodes.start(this.second, TransportNodes.settings("the secret", 10), new TransportEvents() {
			@Override
			public void refused(Refused why) {
				refused.add(why);
			}
		});
		String address = this.nodes.addresses.get(1);
		Opening opening = new Opening(challengeOf(address), "nonce", "", address, "",
				TopologyNames.of(this.nodes.topology).text());
		open(address, opening, RIGHT_VERSION, "the secret");

		assertThat(open(address, opening, RIGHT_VERSION, "the secret")).isEqualTo(401);
		assertThat(output.getAll())
			.contains("the proof is of a challenge that %s has not given, that is older than 10 s, or was used before"
				.formatted(address))
			.doesNotContain("another kvorum.cluster.secret");
		assertThat(refused).containsExactly(Refused.CHALLENGE);
	}

	private static String orNone(@Nullable String text) {
		return (text != null) ? text : "";
	}

	private static String challengeOf(String address) {
		return HttpClient.newConnection()
			.get()
			.uri(address + ReplicaProtocol.CHALLENGE_PATH)
			.responseContent()
			.aggregate()
			.asString()
			.blockOptional(Duration.ofSeconds(10))
			.orElseThrow();
	}

	/** Opens a stream that has no operations; returns what the node says to it. */
	private static int open(String address, Opening opening, @Nullable String version, @Nullable String secret) {
		return HttpClient.newConnection()
			.headers(headers -> introduce(headers, opening, version, secret))
			.post()
			.uri(address + ReplicaProtocol.PATH)
			.send(Flux.empty())
			.response()
			.blockOptional(Duration.ofSeconds(10))
			.orElseThrow()
			.status()
			.code();
	}

	private static void introduce(HttpHeaders headers, Opening opening, @Nullable String version,
			@Nullable String secret) {
		set(headers, ReplicaProtocol.CHALLENGE_HEADER, opening.challenge());
		set(headers, ReplicaProtocol.NONCE_HEADER, opening.nonce());
		set(headers, ReplicaProtocol.VERSION_HEADER, version);
		set(headers, ReplicaProtocol.TOPOLOGY_HEADER, opening.topology());
		set(headers, ReplicaProtocol.FROM_HEADER, opening.from());
		set(headers, ReplicaProtocol.TO_HEADER, opening.to());
		set(headers, ReplicaProtocol.LANE_HEADER, opening.lane());
		if (secret != null) {
			headers.set(ReplicaProtocol.PROOF_HEADER, TransportNodes.handshake(secret).proof(Side.CALLER, opening));
		}
	}

	@Test
	void aStreamThatIsNotUsedIsNoSignThatItsPeerTakesItForOpen() {
		ReplicaTransport transport = this.nodes.start(this.second);
		String address = this.nodes.addresses.get(1);
		Opening opening = new Opening(challengeOf(address), "nonce", this.nodes.addresses.get(0), address, "",
				TopologyNames.of(this.nodes.topology).text());
		CompletableFuture<byte[]> hello = new CompletableFuture<>();
		Disposable stream = HttpClient.newConnection()
			.headers(headers -> introduce(headers, opening, RIGHT_VERSION, "the secret"))
			.post()
			.uri(address + ReplicaProtocol.PATH)
			.send(Flux.never())
			.responseContent()
			.asByteArray()
			.subscribe(hello::complete, hello::completeExceptionally);

		assertThat(hello).succeedsWithin(Duration.ofSeconds(10));
		assertThat(transport.reachedBy()).isEmpty();
		stream.dispose();
	}

	private static void set(HttpHeaders headers, String name, @Nullable String value) {
		if (value != null && !value.isEmpty()) {
			headers.set(name, value);
		}
	}

	@Test
	void aProofIsGoodForOneStreamAndForNothingElse() {
		this.nodes.start(this.second);
		this.nodes.start(this.first);
		String address = this.nodes.addresses.get(1);
		String topology = TopologyNames.of(this.nodes.topology).text();
		Opening opening = new Opening(challengeOf(address), "nonce", "", address, "", topology);
		Opening atAnother = new Opening(challengeOf(this.nodes.addresses.get(0)), "nonce", "", address, "", topology);

		assertThat(open(address, opening, RIGHT_VERSION, "the secret")).isEqualTo(200);
		assertThat(open(address, opening, RIGHT_VERSION, "the secret")).as("played again").isEqualTo(401);
		assertThat(open(this.nodes.addresses.get(0), atAnother, RIGHT_VERSION, "the secret"))
			.as("for one node, at another one")
			.isEqualTo(421);
		assertThat(open(address, atAnother, RIGHT_VERSION, "the secret")).as("a challenge of another node")
			.isEqualTo(401);
	}

	@Test
	void theSecretNeverTravels() {
		ScriptedPeer peer = peer(true, ScriptedPeer::pong);
		connected(this.nodes.start(this.first));

		assertThat(peer.headers).isNotEmpty()
			.allSatisfy(headers -> assertThat(headers.toString()).doesNotContain("the secret"));
	}

	@Test
	void aStreamIntroducesItself() {
		ScriptedPeer peer = peer(true, ScriptedPeer::pong);
		connected(this.nodes.start(this.first));

		HttpHeaders headers = peer.headers.getFirst();
		assertThat(ScriptedPeer.HANDSHAKE.isProof(headers.get(ReplicaProtocol.PROOF_HEADER), Side.CALLER,
				ScriptedPeer.openingOf(headers)))
			.isTrue();
		assertThat(peer.headers.getFirst().get(ReplicaProtocol.FROM_HEADER)).isEqualTo(this.nodes.addresses.get(0));
		assertThat(peer.headers.getFirst().get(ReplicaProtocol.TO_HEADER)).isEqualTo(this.nodes.addresses.get(1));
		TransportNodes.await("one stream for each loop and one for large entries", () -> peer.streams.size() >= 3);
		assertThat(peer.streams).extracting(stream -> stream.lane).containsExactlyInAnyOrder("SMALL", "SMALL", "LARGE");
	}

	@Test
	void aNodeThatLeavesAnswersWhatIsUnderWayAndTakesNoMore() {
		List<MonoSink<Reply>> held = new CopyOnWriteArrayList<>();
		this.second.script(_ -> Mono.create(held::add));
		ReplicaTransport peer = this.nodes.start(this.second);
		ReplicaTransport transport = this.nodes.start(this.first);
		Replica remote = connected(transport);
		CompletableFuture<@Nullable Reply> store = remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())
			.toFuture();
		TransportNodes.await("it arrived", () -> held.size() == 1);
		CompletableFuture<Void> stopped = new CompletableFuture<>();
		peer.stop(() -> stopped.complete(null));
		this.nodes.awaitAway(transport, 1);
		assertThat(failed(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).reason())
			.isEqualTo(Reason.AWAY);
		assertThat(store).isNotDone();
		held.getFirst().success(Acknowledged.INSTANCE);

		assertThat(store.join()).isEqualTo(Acknowledged.INSTANCE);
		stopped.join();
	}

	@Test
	void aPeerThatDoesNotHeedThatANodeLeavesHasNoStreamAfterwards() {
		ReplicaTransport node = this.nodes.start(this.second);
		String address = this.nodes.addresses.get(1);
		Opening opening = new Opening(challengeOf(address), "nonce", "", address, "",
				TopologyNames.of(this.nodes.topology).text());
		CompletableFuture<@Nullable Void> ended = HttpClient.newConnection()
			.headers(headers -> introduce(headers, opening, RIGHT_VERSION, "the secret"))
			.post()
			.uri(address + ReplicaProtocol.PATH)
			.send(Flux.never())
			.responseContent()
			.then()
			.onErrorComplete()
			.toFuture();
		TransportNodes.stop(node);

		TransportNodes.await("the stream has ended", ended::isDone);
	}

	@Test
	void whenANodeStopsAllItHasUnderWayIsAnswered() {
		peer(true, ScriptedPeer::pong);
		ReplicaTransport transport = this.nodes.start(this.first);
		Replica remote = connected(transport);
		CompletableFuture<@Nullable Reply> store = remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())
			.toFuture();
		TransportNodes.stop(transport);

		assertThat(failed(reply(store)).mayHaveHappened()).isTrue();
		// Each stream ends on its own event loop.
		TransportNodes.await("the peer is away", () -> remote.expectedNanos() == Replica.AWAY);
	}

	@Test
	void aPortThatIsTakenIsToldWithItsAddress() {
		this.nodes.start(this.first);

		assertThatExceptionOfType(ReplicaPortException.class).isThrownBy(() -> this.nodes.start(this.nodes.replica(0)))
			.withMessageContaining(this.nodes.addresses.get(0).substring("http://".length()));
	}

	@Test
	void aReplicaThatHasABugFailsTheOperationAndNoOther() {
		Replica remote = remote();
		this.second.script(_ -> Mono.error(new IllegalStateException("planted")));
		Failed failed = failed(TransportNodes.reply(remote.store(KEY, ENTRY, Purpose.WRITE, TransportNodes.soon())));

		assertThat(failed.reason()).isEqualTo(Reason.INTERNAL);
		assertThat(failed.mayHaveHappened()).isTrue();
	}

	@Test
	void anEntryThatThePeerDamagedIsUnreadableAndNeverAValue() {
		peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind == ReplicaProtocol.READ) {
				stream.send(ReplyFrame.of(frame.correlation, Generator.key("another"), Held.of(ENTRY)));
			}
		});
		Replica remote = connected(this.nodes.start(this.first));

		assertThat(failed(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).reason())
			.isEqualTo(Reason.UNREADABLE);
	}

	private static Page page(Reply reply) {
		assertThat(reply).isInstanceOf(Listed.class);
		return ((Listed) reply).page();
	}

	@Test
	void aRangeIsReadThroughAPeerPageByPage() {
		Replica remote = remote();
		NavigableMap<Key, Entry> stored = new TreeMap<>();
		Generator random = new Generator(1);
		for (int i = 0; i < 100; i++) {
			stored.put(random.key(), random.entry(random.version()));
		}
		stored.forEach((key, entry) -> Awaited.of(this.second.storage.store(key, entry, Deadline.NONE)));
		NavigableMap<Key, Entry> read = new TreeMap<>();
		KeyRange rest = KeyRange.all();
		while (true) {
			Page page = page(TransportNodes.reply(remote.scan(rest, Page.Limit.of(2_000, 7), TransportNodes.soon())));
			for (Page.Cursor cursor = page.cursor(); cursor.advance();) {
				Key key = Key.of(cursor.keyBytes());
				assertThat(read.put(key, cursor.entry())).isNull();
			}
			if (page.isLast()) {
				break;
			}
			rest = page.behind(rest);
		}

		assertThat(read).isEqualTo(stored);
	}

	@Test
	void theLongestPageCrossesTheNetwork() {
		Replica remote = remote();
		for (int i = 0; i < 100; i++) {
			Awaited.of(this.second.storage.store(Generator.key("key %05d".formatted(i)), large(16_000), Deadline.NONE));
		}
		Page page = page(TransportNodes
			.reply(remote.scan(KeyRange.all(), Page.Limit.of(Page.Limit.MAX_BYTES, 1_000), TransportNodes.soon())));

		assertThat(page.length()).isGreaterThanOrEqualTo(Page.Limit.MAX_BYTES);
		assertThat(page.isLast()).isFalse();
	}

	@Test
	void aScanOfAPeerThatIsAwayFailsAtOnce() {
		Replica remote = this.nodes.remote(this.nodes.start(this.first), 1);

		assertThat(failed(
				TransportNodes.reply(remote.scan(KeyRange.all(), Page.Limit.of(100, 10), TransportNodes.soon()))))
			.matches(reply -> reply.reason() == Reason.AWAY && !reply.mayHaveHappened() && reply.mayRetry());
	}

	/** A byte of it, from the length of its key on. */
	@ParameterizedTest
	@CsvSource({ "0, INTERNAL", "4, INTERNAL", "6, UNREADABLE", "20, UNREADABLE", "-1, UNREADABLE" })
	void aPageThatThePeerDamagedIsAFailureAndTheStreamGoesOn(int at, Reason reason) {
		ScriptedPeer peer = peer(true, (stream, frame) -> {
			ScriptedPeer.pong(stream, frame);
			if (frame.kind == ReplicaProtocol.SCAN) {
				Page.Builder page = new Page.Builder(Page.Limit.of(100, 10));
				page.add(KEY, ENTRY);
				stream.sendBytes(damaged(ReplyFrame.of(frame.correlation, KEY, new Listed(page.build(true))), at));
			}
			else if (frame.kind == ReplicaProtocol.READ) {
				stream.send(ReplyFrame.of(frame.correlation, KEY, Held.of(ENTRY)));
			}
		});
		Replica remote = connected(this.nodes.start(this.first));
		TransportNodes.await("all streams are there", () -> peer.streams.size() == 3);
		Failed failed = failed(
				TransportNodes.reply(remote.scan(KeyRange.all(), Page.Limit.of(100, 10), TransportNodes.soon())));

		assertThat(failed.reason()).isEqualTo(reason);
		assertThat(failed.mayHaveHappened()).isFalse();
		assertThat(TransportNodes.reply(remote.read(KEY, TransportNodes.soon()))).isEqualTo(Held.of(ENTRY));
		assertThat(peer.streams).as("none was opened again").hasSize(3);
	}

	/** With a byte of its tail changed, counted from behind where it is negative. */
	private static byte[] damaged(ReplyFrame frame, int at) {
		ByteBuf bytes = Unpooled.buffer();
		frame.writeHead(bytes);
		bytes.writeBytes(frame.tail());
		int index = (at < 0) ? bytes.readableBytes() + at : frame.headBytes() + at;
		bytes.setByte(index, bytes.getByte(index) ^ 1);
		return ByteBufUtil.getBytes(bytes);
	}

}
