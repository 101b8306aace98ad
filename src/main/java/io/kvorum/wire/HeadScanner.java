package io.kvorum.wire;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Sees the flaws of a request's head that Netty's decoder mends, so that its objects no
 * longer show them. {@link RequestDecoder} tells it what it reads. Pure: one per
 * connection, begun again for each head.
 */
final class HeadScanner {

	private boolean lineMisspelt;

	private int wordEnd;

	private boolean folded;

	private int contentLengthLines;

	/** A head begins. */
	void begin() {
		this.lineMisspelt = false;
		this.folded = false;
		this.contentLengthLines = 0;
	}

	/**
	 * Looks for a line that begins with a space or a tab. Netty takes it for a
	 * continuation (obs-fold, RFC 9112, 5.2) and joins it to the line before. An empty
	 * line ends the head.
	 * @param in its reader index is at the beginning of a line
	 */
	void lines(ByteBuf in) {
		this.folded |= hasFoldedLine(in);
	}

	/** The first word of the request line. */
	void firstWord(int start, int length) {
		this.wordEnd = start + length;
	}

	/**
	 * A further word of the request line. Netty accepts any amount of any white space
	 * before it.
	 */
	void nextWord(byte[] line, int start, int length) {
		this.lineMisspelt |= start != this.wordEnd + 1 || line[this.wordEnd] != ' ';
		this.wordEnd = start + length;
	}

	/** The third word; Netty takes {@code http/1.1} as well. */
	void version(String version) {
		this.lineMisspelt |= !version.startsWith("HTTP/");
	}

	/**
	 * A header line. In HTTP/1.0 Netty keeps the first of several Content-Length lines.
	 */
	void header(AsciiString name) {
		if (HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name)) {
			this.contentLengthLines++;
		}
	}

	/** The flaw of the head, if any. */
	@Nullable Refusal flaw() {
		if (this.lineMisspelt) {
			return Refusal.MALFORMED;
		}
		if (this.folded) {
			return Refusal.FOLDED_LINE;
		}
		return (this.contentLengthLines > 1) ? Refusal.CONTENT_LENGTH : null;
	}

	private static boolean hasFoldedLine(ByteBuf in) {
		int end = in.writerIndex();
		int line = in.readerIndex();
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

}
