package io.kvorum.transport;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.FluxSink.OverflowStrategy;

/**
 * Packs many frames into few buffers (natural batching). Frames of one turn of the event
 * loop leave together at its end. While the network takes nothing, frames gather for the
 * next buffers.
 * <p>
 * Used on one event loop only. The writer refuses nothing: a sender checks for room
 * before it sends a long frame.
 */
final class FrameWriter {

	/** Size from which a buffer takes no more frames. */
	private static final int BUFFER_BYTES = 32 << 10;

	private static final NettyDataBufferFactory BUFFERS = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);

	private final Executor loop;

	/** Receives the number of frames that begin in each buffer. */
	private final IntConsumer onBatch;

	private final Queue<Frame> waiting = new ArrayDeque<>();

	private final long maxWaitingBytes;

	private long waitingBytes;

	/** The length of the frame that found nothing waiting, whatever that length was. */
	private long firstBytes;

	private @Nullable FluxSink<DataBuffer> sink;

	/** The frame whose tail is being written; the tail may need several buffers. */
	private @Nullable Frame begun;

	private int tailWritten;

	private boolean scheduled;

	private boolean ending;

	/**
	 * Creates a writer on an event loop.
	 * @param maxWaitingBytes limit of the bytes that wait for the network
	 */
	FrameWriter(Executor loop, long maxWaitingBytes, IntConsumer onBatch) {
		this.loop = loop;
		this.maxWaitingBytes = maxWaitingBytes;
		this.onBatch = onBatch;
	}

	/** The buffers, for one subscriber, at its demand. */
	Flux<DataBuffer> buffers() {
		// Not push: it reports the first demand only.
		return Flux.<DataBuffer>create(subscriber -> {
			this.sink = subscriber;
			subscriber.onRequest(_ -> this.loop.execute(this::drain));
		}, OverflowStrategy.IGNORE).doOnDiscard(DataBuffer.class, DataBufferUtils::release);
	}

	void send(Frame frame) {
		if (this.waitingBytes == 0) {
			this.firstBytes = lengthOf(frame);
		}
		this.waiting.add(frame);
		this.waitingBytes += lengthOf(frame);
		schedule();
	}

	private static int lengthOf(Frame frame) {
		return frame.headBytes() + frame.tail().length;
	}

	/** Whether this many bytes more may wait; always true while nothing waits. */
	boolean hasRoomFor(int bytes) {
		return this.waitingBytes == 0 || this.waitingBytes + bytes <= this.maxWaitingBytes;
	}

	/**
	 * Whether twice the limit waits because the other end takes nothing. A frame that
	 * found nothing waiting does not count: it may be as long as a value.
	 */
	boolean isOverfull() {
		return this.waitingBytes - this.firstBytes > 2 * this.maxWaitingBytes;
	}

	/** Completes the buffers once all sent frames are in them. */
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
			ByteBuf buffer = nextBuffer();
			if (!buffer.isReadable()) {
				buffer.release();
				break;
			}
			subscriber.next(BUFFERS.wrap(buffer));
		}
		if (this.ending && this.waitingBytes == 0) {
			// Behind its end it would lose a buffer, and not release it.
			this.sink = null;
			subscriber.complete();
		}
	}

	private ByteBuf nextBuffer() {
		int bytes = (int) Math.min(this.waitingBytes, BUFFER_BYTES);
		ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(bytes);
		int frames = 0;
		while (buffer.readableBytes() < BUFFER_BYTES) {
			Frame frame = this.begun;
			if (frame == null) {
				frame = nextWanted();
				if (frame == null) {
					break;
				}
				frame.writeHead(buffer);
				this.begun = frame;
				this.tailWritten = 0;
				frames++;
			}
			writeTail(frame, buffer);
		}
		this.waitingBytes -= buffer.readableBytes();
		if (frames > 0) {
			this.onBatch.accept(frames);
		}
		return buffer;
	}

	private @Nullable Frame nextWanted() {
		Frame frame = this.waiting.poll();
		while (frame != null && !frame.isWanted()) {
			this.waitingBytes -= lengthOf(frame);
			frame = this.waiting.poll();
		}
		return frame;
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
