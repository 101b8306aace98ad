package io.kvorum.wire;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/**
 * Several chunks of a chunked answer, with their lengths. The encoder lets them through
 * as they are. Netty's encoder takes three buffers and promises for each chunk, which
 * costs more than all else if the chunks are small.
 */
public final class Chunks extends UnpooledHeapByteBuf {

	/** The longest frame of a chunk, in bytes: 8 digits and two CRLF. */
	public static final int MAX_FRAME_BYTES = 12;

	private static final byte[] DIGITS = { '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e',
			'f' };

	/** Takes the first {@code length} bytes, which are whole chunks. */
	public Chunks(byte[] bytes, int length) {
		super(UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
		writerIndex(length);
	}

	/**
	 * Writes the line before the bytes of a chunk.
	 * @param length of the chunk; not 0, which would end the answer
	 * @return where it ends
	 */
	public static int begin(byte[] bytes, int at, int length) {
		int end = at;
		for (int shift = (Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length)) / 4 * 4; shift >= 0; shift -= 4) {
			bytes[end++] = DIGITS[(length >>> shift) & 0xf];
		}
		return end(bytes, end);
	}

	/** Writes the line after the bytes of a chunk; returns where it ends. */
	public static int end(byte[] bytes, int at) {
		bytes[at] = '\r';
		bytes[at + 1] = '\n';
		return at + 2;
	}

}
