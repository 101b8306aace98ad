package io.kvorum.wire;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Chunks that are prepared, and the encoder that lets them through. */
class ChunksTests {

	private final EmbeddedChannel channel = new EmbeddedChannel(new ResponseEncoder());

	private static ByteBuf buffer(String text) {
		return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
	}

	private static Chunks chunks(String... texts) {
		byte[] bytes = new byte[1000];
		int at = 0;
		for (String text : texts) {
			at = Chunks.begin(bytes, at, text.length());
			System.arraycopy(text.getBytes(StandardCharsets.US_ASCII), 0, bytes, at, text.length());
			at = Chunks.end(bytes, at + text.length());
		}
		return new Chunks(bytes, at);
	}

	private String sent() {
		StringBuilder sent = new StringBuilder();
		for (ByteBuf buffer = this.channel.readOutbound(); buffer != null; buffer = this.channel.readOutbound()) {
			sent.append(buffer.toString(StandardCharsets.ISO_8859_1));
			buffer.release();
		}
		return sent.toString();
	}

	private void beginAnswer() {
		HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
		HttpUtil.setTransferEncodingChunked(response, true);
		this.channel.writeOutbound(response);
		assertThat(sent()).startsWith("HTTP/1.1 200 OK\r\n");
	}

	@ParameterizedTest
	@CsvSource({ "1, 1", "9, 9", "10, a", "15, f", "16, 10", "255, ff", "256, 100", "4095, fff", "4096, 1000",
			"65535, ffff", "65536, 10000", "268435455, fffffff", "268435456, 10000000", "2147483647, 7fffffff" })
	void theLineBeforeAChunkIsItsLengthInHexadecimalDigitsWithoutZerosBefore(int length, String digits) {
		byte[] bytes = new byte[20];
		int end = Chunks.begin(bytes, 3, length);

		assertThat(new String(bytes, 3, end - 3, StandardCharsets.US_ASCII)).isEqualTo(digits + "\r\n");
		int after = Chunks.end(bytes, end);
		assertThat(new String(bytes, end, after - end, StandardCharsets.US_ASCII)).isEqualTo("\r\n");
		assertThat(after - 3).isLessThanOrEqualTo(Chunks.MAX_FRAME_BYTES);
	}

	@Test
	void theEncoderLetsThemThroughAsTheyAreAndFramesWhatElseThereIs() {
		beginAnswer();
		this.channel.writeOutbound(chunks("one", "and another"));
		assertThat(sent()).isEqualTo("3\r\none\r\nb\r\nand another\r\n");
		this.channel.writeOutbound(buffer("framed"));
		assertThat(sent()).isEqualTo("6\r\nframed\r\n");
		this.channel.writeOutbound(new DefaultHttpContent(buffer("framed too")));
		assertThat(sent()).isEqualTo("a\r\nframed too\r\n");
		this.channel.writeOutbound(chunks("last"));
		assertThat(sent()).isEqualTo("4\r\nlast\r\n");
		this.channel.writeOutbound(LastHttpContent.EMPTY_LAST_CONTENT);
		assertThat(sent()).isEqualTo("0\r\n\r\n");
	}

	@Test
	void noChunksAreNoEndOfTheAnswer() {
		beginAnswer();
		this.channel.writeOutbound(chunks());

		assertThat(sent()).isEmpty();
	}

	@Test
	void theyAreSentWithoutACopyAndGivenBackOnce() {
		beginAnswer();
		Chunks chunks = chunks("one");
		this.channel.writeOutbound(chunks);
		ByteBuf out = this.channel.readOutbound();

		assertThat(out).isSameAs(chunks);
		assertThat(ByteBufUtil.getBytes(out)).isEqualTo("3\r\none\r\n".getBytes(StandardCharsets.US_ASCII));
		assertThat(out.refCnt()).isEqualTo(1);
		assertThat(out.release()).isTrue();
	}

	@Test
	void theNextAnswerOfTheConnectionIsAsAnyOther() {
		beginAnswer();
		this.channel.writeOutbound(chunks("one"), LastHttpContent.EMPTY_LAST_CONTENT);
		sent();
		HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
		HttpUtil.setContentLength(response, 3);
		this.channel.writeOutbound(response, new DefaultHttpContent(buffer("two")), LastHttpContent.EMPTY_LAST_CONTENT);

		assertThat(sent()).endsWith("\r\n\r\ntwo");
	}

}
