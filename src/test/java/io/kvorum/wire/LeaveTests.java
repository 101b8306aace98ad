package io.kvorum.wire;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which connections are closed at once when the port is left: in an order of events that
 * no client can bring about at will.
 */
class LeaveTests {

	private static final String GET = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

	private final ConnectionState state = new ConnectionState();

	private final RequestDecoder decoder = new RequestDecoder(this.state, WireLimits.defaults(),
			new HeldBytes(HeldBytes.MAX_BYTES));

	private final ResponseEncoder encoder = new ResponseEncoder();

	private final OutboundGate gate = new OutboundGate(Duration.ofMinutes(1));

	private final RequestGuard guard = new RequestGuard(this.state, this.decoder, this.encoder, this.gate,
			WireLimits.defaults(), WireEvents.NONE, null);

	private final OneAnswerer answerer = new OneAnswerer();

	private final EmbeddedChannel channel = new EmbeddedChannel(this.decoder, this.encoder, this.guard, this.gate);

	LeaveTests() {
		this.guard.handTo(this.answerer);
	}

	@AfterEach
	void close() {
		this.channel.finishAndReleaseAll();
	}

	private void leave() {
		ChannelHandlerContext context = this.channel.pipeline().context(this.guard);
		this.guard.leave(context);
	}

	private void send(String bytes) {
		this.channel.writeInbound(Unpooled.copiedBuffer(bytes, StandardCharsets.US_ASCII));
	}

	private void answer() {
		DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
		response.headers().set("Content-Length", 0);
		this.channel.writeOutbound(response);
	}

	private void tellThatItIsAway() {
		this.answerer.isThrough = true;
		this.channel.pipeline().fireUserEventTriggered("any event");
	}

	private long requests() {
		return this.channel.inboundMessages().stream().filter(HttpRequest.class::isInstance).count();
	}

	@Test
	void oneWithoutARequestIs() {
		leave();

		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void anEmptyLineIsNoRequest() {
		send(GET);
		answer();
		tellThatItIsAway();
		send("\r\n");
		leave();

		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void oneWhoseAnswerIsOnItsWayIsWhenThatIsAway() {
		send(GET);
		answer();
		leave();
		this.channel.pipeline().fireUserEventTriggered("too early");
		assertThat(this.channel.isOpen()).isTrue();
		tellThatItIsAway();

		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void oneWithARequestThatWaitsToBeDecodedIsNot() {
		send(GET + GET);
		answer();
		tellThatItIsAway();
		assertThat(requests()).isEqualTo(1);
		leave();
		this.channel.runPendingTasks();

		assertThat(requests()).isEqualTo(2);
		assertThat(this.channel.isOpen()).isTrue();
		answer();
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void oneWhoseClientStillSendsABodyThatIsAnsweredIsNotReset() {
		send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
		answer();
		tellThatItIsAway();
		leave();

		assertThat(this.channel.isOpen()).isTrue();
		assertThat(this.state.isEnded()).as("it lingers").isTrue();
	}

	private static final class OneAnswerer implements Answerer {

		boolean isThrough;

		@Override
		public boolean isThrough(Channel channel) {
			return this.isThrough;
		}

		@Override
		public boolean isBodyWanted(Channel channel) {
			return false;
		}

	}

}
