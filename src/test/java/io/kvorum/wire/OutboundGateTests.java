package io.kvorum.wire;

import java.io.EOFException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** When an answer of any length goes on, how long it waits, and how it is broken off. */
class OutboundGateTests {

	private static final Duration USUAL = Duration.ofSeconds(30);

	private final OutboundGate gate = new OutboundGate(USUAL);

	private final EmbeddedChannel channel = new EmbeddedChannel(this.gate);

	private final List<String> opened = new ArrayList<>();

	private void ask(String name) {
		this.gate.whenOpen().subscribe(_ -> {
		}, _ -> {
		}, () -> this.opened.add(name));
	}

	private void setWritable(boolean writable) {
		ChannelOutboundBuffer buffer = this.channel.unsafe().outboundBuffer();
		if (buffer == null) {
			throw new AssertionError("the channel is closed");
		}
		buffer.setUserDefinedWritability(1, writable);
		this.channel.runPendingTasks();
	}

	@Test
	void itIsTheOneOfItsConnection() {
		assertThat(OutboundGate.of(this.channel)).isSameAs(this.gate);
	}

	@Test
	void itIsOpenInALaterTurnOfTheEventLoopWhileTheConnectionTakesMore() {
		ask("one");
		assertThat(this.opened).as("not in this turn").isEmpty();
		this.channel.runPendingTasks();

		assertThat(this.opened).containsExactly("one");
		ask("two");
		this.channel.runPendingTasks();
		assertThat(this.opened).containsExactly("one", "two");
	}

	@Test
	void itIsClosedWhileTheClientHasMuchToTakeAndOpensOnceForWhoWaits() {
		setWritable(false);
		ask("one");
		this.channel.runPendingTasks();
		assertThat(this.opened).isEmpty();
		setWritable(true);
		assertThat(this.opened).containsExactly("one");
		setWritable(false);
		setWritable(true);

		assertThat(this.opened).containsExactly("one");
	}

	@Test
	void whoHasGivenUpIsNotTold() {
		setWritable(false);
		this.gate.whenOpen().subscribe(_ -> {
		}, _ -> {
		}, () -> this.opened.add("given up")).dispose();
		this.channel.runPendingTasks();
		setWritable(true);

		assertThat(this.opened).isEmpty();
	}

	@Test
	void whileAStreamIsUnderWayTheClientMayPauseForItsTimeAndAfterItForTheUsualOne() {
		assertThat(this.gate.stallTimeout()).isEqualTo(USUAL);
		this.gate.beginStream(Duration.ofSeconds(7));
		assertThat(this.gate.stallTimeout()).isEqualTo(Duration.ofSeconds(7));
		this.gate.endStream();
		assertThat(this.gate.stallTimeout()).isEqualTo(USUAL);
	}

	@Test
	void brokenOffTheConnectionIsClosedBehindWhatWasWritten() {
		ChannelFuture before = this.channel.write("before");
		this.gate.breakOff();
		this.channel.runPendingTasks();

		assertThat(before.isSuccess()).isTrue();
		assertThat(this.channel.isOpen()).isFalse();
		assertThat(this.channel.<Object>readOutbound()).isEqualTo("before");
	}

	@Test
	void aClientOfAnAnswerThatIsBrokenOffGetsWhatWasWrittenAndNoEnd() {
		try (GuardedServer server = new GuardedServer(GuardedServer.limits((_) -> {
		})); RawHttp client = server.connect()) {
			client.send("GET /broken-off HTTP/1.1\r\nHost: a\r\n\r\n");

			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(client::read)
				.withCauseInstanceOf(EOFException.class)
				.withMessageContaining("within a chunked body");
		}
	}

	@Test
	void preparedChunksComeAsChunksAndTheConnectionServesTheNextRequest() {
		try (GuardedServer server = new GuardedServer(GuardedServer.limits((_) -> {
		})); RawHttp client = server.connect()) {
			client.send("GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n");
			Response chunks = client.read();
			assertThat(chunks).isNotNull();
			assertThat(chunks).extracting(Response::body).isEqualTo("one two three ".repeat(1000));

			assertThat(client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n").read()).extracting(Response::body)
				.isEqualTo("0");
		}
	}

	@Test
	void aClientThatDoesNotReadAStreamIsCutOffAfterTheTimeOfStreams() {
		try (GuardedServer server = new GuardedServer(
				GuardedServer.limits((limits) -> limits.streamStall = GuardedServer.SHORT));
				RawHttp client = server.connect(8192)) {
			client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
			server.await(Timeout.WRITE_STALL);
			client.awaitClosed();
		}
	}

}
