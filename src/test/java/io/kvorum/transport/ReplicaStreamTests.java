package io.kvorum.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.Listed;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import io.kvorum.transport.ReplicaProtocol.Lane;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.test.publisher.TestPublisher;

import static org.assertj.core.api.Assertions.assertThat;

/** The end of a stream that carries out operations, without a network. */
class ReplicaStreamTests {

	private static final NettyDataBufferFactory BUFFERS = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);

	private static final Key KEY = Generator.key("key");

	private static final Entry ENTRY = Generator.live(new Version(9, 9), "value");

	private final SteeredTime time = new SteeredTime();

	private final Queue<Runnable> loop = new ArrayDeque<>();

	private final HeldReplica replica = new HeldReplica();

	private final TransportSettings settings = new TransportSettings(null, null, Duration.ofSeconds(1),
			Duration.ofMillis(400), Duration.ofMillis(50), Duration.ZERO, 2, 1 << 20);

	private boolean isDisconnected;

	private final ReplicaStream stream = new ReplicaStream(() -> this.replica, Lane.SMALL, EntryForm.STORED,
			this.settings, this.time, this.loop::add, () -> this.isDisconnected = true, _ -> {
			}, TransportEvents.NONE);

	private final TestPublisher<DataBuffer> in = TestPublisher.createCold();

	private final List<ByteBuf> sent = new ArrayList<>();

	private final List<ByteBuf> received = new ArrayList<>();

	private final List<ReplyFrame> replies = new ArrayList<>();

	private final List<DataBuffer> discarded = new ArrayList<>();

	private final Peer peer = new Peer();

	ReplicaStreamTests() {
		this.stream.exchange(this.in.flux()).doOnDiscard(DataBuffer.class, this.discarded::add).subscribe(this.peer);
	}

	/** What the peer has not taken is given back. */
	@AfterEach
	void breakOff() {
		this.peer.cancel();
		turn();
	}

	private void turn() {
		for (Runnable task = this.loop.poll(); task != null; task = this.loop.poll()) {
			task.run();
		}
	}

	private void send(Frame... frames) {
		ByteBuf buffer = PooledByteBufAllocator.DEFAULT.buffer();
		for (Frame frame : frames) {
			frame.writeHead(buffer);
			buffer.writeBytes(frame.tail());
		}
		this.sent.add(buffer);
		this.in.next(BUFFERS.wrap(buffer));
		turn();
	}

	private static OperationFrame read(int correlation) {
		return new OperationFrame(correlation, ReplicaProtocol.READ, 1_000_000, KEY, Frame.NO_BYTES);
	}

	private List<Byte> kinds() {
		return this.replies.stream().map(reply -> reply.kind).toList();
	}

	@Test
	void itSaysHelloAndRepliesInTheOrderInWhichThingsAreDone() {
		this.peer.request(100);
		send(read(1), new OperationFrame(2, ReplicaProtocol.STORE, 1, KEY, EntryFormat.encode(KEY, ENTRY)));
		this.replica.answer(1, Acknowledged.INSTANCE);
		this.replica.answer(0, Held.of(ENTRY));
		turn();

		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.ACKNOWLEDGED, ReplicaProtocol.HELD);
		assertThat(this.replies).extracting(reply -> reply.correlation).containsExactly(0, 2, 1);
		assertThat(this.replica.asked).containsExactly("read", "store");
	}

	@Test
	void aRepairIsARepairAndAVersionAVersion() {
		send(new OperationFrame(2, ReplicaProtocol.REPAIR, 1, KEY, EntryFormat.encode(KEY, ENTRY)),
				new OperationFrame(3, ReplicaProtocol.READ_VERSION, 1, KEY, Frame.NO_BYTES));

		assertThat(this.replica.asked).containsExactly("REPAIR", "readVersion");
	}

	@Test
	void aBallotIsCarriedOutWithItsVersionAndTheTimeThatRemains() {
		this.peer.request(100);
		Version version = new Version(5, 6);
		byte[] entry = EntryFormat.encode(KEY, ENTRY);
		send(new OperationFrame(1, ReplicaProtocol.PREPARE, 700, KEY, version, Frame.NO_BYTES),
				new OperationFrame(2, ReplicaProtocol.ACCEPT, 800, KEY, version, entry),
				new OperationFrame(3, ReplicaProtocol.WRITE_BACK, 900, KEY, entry));
		this.replica.answer(0, Held.of(ENTRY));
		this.replica.answer(1, Acknowledged.INSTANCE);
		Reply refused = new Refusal(new Version(9, 9), new Version(8, 8)).toFailed();
		this.replica.answer(2, refused);
		turn();

		assertThat(this.replica.asked).containsExactly("prepare " + version,
				"accept %s on %s".formatted(ENTRY.version(), version), "WRITE_BACK");
		assertThat(this.replica.deadlines).extracting(deadline -> deadline.remainingNanos(this.time))
			.containsExactly(700_000L, 800_000L, 900_000L);
		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.HELD, ReplicaProtocol.ACKNOWLEDGED,
				ReplicaProtocol.REFUSED);
		assertThat(this.replies.getLast().toReply(KEY)).isEqualTo(refused);
	}

	@Test
	void theLargeEntryOfAPromiseHasToBeRequestedOnTheOtherLane() {
		this.peer.request(100);
		send(new OperationFrame(1, ReplicaProtocol.PREPARE, 700, KEY, new Version(5, 6), Frame.NO_BYTES));
		this.replica.answer(0, held(Lane.SMALL_BYTES + 1));
		turn();

		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.TOO_LARGE);
	}

	@Test
	void aScanIsCarriedOutAndItsPageIsTheReply() {
		this.peer.request(100);
		Page.Limit limit = Page.Limit.of(100, 10);
		send(new OperationFrame(4, ReplicaProtocol.SCAN, 1, OperationFrame.NO_KEY,
				new ScanOrder(KeyRange.all(), limit).toBytes()));
		Page.Builder page = new Page.Builder(limit);
		page.add(KEY, ENTRY);
		this.replica.answer(0, new Listed(page.build(false)));
		turn();

		assertThat(this.replica.asked).containsExactly("scan");
		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.LISTED);
		assertThat(this.replies.getLast().toReply(OperationFrame.NO_KEY)).isInstanceOfSatisfying(Listed.class,
				listed -> assertThat(listed.page().isLast()).isFalse());
	}

	@Test
	void anOrderOfAScanThatMakesNoSenseFailsThatScanAndNoOtherCall() {
		this.peer.request(100);
		byte[] tooLong = new ScanOrder(KeyRange.all(), Page.Limit.of(Page.Limit.MAX_BYTES, 10)).toBytes();
		tooLong[0]++;
		send(read(1), scan(2, Frame.NO_BYTES), scan(3, new byte[7]), scan(4, tooLong));
		this.replica.answer(0, Held.nothing());
		turn();

		assertThat(this.replies).extracting(reply -> reply.correlation).containsExactly(0, 2, 3, 4, 1);
		assertThat(this.replies.get(3).toReply(OperationFrame.NO_KEY)).isInstanceOfSatisfying(Failed.class,
				failed -> assertThat(failed.reason()).isEqualTo(Reason.INTERNAL));
		assertThat(this.replica.asked).containsExactly("read");
		assertThat(this.peer.isOver).isFalse();
	}

	private static OperationFrame scan(int correlation, byte[] order) {
		return new OperationFrame(correlation, ReplicaProtocol.SCAN, 1, OperationFrame.NO_KEY, order);
	}

	@Test
	void theTimeThatRemainsIsCountedFromTheArrival() {
		this.time.pass(Duration.ofSeconds(5));
		send(new OperationFrame(1, ReplicaProtocol.READ, 700, KEY, Frame.NO_BYTES));

		assertThat(this.replica.deadlines.getFirst().remainingNanos(this.time)).isEqualTo(700_000);
	}

	@Test
	void aPingIsAnsweredWhileTheReplicaIsBusyWithAllItMayTake() {
		this.peer.request(100);
		send(read(1), read(2));
		send(OperationFrame.ping(0));

		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.PONG);
	}

	@Test
	void aReplicaWithABugFailsOneOperationAndNotTheStream() {
		this.peer.request(100);
		send(read(1), read(2));
		this.replica.fail(0, new IllegalStateException("planted"));
		this.replica.answer(1, Held.nothing());
		turn();

		assertThat(this.replies).extracting(reply -> reply.correlation).containsExactly(0, 1, 2);
		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.FAILED,
				ReplicaProtocol.HELD_VERSION);
		assertThat(this.peer.isOver).isFalse();
	}

	@ParameterizedTest
	@ValueSource(bytes = { ReplicaProtocol.STORE, ReplicaProtocol.WRITE_BACK, ReplicaProtocol.REPAIR,
			ReplicaProtocol.ACCEPT })
	void anEntryThatWasDamagedOnItsWayIsNotStored(byte kind) {
		this.peer.request(100);
		byte[] entry = EntryFormat.encode(KEY, ENTRY);
		entry[entry.length - 1]++;
		send(new OperationFrame(1, kind, 1, KEY, entry));

		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.FAILED);
		assertThat(this.replies.getLast().toReply(KEY)).isInstanceOfSatisfying(Failed.class,
				failed -> assertThat(failed.mayHaveHappened()).isFalse());
		assertThat(this.replica.asked).isEmpty();
	}

	@Test
	void noMoreIsDoneAtATimeThanAllowed() {
		for (int i = 0; i < 20; i++) {
			send(read(2 * i), read(2 * i + 1));
		}
		int most = 4 * this.settings.maxInFlight();
		assertThat(this.replica.asked).hasSize(most);
		this.peer.request(100);
		turn();
		assertThat(kinds()).filteredOn(kind -> kind == ReplicaProtocol.FAILED).hasSize(40 - most);
		this.replica.answer(1, Held.nothing());
		turn();
		send(read(100));
		assertThat(this.replica.asked).hasSize(most + 1);
	}

	@Test
	void aStoreThatMayHaveHappenedIsToldSoThoughRepliesWait() {
		// So many wait here, and as many behind this stream.
		int large = 2 * Lane.SMALL.maxWaitingBytes() / Lane.SMALL_BYTES;
		int replies = 2 * large;
		for (int i = 0; i < replies; i++) {
			send(read(i));
			this.replica.answer(i, held((i < large) ? Lane.SMALL_BYTES : 100));
		}
		OperationFrame store = new OperationFrame(replies, ReplicaProtocol.STORE, 1, KEY,
				EntryFormat.encode(KEY, ENTRY));
		send(store, store, read(replies + 1));
		this.replica.answer(replies, new Refusal(new Version(9, 9), new Version(8, 8)).toFailed());
		this.replica.answer(replies + 1, Failed.unknown(Reason.WRITE_FAILED, "the disk is gone ".repeat(20)));
		this.replica.answer(replies + 2, held(1000));
		this.peer.request(Long.MAX_VALUE);
		turn();

		assertThat(this.replies.get(this.replies.size() - 3).toReply(KEY)).as("a refusal, of which nothing is lost")
			.isEqualTo(new Refusal(new Version(9, 9), new Version(8, 8)).toFailed());
		assertThat(this.replies.get(this.replies.size() - 2).toReply(KEY))
			.isEqualTo(Failed.unknown(Reason.WRITE_FAILED, ""));
		assertThat(this.replies.getLast().toReply(KEY)).as("a read, for which there is no room")
			.isInstanceOfSatisfying(Failed.class, failed -> assertThat(failed.reason()).isEqualTo(Reason.OVERLOADED));
	}

	private static Reply held(int valueLength) {
		return Held.of(Generator.live(ENTRY.version(), "v".repeat(valueLength)));
	}

	@Test
	void whenThePeerBreaksOffNoBufferStaysBehind() {
		this.peer.request(1);
		for (int i = 0; i < 20; i++) {
			send(read(2 * i), read(2 * i + 1));
		}
		ByteBuf part = PooledByteBufAllocator.DEFAULT.buffer().writeInt(100).writeInt(1);
		this.sent.add(part);
		this.in.next(BUFFERS.wrap(part));
		this.in.error(new IllegalStateException("the connection broke"));
		turn();

		assertThat(this.sent).allMatch(buffer -> buffer.refCnt() == 0);
	}

	@Test
	void whenTheConnectionIsCancelledNoBufferStaysBehind() {
		this.peer.request(1);
		for (int i = 0; i < 20; i++) {
			send(read(2 * i), read(2 * i + 1));
		}
		this.peer.cancel();
		turn();

		assertThat(this.sent).allMatch(buffer -> buffer.refCnt() == 0);
	}

	@Test
	void repliesThatThePeerDidNotTakeAreGivenBackWhenItIsGone() {
		turn();
		this.peer.cancel();
		turn();

		assertThat(this.discarded).hasSize(1)
			.allMatch(buffer -> NettyDataBufferFactory.toByteBuf(buffer).refCnt() == 0);
	}

	@Test
	void itDisconnectsWhenItIsToldTo() {
		this.peer.request(100);
		send(read(1));
		this.stream.end();

		assertThat(this.isDisconnected).isTrue();
	}

	@Test
	void pingsOfAPeerThatTakesNoRepliesEndTheStream() {
		// Not from the pool, whose buffers remember each access in tests.
		ByteBuf pings = Unpooled.buffer();
		for (int i = 0; i < 10_000; i++) {
			OperationFrame.ping(1).writeHead(pings);
		}
		for (int i = 0; i < 100 && !this.isDisconnected; i++) {
			this.in.next(BUFFERS.wrap(pings.copy()));
			turn();
		}

		assertThat(this.isDisconnected).isTrue();
	}

	@Test
	void itEndsWhenThePeerHasEndedAndAllIsAnswered() {
		this.peer.request(100);
		send(read(1));
		this.in.complete();
		turn();
		assertThat(this.peer.isOver).isFalse();
		this.replica.answer(0, Held.nothing());
		turn();

		assertThat(this.peer.isOver).isTrue();
		assertThat(kinds()).containsExactly(ReplicaProtocol.HELLO, ReplicaProtocol.HELD_VERSION);
	}

	@Test
	void aPeerThatIsSilentForLongIsGone() {
		this.peer.request(100);
		this.time.pass(this.settings.silenceTimeout().multipliedBy(10));
		this.stream.endIfSilent();
		assertThat(this.isDisconnected).isFalse();
		this.time.pass(Duration.ofNanos(1));
		this.stream.endIfSilent();

		assertThat(this.isDisconnected).isTrue();
	}

	@Test
	void whatIsNoFrameEndsTheStream() {
		for (byte kind : new byte[] { 0, ReplicaProtocol.ACCEPT + 1, ReplicaProtocol.HELLO, -1 }) {
			ReplicaStreamTests other = new ReplicaStreamTests();
			other.peer.request(100);
			other.send(new OperationFrame(1, kind, 1, KEY, Frame.NO_BYTES));
			assertThat(other.peer.isOver).isTrue();
			assertThat(other.sent).allMatch(buffer -> buffer.refCnt() == 0);
		}
	}

	/** Reads the replies. */
	private final class Peer extends BaseSubscriber<DataBuffer> {

		private final FrameReader<ReplyFrame> reader = new FrameReader<>(1 << 20, ReplyFrame::read);

		private boolean isOver;

		@Override
		protected void hookOnSubscribe(Subscription subscription) {
		}

		@Override
		protected void hookOnNext(DataBuffer buffer) {
			ReplicaStreamTests.this.received.add(NettyDataBufferFactory.toByteBuf(buffer));
			this.reader.read(buffer, ReplicaStreamTests.this.replies::add);
		}

		@Override
		protected void hookOnComplete() {
			this.isOver = true;
		}

		@Override
		protected void hookOnError(Throwable error) {
			this.isOver = true;
		}

	}

	/** Answers when it is told to. */
	private static final class HeldReplica implements Replica {

		private final List<String> asked = new ArrayList<>();

		private final List<Deadline> deadlines = new ArrayList<>();

		private final List<MonoSink<Reply>> callers = new ArrayList<>();

		void answer(int call, Reply reply) {
			this.callers.get(call).success(reply);
		}

		void fail(int call, Throwable error) {
			this.callers.get(call).error(error);
		}

		private Mono<Reply> call(String what, Deadline deadline) {
			return Mono.create(sink -> {
				this.asked.add(what);
				this.deadlines.add(deadline);
				this.callers.add(sink);
			});
		}

		@Override
		public Member member() {
			return new Member(0, "http://self");
		}

		@Override
		public Mono<Reply> read(Key key, Deadline deadline) {
			return call("read", deadline);
		}

		@Override
		public Mono<Reply> readVersion(Key key, Deadline deadline) {
			return call("readVersion", deadline);
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			return call((purpose == Purpose.WRITE) ? "store" : purpose.name(), deadline);
		}

		@Override
		public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
			return call("prepare " + ballot, deadline);
		}

		@Override
		public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
			return call("accept %s on %s".formatted(entry.version(), base), deadline);
		}

		@Override
		public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			return call("scan", deadline);
		}

		@Override
		public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long expectedNanos() {
			return 0;
		}

	}

}
