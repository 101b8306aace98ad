package io.kvorum.wire;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

class RequestDecoderTests {

	private final ConnectionState state = new ConnectionState();

	private final HeldBytes held = new HeldBytes(2000);

	private final RequestDecoder decoder = new RequestDecoder(this.state,
			GuardedServer.limits((limits) -> limits.maxPipelinedSize = DataSize.ofKilobytes(1)), this.held);

	private final Reads reads = new Reads();

	private final EmbeddedChannel channel = new EmbeddedChannel(this.reads, this.decoder);

	@AfterEach
	void close() {
		this.channel.finishAndReleaseAll();
	}

	@Test
	void handsOutOneRequestAtATime() {
		send(get("/1") + get("/2") + get("/3"));
		assertThat(received()).isEqualTo("/1");
		assertThat(received()).isEqualTo("none");
		finish();
		assertThat(received()).isEqualTo("/2");
		assertThat(received()).isEqualTo("none");
	}

	@Test
	void stopsReadingWhenTooMuchIsSentAhead() {
		send(get("/1"));
		send("x".repeat(1023));
		assertThat(this.channel.config().isAutoRead()).isTrue();
		send("x");
		assertThat(this.channel.config().isAutoRead()).isFalse();
	}

	@Test
	void allConnectionsTogetherHoldNoMoreThanABound() {
		ConnectionState busy = new ConnectionState();
		EmbeddedChannel other = new EmbeddedChannel(new RequestDecoder(busy, WireLimits.defaults(), this.held));
		other.writeInbound(Unpooled.copiedBuffer(get("/1") + "x".repeat(2000), StandardCharsets.US_ASCII));
		assertThat(this.held.held()).isEqualTo(2000);
		assertThat(other.config().isAutoRead()).isTrue();

		send(get("/1") + get("/2"));
		other.writeInbound(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII));
		assertThat(other.config().isAutoRead()).as("it holds more than a kilobyte").isFalse();
		assertThat(this.channel.config().isAutoRead()).isTrue();
		finish();
		assertThat(this.held.held()).as("the second request is not held any more").isEqualTo(2001);

		other.finishAndReleaseAll();
		assertThat(this.held.held()).isZero();
	}

	@Test
	void throwsAwayNoMoreThanItsBound() {
		this.state.discardRest();
		send("x".repeat(4 * 1024 * 1024));
		assertThat(this.channel.isOpen()).isTrue();
		send("x");
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void knowsHowFarARequestIs() {
		assertThat(this.state.isHeadBegun()).isFalse();
		send("PUT /1 HTTP/1.1\r\nContent-Le");
		assertThat(this.state.isHeadBegun()).isTrue();
		send("ngth: 3\r\n\r\na");
		assertThat(this.state.isHeadBegun()).isFalse();
		assertThat(this.state.isBodyOutstanding()).isTrue();
		assertThat(this.state.bodyBytes()).isEqualTo(1);
		send("bc");
		assertThat(this.state.isBodyOutstanding()).isFalse();
		assertThat(this.state.requests()).isEqualTo(1);
	}

	/** Netty's decoder asks for more itself where it could hand nothing out. */
	@Test
	void asksForNothingWhileEnoughWaits() {
		send(get("/1"));
		send("x".repeat(1024));
		int before = this.reads.count;
		send("x");
		assertThat(this.reads.count).isEqualTo(before);
	}

	/** The answerer turns reading on for each request. */
	@Test
	void nobodyTurnsReadingOnWhileEnoughWaits() {
		this.channel.pipeline()
			.addLast(new RequestGuard(this.state, this.decoder, new ResponseEncoder(),
					new OutboundGate(GuardedServer.LONG), WireLimits.defaults(), WireEvents.NONE, null));
		send(get("/0"));
		send(get("/n").repeat(100));
		int before = this.reads.count;
		int answered = 0;
		while (this.reads.count == before) {
			this.channel.config().setAutoRead(true);
			assertThat(this.channel.config().isAutoRead()).isEqualTo(!this.decoder.holdsEnough());
			finish();
			answered++;
		}
		int requestsInAKilobyte = 1024 / get("/n").length();
		assertThat(answered).isGreaterThanOrEqualTo(100 - requestsInAKilobyte);
	}

	private void finish() {
		this.state.finished(this.decoder.holdsBytes());
		this.decoder.decodeNext();
		this.channel.runPendingTasks();
	}

	private void send(String bytes) {
		this.channel.writeInbound(Unpooled.copiedBuffer(bytes, StandardCharsets.ISO_8859_1));
	}

	private String received() {
		Object message = this.channel.readInbound();
		return switch (message) {
			case HttpRequest request -> request.uri();
			case LastHttpContent last -> received();
			case null, default -> "none";
		};
	}

	private static String get(String path) {
		return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
	}

	/** Counts how often the socket is asked for more. */
	private static final class Reads extends ChannelOutboundHandlerAdapter {

		int count;

		@Override
		public void read(ChannelHandlerContext ctx) {
			this.count++;
			ctx.read();
		}

	}

}
