package io.kvorum.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class ResponseEncoderTests {

	private final ResponseEncoder encoder = new ResponseEncoder();

	private final EmbeddedChannel channel = new EmbeddedChannel(this.encoder);

	/** The buffers that leave, each with the end of its head as {@code |}. */
	private List<String> sent(FullHttpResponse response) {
		this.channel.writeOutbound(response);
		List<String> sent = new ArrayList<>();
		for (ByteBuf buffer = this.channel.readOutbound(); buffer != null; buffer = this.channel.readOutbound()) {
			sent.add(buffer.toString(StandardCharsets.US_ASCII).replace("\r\n\r\n", "|"));
			buffer.release();
		}
		return sent;
	}

	private static FullHttpResponse response(ByteBuf body) {
		FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
		HttpUtil.setContentLength(response, body.readableBytes());
		return response;
	}

	private static String head(int length) {
		return "HTTP/1.1 200 OK\r\ncontent-length: " + length + "|";
	}

	@ParameterizedTest
	@CsvSource({ "0, 1", "1, 1", "128, 1", "129, 1", "1024, 1", "16384, 1", "16385, 2", "100000, 2" })
	void headAndBodyLeaveInOneBufferWhereTheBodyIsNotLong(int length, int buffers) {
		String text = "x".repeat(length);
		ByteBuf body = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);

		List<String> sent = sent(response(body));

		assertThat(sent).hasSize(buffers);
		assertThat(String.join("", sent)).isEqualTo(head(length) + text);
		assertThat(body.refCnt()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 1024, 100_000 })
	void theBodyOfAnAnswerToHeadStaysHere(int length) {
		this.encoder.answer(HttpMethod.HEAD);
		ByteBuf body = Unpooled.copiedBuffer("x".repeat(length), StandardCharsets.US_ASCII);

		assertThat(String.join("", sent(response(body)))).isEqualTo(head(length));
		assertThat(body.refCnt()).isZero();
	}

	@Test
	void aBodyInChunksHasItsFrame() {
		FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
				Unpooled.copiedBuffer("y".repeat(200), StandardCharsets.US_ASCII));
		HttpUtil.setTransferEncodingChunked(response, true);

		assertThat(String.join("", sent(response)))
			.isEqualTo("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked|c8\r\n" + "y".repeat(200) + "\r\n0|");
	}

}
