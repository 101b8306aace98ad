package io.kvorum.transport;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.FluxSink.OverflowStrategy;

/**
 * Makes few buffers of many frames: natural batching. What is sent in one turn of the
 * event loop leaves at its end, together; while the network cannot take more the next
 * buffers gather.
 * <p>
 * Used on one event loop only. It bounds nothing by itself: who sends bounds what is in
 * flight.
 */
final class FrameWriter {

	/** A buffer takes no more frames when it has this many bytes. */
	private static final int BUFFER_BYTES = 32 << 10;

	private static final NettyDataBufferFactory BUFFERS = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);

	private final Executor loop;

	/** Told how many frames began in a buffer. */
	private final IntConsumer onBatch;

	private final Queue<Frame> waiting = new ArrayDeque<>();

	private long waitingBytes;

	private @Nullable FluxSink<DataBuffer> sink;

	/** Whose tail is being written; it may need several buffers. */
	private @Nullable Frame begun;

	private int tailWritten;

	private boolean scheduled;

	private boolean ending;

	FrameWriter(Executor loop, IntConsumer onBatch) {
		this.loop = loop;
		this.onBatch = onBatch;
	}

	/** The buffers, for one subscriber, as fast as it takes them. */
	Flux<DataBuffer> buffers() {
		// Not push: that tells of the first demand only.
		return Flux.create(subscriber -> {
			this.sink = subscriber;
			subscriber.onRequest(_ -> this.loop.execute(this::drain));
		}, OverflowStrategy.IGNORE);
	}

	void send(Frame frame) {
		this.waiting.add(frame);
		this.waitingBytes += frame.headBytes() + frame.tail().length;
		schedule();
	}

	/** Completes the buffers when all that was sent is in them. */
	void end() {
		this.ending = true;
		schedule();
	}

	private void schedule() {
		if (!this.scheduled) {
			this.scheduled = true;
			this.loop.execute(this::drain);
		}
	}

	private void drain() {
		this.scheduled = false;
		FluxSink<DataBuffer> subscriber = this.sink;
		if (subscriber == null || subscriber.isCancelled()) {
			return;
		}
		while (this.waitingBytes > 0 && subscriber.requestedFromDownstream() > 0 && !subscriber.isCancelled()) {
			subscriber.next(BUFFERS.wrap(nextBuffer()));
		}
		if (this.ending && this.waitingBytes == 0) {
			subscriber.complete();
		}
	}

	private ByteBuf nextBuffer() {
		int bytes = (int) Math.min(this.waitingBytes, BUFFER_BYTES);
		ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(bytes);
		int frames = 0;
		while (buffer.readableBytes() < bytes) {
			Frame frame = this.begun;
			if (frame == null) {
				frame = this.waiting.remove();
				frame.writeHead(buffer);
				this.begun = frame;
				this.tailWritten = 0;
				frames++;
			}
			writeTail(frame, buffer);
		}
		this.waitingBytes -= buffer.readableBytes();
		this.onBatch.accept(frames);
		return buffer;
	}

	private void writeTail(Frame frame, ByteBuf buffer) {
		byte[] tail = frame.tail();
		int room = Math.max(0, BUFFER_BYTES - buffer.readableBytes());
		int length = Math.min(tail.length - this.tailWritten, room);
		buffer.writeBytes(tail, this.tailWritten, length);
		this.tailWritten += length;
		if (this.tailWritten == tail.length) {
			this.begun = null;
		}
	}

}
