package io.kvorum.wire;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Flaws that Netty mends; over a socket they are among those of the refused requests. */
class HeadScannerTests {

	private final HeadScanner head = new HeadScanner();

	@ParameterizedTest
	@CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = false, textBlock = """
			GET /a HTTP/1.1|
			GET  /a HTTP/1.1|MALFORMED
			GET\t/a HTTP/1.1|MALFORMED
			GET /a  HTTP/1.1|MALFORMED
			GET /a http/1.1|MALFORMED""")
	void theRequestLineHasOneSpaceBetweenItsWords(String line, Refusal flaw) {
		readLine(line);

		assertThat(this.head.flaw()).isEqualTo(flaw);
	}

	@Test
	void aFoldedLineIsAFlaw() {
		lines("GET /a HTTP/1.1\r\nX: y\r\n");
		assertThat(this.head.flaw()).isNull();
		readLine("GET /a HTTP/1.1");
		lines("X: y\r\n z\r\n\r\n");

		assertThat(this.head.flaw()).isEqualTo(Refusal.FOLDED_LINE);
	}

	@Test
	void whatFollowsTheHeadIsNoFoldedLine() {
		readLine("PUT /a HTTP/1.1");
		lines("X: y\r\n\r\n body");

		assertThat(this.head.flaw()).isNull();
	}

	@Test
	void twoContentLengthsAreAFlawOfOneHead() {
		this.head.header(AsciiString.of("Content-Length"));
		assertThat(this.head.flaw()).isNull();
		this.head.header(AsciiString.of("content-length"));
		assertThat(this.head.flaw()).isEqualTo(Refusal.CONTENT_LENGTH);
		this.head.begin();

		assertThat(this.head.flaw()).isNull();
	}

	private void lines(String bytes) {
		this.head.lines(Unpooled.copiedBuffer(bytes, StandardCharsets.US_ASCII));
	}

	/**
	 * Splits the line as Netty's decoder does: it skips white space between the words.
	 */
	private void readLine(String line) {
		byte[] bytes = line.getBytes(StandardCharsets.US_ASCII);
		String[] words = line.split("\\s+", -1);
		int second = line.indexOf(words[1]);
		int third = line.indexOf(words[2]);
		this.head.firstWord(0, words[0].length());
		this.head.nextWord(bytes, second, words[1].length());
		this.head.nextWord(bytes, third, words[2].length());
		this.head.version(words[2]);
	}

}
