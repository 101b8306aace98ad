package io.kvorum.transport;

import java.util.function.Consumer;
import java.util.function.Function;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;

/**
 * Parses frames from buffers that begin and end anywhere. Keeps at most one incomplete
 * frame. Used by one thread at a time.
 */
final class FrameReader<F> {

	private final int maxFrameBytes;

	private final Function<ByteBuf, F> parser;

	/** The part of a frame that has arrived; null between frames. */
	private @Nullable ByteBuf begun;

	/** The parser reads the bytes after the length of a frame. */
	FrameReader(int maxFrameBytes, Function<ByteBuf, F> parser) {
		this.maxFrameBytes = maxFrameBytes;
		this.parser = parser;
	}

	/**
	 * Takes ownership of a buffer and hands out the frames that it completes.
	 * @throws IllegalStateException if a frame is longer than the limit; the stream is
	 * then useless
	 */
	void read(DataBuffer buffer, Consumer<F> frames) {
		try {
			ByteBuf in = NettyDataBufferFactory.toByteBuf(buffer);
			while (in.isReadable()) {
				if (this.begun == null) {
					readWhole(in, frames);
				}
				if (in.isReadable()) {
					readRest(in, frames);
				}
			}
		}
		finally {
			DataBufferUtils.release(buffer);
		}
	}

	/** Reads whole frames, the usual case: only the parser copies. */
	private void readWhole(ByteBuf in, Consumer<F> frames) {
		while (in.readableBytes() >= Integer.BYTES) {
			int length = checked(in.getInt(in.readerIndex()));
			if (in.readableBytes() < Integer.BYTES + length) {
				return;
			}
			in.skipBytes(Integer.BYTES);
			frames.accept(this.parser.apply(in.readSlice(length)));
		}
	}

	private void readRest(ByteBuf in, Consumer<F> frames) {
		ByteBuf partial = this.begun;
		if (partial == null) {
			partial = ByteBufAllocator.DEFAULT.buffer(in.readableBytes());
			this.begun = partial;
		}
		take(in, partial, Integer.BYTES);
		if (partial.readableBytes() < Integer.BYTES) {
			return;
		}
		int length = checked(partial.getInt(partial.readerIndex()));
		take(in, partial, Integer.BYTES + length);
		if (partial.readableBytes() == Integer.BYTES + length) {
			partial.skipBytes(Integer.BYTES);
			F frame = this.parser.apply(partial);
			close();
			frames.accept(frame);
		}
	}

	/** Moves bytes until the partial frame has this many, or the input is empty. */
	private static void take(ByteBuf in, ByteBuf partial, int bytes) {
		int missing = Math.min(bytes - partial.readableBytes(), in.readableBytes());
		if (missing > 0) {
			partial.writeBytes(in, missing);
		}
	}

	private int checked(int length) {
		if (length < 0 || length > this.maxFrameBytes) {
			throw new IllegalStateException(
					"a frame of %d bytes, the limit is %d".formatted(length, this.maxFrameBytes));
		}
		return length;
	}

	/** Releases the incomplete frame. */
	void close() {
		ByteBuf partial = this.begun;
		if (partial != null) {
			this.begun = null;
			partial.release();
		}
	}

}
