package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@DisplayName("The reader of ranges: notices whatever a server does wrong")
class RangeReaderTests {

	private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n";

	private static final String CHUNKS = HEAD.formatted("application/octet-stream");

	private static final String LINES = HEAD.formatted(RangeRequest.NDJSON);

	private static final String LINE = "{\"id\":\"a\",\"version\":\"1\",\"contentType\":\"t\",\"value\":\"dg==\"}\n";

	private static final RangeEntry ENTRY = RangeEntry.of("a", "v");

	@Test
	@DisplayName("chunks and their end: whole")
	void wholeChunks() throws IOException {
		RangeAnswer answer = read(CHUNKS + "3\r\na\nv\r\n2\r\nb\n\r\n0\r\n\r\n");

		assertThat(answer.entries()).containsExactly(ENTRY, RangeEntry.of("b", ""));
		assertThat(answer.isWhole()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "3", "3\r\n", "3\r\na\n", "3\r\na\nv", "3\r\na\nv\r\n", "3\r\na\nv\r\n0\r\n" })
	@DisplayName("an end of the connection anywhere before the last chunk's: not whole")
	void brokenOff(String body) throws IOException {
		assertThat(read(CHUNKS + body).isWhole()).isFalse();
	}

	@Test
	@DisplayName("two entries in a chunk, one entry in two: not the entries that were expected")
	void otherFrames() throws IOException {
		List<RangeEntry> expected = List.of(ENTRY, RangeEntry.of("b", "w"));

		assertThat(read(CHUNKS + "6\r\na\nvb\nw\r\n0\r\n\r\n").entries()).isNotEqualTo(expected);
		assertThat(read(CHUNKS + "3\r\na\nv\r\n2\r\nb\n\r\n2\r\n\nw\r\n0\r\n\r\n").entries()).isNotEqualTo(expected);
		assertThat(read(CHUNKS + "3\r\na\nv\r\n3\r\nb\nw\r\n0\r\n\r\n").entries()).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "1\r\na\r\n0\r\n\r\n", "2\r\na\nv\r\n0\r\n\r\n", "x\r\n" })
	@DisplayName("a chunk that is no entry, or is longer than it says: fails")
	void noEntry(String body) {
		assertThatThrownBy(() -> read(CHUNKS + body)).isInstanceOfAny(AssertionError.class, UncheckedIOException.class,
				NumberFormatException.class);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 10, 1_000 })
	@DisplayName("lines in chunks of any size, and the last one: whole")
	void wholeLines(int chunkBytes) throws IOException {
		RangeAnswer answer = read(LINES + chunked(LINE + last(1, ",\"next\":\"b\""), chunkBytes) + "0\r\n\r\n");

		assertThat(answer.entries()).containsExactly(ENTRY);
		assertThat(answer.entries().getFirst().version()).isEqualTo("1");
		assertThat(answer.next()).isEqualTo("b");
		assertThat(answer.isWhole()).isTrue();
	}

	@Test
	@DisplayName("an end of the connection before the last line, or between it and the last chunk: not whole")
	void brokenOffLines() throws IOException {
		for (String body : List.of("", chunked(LINE, 7), chunked(LINE, 1_000), chunked(LINE + last(1, ""), 1_000))) {
			assertThat(read(LINES + body).isWhole()).isFalse();
		}
	}

	@Test
	@DisplayName("an answer that ends without a last line, with another count, or goes on behind it: fails")
	void wrongLines() {
		for (String body : List.of(LINE, "", LINE + last(2, ""), last(1, ""), LINE + last(1, "") + LINE,
				LINE + "{\"end\":false,\"count\":1}\n", LINE.replace("\"id\":\"a\",", ""))) {
			for (int chunkBytes : List.of(LINE.length(), 1_000)) {
				assertThatThrownBy(() -> read(LINES + chunked(body, chunkBytes) + "0\r\n\r\n")).as(body)
					.isInstanceOf(AssertionError.class);
			}
		}
	}

	@Test
	@DisplayName("another status: its body, no entries, not whole")
	void refused() throws IOException {
		RangeAnswer answer = read("HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 2\r\n\r\n{}");

		assertThat(answer.status()).isEqualTo(504);
		assertThat(answer.problem().json()).isEmpty();
		assertThat(answer.isWhole()).isFalse();
	}

	private static String last(int count, String more) {
		return "{\"end\":true,\"count\":" + count + more + "}\n";
	}

	private static String chunked(String body, int chunkBytes) {
		StringBuilder chunks = new StringBuilder();
		for (int at = 0; at < body.length(); at += chunkBytes) {
			String chunk = body.substring(at, Math.min(body.length(), at + chunkBytes));
			chunks.append(Integer.toHexString(chunk.length())).append("\r\n").append(chunk).append("\r\n");
		}
		return chunks.toString();
	}

	/**
	 * What it makes of a server that answers with these bytes and ends the connection.
	 */
	private static RangeAnswer read(String response) throws IOException {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
				RawHttp client = RawHttp.connect(server.getLocalPort());
				Socket connection = server.accept()) {
			connection.getOutputStream().write(response.getBytes(ISO_8859_1));
			connection.shutdownOutput();
			return RangeRequest.from("a").read(client);
		}
	}

}
