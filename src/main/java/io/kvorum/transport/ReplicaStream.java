package io.kvorum.transport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.transport.ReplicaProtocol.Lane;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The other end of a {@link PeerStream}: carries out what a peer asks this node's replica
 * for, many operations at a time, and replies in the order in which they are done.
 * <p>
 * On the event loop of its connection.
 */
final class ReplicaStream {

	private static final Logger logger = LoggerFactory.getLogger(ReplicaStream.class);

	/** A peer pings several times in each silence timeout; after this many it is gone. */
	private static final int SILENCE_TIMEOUTS = 10;

	/**
	 * As many as the peer has under way, and those that it has given up meanwhile: it
	 * must go on hearing of the others.
	 */
	private static final int MAX_IN_FLIGHT_FACTOR = 4;

	private final Replica replica;

	private final Lane lane;

	private final TransportSettings settings;

	private final TimeSource time;

	private final Executor loop;

	private final FrameWriter writer;

	private final FrameReader<OperationFrame> reader;

	private final Sinks.Empty<Void> gone = Sinks.empty();

	private volatile long heardNanos;

	ReplicaStream(Replica replica, Lane lane, TransportSettings settings, TimeSource time, Executor loop,
			TransportEvents events) {
		this.replica = replica;
		this.lane = lane;
		this.settings = settings;
		this.time = time;
		this.loop = loop;
		this.writer = new FrameWriter(loop, events::batchSent);
		this.reader = new FrameReader<>(settings.maxFrameBytes(), OperationFrame::read);
		this.heardNanos = time.nanos();
	}

	/** The replies to these operations; ends when they do. */
	Flux<DataBuffer> talk(Flux<DataBuffer> in) {
		this.writer.send(ReplyFrame.of(0, ReplicaProtocol.HELLO));
		Mono<DataBuffer> work = in.concatMapIterable(this::operations)
			.flatMap(this::carryOut, MAX_IN_FLIGHT_FACTOR * this.settings.maxInFlight())
			.doOnDiscard(DataBuffer.class, DataBufferUtils::release)
			.then()
			.or(this.gone.asMono())
			.then(Mono.<DataBuffer>fromRunnable(this.writer::end))
			.doFinally(_ -> this.reader.close());
		return Flux.merge(this.writer.buffers(), work);
	}

	private List<OperationFrame> operations(DataBuffer buffer) {
		this.heardNanos = this.time.nanos();
		List<OperationFrame> operations = new ArrayList<>();
		this.reader.read(buffer, operations::add);
		return operations;
	}

	private Mono<Void> carryOut(OperationFrame operation) {
		if (operation.kind == ReplicaProtocol.PING) {
			this.writer.send(ReplyFrame.of(operation.correlation, ReplicaProtocol.PONG));
			return Mono.empty();
		}
		return replyTo(operation).onErrorResume(ReplicaStream::unexpected)
			.doOnNext(reply -> this.writer.send(frameOf(operation, reply)))
			.then();
	}

	/** One operation has met a bug: the others go on. */
	private static Mono<Reply> unexpected(Throwable error) {
		logger.error("An operation of a peer met an error that nobody expected", error);
		return Mono.just(Failed.unknown(Reason.INTERNAL, "the replica met an error it did not expect"));
	}

	private Mono<Reply> replyTo(OperationFrame operation) {
		Deadline deadline = new Deadline(this.heardNanos + TimeUnit.MICROSECONDS.toNanos(operation.remainingMicros));
		return switch (operation.kind) {
			case ReplicaProtocol.READ -> this.replica.read(operation.key, deadline);
			case ReplicaProtocol.READ_VERSION -> this.replica.readVersion(operation.key, deadline);
			case ReplicaProtocol.STORE -> store(operation, false, deadline);
			case ReplicaProtocol.REPAIR -> store(operation, true, deadline);
			default -> throw new IllegalStateException("an operation of kind " + operation.kind);
		};
	}

	private Mono<Reply> store(OperationFrame operation, boolean repair, Deadline deadline) {
		Entry entry;
		try {
			entry = EntryFormat.decode(operation.key, operation.entry);
		}
		catch (DamagedEntryException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "the entry was damaged on its way: " + ex.getMessage()));
		}
		return this.replica.store(operation.key, entry, repair, deadline);
	}

	private ReplyFrame frameOf(OperationFrame operation, Reply reply) {
		boolean isTooLarge = this.lane == Lane.SMALL && reply instanceof Held held
				&& held.entry() instanceof Entry.Live live && live.value().length() > Lane.SMALL_BYTES;
		return isTooLarge ? ReplyFrame.of(operation.correlation, ReplicaProtocol.TOO_LARGE)
				: ReplyFrame.of(operation.correlation, operation.key, reply);
	}

	/** Asks the peer to end the stream. From any thread. */
	void leave() {
		this.loop.execute(() -> this.writer.send(ReplyFrame.of(0, ReplicaProtocol.LEAVING)));
	}

	/** Ends the stream where the peer is gone without a word. From any thread. */
	void endIfSilent() {
		Duration limit = this.settings.silenceTimeout().multipliedBy(SILENCE_TIMEOUTS);
		if (this.time.nanos() - this.heardNanos > limit.toNanos()) {
			this.loop.execute(() -> this.gone
				.tryEmitError(new StreamEndedException(Reason.AWAY, "silent for %d ms".formatted(limit.toMillis()))));
		}
	}

}
