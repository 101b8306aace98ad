package io.kvorum.wire;

import io.netty.buffer.ByteBuf;

/** Looks at the lines of a request's head before Netty's decoder joins them. */
final class HeadScanner {

	private HeadScanner() {
	}

	/**
	 * Whether a line of the head begins with a space or a tab. Netty's decoder takes it
	 * for a continuation (obs-fold, RFC 9112, 5.2) and joins it to the line before, after
	 * which it cannot be told from an honest line.
	 * @param in its reader index is at the beginning of a line
	 * @param started whether the request line has been read: empty lines before it are
	 * skipped, one after it ends the head
	 */
	static boolean hasFoldedLine(ByteBuf in, boolean started) {
		int end = in.writerIndex();
		int line = started ? in.readerIndex() : skipEmptyLines(in, end);
		while (line < end) {
			byte first = in.getByte(line);
			if (first == ' ' || first == '\t') {
				return true;
			}
			int lineFeed = (first != '\r') ? in.indexOf(line, end, (byte) '\n') : -1;
			if (lineFeed < 0) {
				return false;
			}
			line = lineFeed + 1;
		}
		return false;
	}

	private static int skipEmptyLines(ByteBuf in, int end) {
		int index = in.readerIndex();
		while (index < end && (in.getByte(index) == '\r' || in.getByte(index) == '\n')) {
			index++;
		}
		return index;
	}

}
