package io.kvorum.transport;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.transport.ReplicaProtocol.Lane;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/**
 * The other end of a {@link PeerStream}. It runs a peer's operations on this node's
 * replica, many at a time, and replies in the order in which they complete.
 * <p>
 * Runs on the event loop of its connection.
 */
final class ReplicaStream {

	private static final Logger logger = LoggerFactory.getLogger(ReplicaStream.class);

	/**
	 * Number of silence timeouts after which the stream of a silent peer is ended; a peer
	 * pings several times in each.
	 */
	private static final int SILENCE_TIMEOUTS = 10;

	/** Multiple of the peer's limit, as operations it has given up may still run. */
	private static final int MAX_UNDER_WAY_FACTOR = 4;

	private static final Failed TOO_MANY = Failed.notDone(Reason.OVERLOADED,
			"too many operations of the node that asked are under way");

	private static final Failed NO_ROOM = Failed.notDone(Reason.OVERLOADED,
			"too many replies wait for the network to the node that asked");

	private final Supplier<? extends Replica> replica;

	private final Lane lane;

	private final EntryForm form;

	private final TransportSettings settings;

	private final TimeSource time;

	private final Executor loop;

	private final FrameWriter writer;

	private final FrameReader<OperationFrame> reader;

	/** Closes the connection, which ends the stream. */
	private final Runnable disconnect;

	/** Receives other topologies of the peer. */
	private final Consumer<TopologyNames> onTopology;

	private volatile long heardNanos;

	/** Whether the peer considers the stream open; it sends no operation before that. */
	private volatile boolean isOpen;

	private int underWay;

	private boolean noMoreOperations;

	/**
	 * The stream of a peer.
	 * @param replica the replica of this node as it is when an operation arrives
	 * @param disconnect closes the connection
	 * @param onTopology receives other topologies of the peer
	 */
	ReplicaStream(Supplier<? extends Replica> replica, Lane lane, EntryForm form, TransportSettings settings,
			TimeSource time, Executor loop, Runnable disconnect, Consumer<TopologyNames> onTopology,
			TransportEvents events) {
		this.disconnect = disconnect;
		this.onTopology = onTopology;
		this.replica = replica;
		this.lane = lane;
		this.form = form;
		this.settings = settings;
		this.time = time;
		this.loop = loop;
		this.writer = new FrameWriter(loop, lane.maxWaitingBytes(), events::batchSent);
		this.reader = new FrameReader<>(settings.maxFrameBytes(), OperationFrame::read);
		this.heardNanos = time.nanos();
	}

	/**
	 * Runs the operations that arrive and emits their replies, until the operations end.
	 */
	Flux<DataBuffer> exchange(Flux<DataBuffer> in) {
		this.writer.send(ReplyFrame.of(0, ReplicaProtocol.HELLO));
		// Not doOnNext: the operator that ignores the buffers would release them once
		// more.
		Mono<DataBuffer> work = in.<DataBuffer>handle((buffer, _) -> receive(buffer))
			.then(Mono.<DataBuffer>fromRunnable(this::endOfOperations))
			.doFinally(_ -> this.reader.close());
		return Flux.merge(this.writer.buffers(), work).doOnDiscard(DataBuffer.class, DataBufferUtils::release);
	}

	private void receive(DataBuffer buffer) {
		this.heardNanos = this.time.nanos();
		this.isOpen = true;
		this.reader.read(buffer, this::carryOut);
	}

	Lane lane() {
		return this.lane;
	}

	/** Whether the peer has used the stream, if only for a ping. From any thread. */
	boolean isOpen() {
		return this.isOpen;
	}

	private void carryOut(OperationFrame operation) {
		if (operation.kind == ReplicaProtocol.PING) {
			this.writer.send(ReplyFrame.of(operation.correlation, ReplicaProtocol.PONG));
			endIfOverfull();
		}
		else if (operation.kind == ReplicaProtocol.TOPOLOGY) {
			this.onTopology.accept(TopologyNames.of(operation.entry));
		}
		else if (this.underWay >= MAX_UNDER_WAY_FACTOR * this.settings.maxInFlight()) {
			send(operation, TOO_MANY);
		}
		else {
			this.underWay++;
			new Operation(operation).subscribeTo(replyTo(operation));
		}
	}

	private void endOfOperations() {
		this.noMoreOperations = true;
		endWhereDone();
	}

	private void endWhereDone() {
		if (this.noMoreOperations && this.underWay == 0) {
			this.writer.end();
		}
	}

	private void send(OperationFrame operation, Reply reply) {
		ReplyFrame frame = frameOf(operation, reply);
		boolean hasRoom = frame.tail().length == 0 || this.writer.hasRoomFor(frame.tail().length);
		this.writer
			.send(hasRoom ? frame : ReplyFrame.of(operation.correlation, operation.key, shorter(reply), this.form));
		endIfOverfull();
	}

	private void endIfOverfull() {
		if (this.writer.isOverfull()) {
			end();
		}
	}

	/**
	 * Shortens a reply without room. A failure keeps its reason and its refusal, and
	 * loses its detail; any other reply becomes {@link #NO_ROOM}.
	 */
	private static Reply shorter(Reply reply) {
		return (reply instanceof Failed failed)
				? new Failed(failed.reason(), "", failed.mayHaveHappened(), failed.mayRetry(), failed.refusal())
				: NO_ROOM;
	}

	/**
	 * Starts an operation.
	 * @throws IllegalStateException if its kind is unknown, which ends the stream. A peer
	 * sends only what the protocol version of the stream has, so these bytes are no
	 * frame.
	 */
	private Mono<Reply> replyTo(OperationFrame operation) {
		Deadline deadline = new Deadline(this.heardNanos + TimeUnit.MICROSECONDS.toNanos(operation.remainingMicros));
		Replica replica = this.replica.get();
		return switch (operation.kind) {
			case ReplicaProtocol.READ -> replica.read(operation.key, deadline);
			case ReplicaProtocol.READ_VERSION -> replica.readVersion(operation.key, deadline);
			case ReplicaProtocol.STORE -> store(operation, Purpose.WRITE, deadline);
			case ReplicaProtocol.WRITE_BACK -> store(operation, Purpose.WRITE_BACK, deadline);
			case ReplicaProtocol.REPAIR -> store(operation, Purpose.REPAIR, deadline);
			case ReplicaProtocol.PREPARE -> replica.prepare(operation.key, operation.version, deadline);
			case ReplicaProtocol.ACCEPT ->
				withEntry(operation, entry -> replica.accept(operation.key, entry, operation.version, deadline));
			case ReplicaProtocol.SCAN -> scan(operation, deadline);
			case ReplicaProtocol.QUERY -> ask(operation, deadline);
			default -> throw new IllegalStateException("an operation of kind " + operation.kind);
		};
	}

	private Mono<Reply> store(OperationFrame operation, Purpose purpose, Deadline deadline) {
		return withEntry(operation, entry -> this.replica.get().store(operation.key, entry, purpose, deadline));
	}

	private Mono<Reply> withEntry(OperationFrame operation, Function<Entry, Mono<Reply>> call) {
		Entry entry;
		try {
			entry = this.form.read(operation.key, operation.entry);
		}
		catch (DamagedEntryException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "the entry was damaged on its way: " + ex.getMessage()));
		}
		return call.apply(entry);
	}

	private Mono<Reply> scan(OperationFrame operation, Deadline deadline) {
		ScanOrder order;
		try {
			order = ScanOrder.of(operation.entry);
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "asked for a scan that makes no sense: " + ex));
		}
		return this.replica.get().scan(order.range(), order.limit(), deadline);
	}

	private Mono<Reply> ask(OperationFrame operation, Deadline deadline) {
		PeerQuery query;
		try {
			query = PeerQuery.of(operation.entry);
		}
		catch (IllegalArgumentException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "asked " + ex.getMessage()));
		}
		return this.replica.get().ask(query, deadline);
	}

	private ReplyFrame frameOf(OperationFrame operation, Reply reply) {
		boolean isTooLarge = this.lane == Lane.SMALL && reply instanceof Held held
				&& held.entry() instanceof Entry.Live live && live.value().length() > Lane.SMALL_BYTES;
		return isTooLarge ? ReplyFrame.of(operation.correlation, ReplicaProtocol.TOO_LARGE)
				: ReplyFrame.of(operation.correlation, operation.key, reply, this.form);
	}

	/**
	 * Tells the peer of other topologies of this node. Called from any thread.
	 * @param topologies read when it is their turn: what is told last is the newest
	 */
	void tell(Supplier<TopologyNames> topologies) {
		if (this.form.knowsLayouts()) {
			this.loop.execute(() -> this.writer.send(ReplyFrame.topology(topologies.get())));
		}
	}

	/** Asks the peer to end the stream. Called from any thread. */
	void leave() {
		this.loop.execute(() -> this.writer.send(ReplyFrame.of(0, ReplicaProtocol.LEAVING)));
	}

	/** Ends the stream, whatever is under way. Called from any thread. */
	void end() {
		this.disconnect.run();
	}

	/** Ends the stream if the peer was silent for too long. Called from any thread. */
	void endIfSilent() {
		Duration limit = this.settings.silenceTimeout().multipliedBy(SILENCE_TIMEOUTS);
		if (this.time.nanos() - this.heardNanos > limit.toNanos()) {
			end();
		}
	}

	/**
	 * Subscriber of an operation under way. Rejected: flatMap, which at each completion
	 * scans as many slots as were ever in use together.
	 */
	private final class Operation extends BaseSubscriber<Reply> {

		private final OperationFrame frame;

		Operation(OperationFrame frame) {
			this.frame = frame;
		}

		void subscribeTo(Mono<Reply> reply) {
			reply.subscribe(this);
		}

		@Override
		protected void hookOnNext(Reply reply) {
			send(this.frame, reply);
		}

		/** Answers after a bug in this operation; the others go on. */
		@Override
		protected void hookOnError(Throwable error) {
			logger.error("An operation of a peer has failed with an unexpected error", error);
			send(this.frame, Failed.unknown(Reason.INTERNAL, "the replica has failed with an unexpected error"));
		}

		@Override
		protected void hookFinally(SignalType type) {
			ReplicaStream.this.underWay--;
			endWhereDone();
		}

	}

}
