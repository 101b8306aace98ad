package io.kvorum.wire;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.kvorum.testing.Poll;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.wire.GuardedServer.Limits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What one client can hold over a socket. Each test has one short limit, and ends by what
 * the server does when it is met: reads wait for it, nothing is timed.
 */
@ParameterizedClass
@EnumSource(GuardedServer.Answers.class)
class BoundedConnectionsTests {

	private static final String GET = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

	private static final String TOO_LARGE = "PUT /too-large HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n";

	private static final String PUT_FIVE = "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";

	private final GuardedServer.Answers answers;

	BoundedConnectionsTests(GuardedServer.Answers answers) {
		this.answers = answers;
	}

	@ParameterizedTest
	@ValueSource(strings = { "G", "GET /echo HTTP/1.1\r\n", "GET /echo HTTP/1.1\r\nHost: a\r\n" })
	void aSlowHeadIsAnsweredWith408(String head) {
		try (GuardedServer server = server((limits) -> limits.header = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(head);
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).extracting(Response::status).containsExactly(408);
			assertThat(responses.getFirst().body()).contains("urn:kvorum:problem:request-timeout");
			assertThat(server.events).containsExactly(Timeout.HEADER);
			assertThat(server.served).isEmpty();
		}
	}

	@Test
	void aSlowHeadAfterAnAnsweredRequestIsAnsweredWith408() {
		try (GuardedServer server = server((limits) -> limits.header = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(GET + "GET /ec");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(200, 408);
		}
	}

	/** Nor are empty lines a part of one. */
	@ParameterizedTest
	@ValueSource(strings = { "", "\r\n\r\n" })
	void aConnectionWithoutARequestIsClosedInSilence(String sent) {
		try (GuardedServer server = server((limits) -> limits.header = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(sent);
			assertThat(client.readUntilClosed()).isEmpty();
			assertThat(server.events).containsExactly(Timeout.HEADER);
		}
	}

	@Test
	void anIdleConnectionIsClosedInSilence() {
		try (GuardedServer server = server((limits) -> limits.idle = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(GET);
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(200);
			assertThat(server.events).containsExactly(Timeout.IDLE);
		}
	}

	/** It is too long to be counted in nanoseconds. */
	@Test
	void aTimeLimitOfCenturiesLeavesTheOthersInForce() {
		try (GuardedServer server = server((limits) -> {
			limits.idle = Duration.ofDays(200_000);
			limits.header = GuardedServer.SHORT;
		}); RawHttp idle = server.connect(); RawHttp other = server.connect()) {
			assertThat(idle.send(GET).read()).extracting(Response::status).isEqualTo(200);
			other.send("GET /ec").readUntilClosed();
			idle.send("GET /ec");
			assertThat(idle.readUntilClosed()).extracting(Response::status).containsExactly(408);
		}
	}

	@Test
	void aRequestThatIsBeingAnsweredIsNotIdle() {
		try (GuardedServer server = server((limits) -> {
			limits.idle = GuardedServer.SHORT;
			limits.header = GuardedServer.SHORT;
		}); RawHttp held = server.connect(); RawHttp idle = server.connect()) {
			held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
			idle.send(GET).readUntilClosed();
			server.held.tryEmitEmpty();
			assertThat(held.readUntilClosed()).extracting(Response::body).containsExactly("held");
		}
	}

	@Test
	void aStalledBodyFailsItsReaderWhoAnswers408() {
		try (GuardedServer server = server((limits) -> limits.bodyStall = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(PUT_FIVE + "abc");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(408);
			assertThat(server.events).startsWith(Timeout.BODY_STALL);
		}
	}

	@Test
	void aStalledChunkedBodyToo() {
		try (GuardedServer server = server((limits) -> limits.bodyStall = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(408);
		}
	}

	@Test
	void aBodyThatDripsForeverIsBounded() {
		try (GuardedServer server = server((limits) -> {
			limits.bodyStall = GuardedServer.SHORT.multipliedBy(2);
			limits.body = GuardedServer.SHORT.multipliedBy(2);
		}); RawHttp client = server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
			Thread drip = Thread.ofVirtual().start(() -> client.sendUntilBroken(new byte[1]));
			assertThat(client.read()).extracting(Response::status).isEqualTo(408);
			assertThat(server.events).startsWith(Timeout.BODY);
			client.abort();
			drip.interrupt();
		}
	}

	@Test
	void aBodyThatNobodyReadsIsBounded() {
		try (GuardedServer server = server((limits) -> {
			limits.bodyStall = GuardedServer.SHORT;
			limits.body = GuardedServer.SHORT;
		}); RawHttp client = server.connect()) {
			client.send("PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
			client.awaitClosed();
			assertThat(server.events).containsExactly(Timeout.BODY);
		}
	}

	@Test
	void aClientThatDoesNotReadItsResponseIsCutOff() {
		try (GuardedServer server = server((limits) -> limits.writeStall = GuardedServer.SHORT);
				RawHttp client = server.connect(8192)) {
			client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
			server.await(Timeout.WRITE_STALL);
			client.awaitClosed();
		}
	}

	/** However often it reads a little: its answer is in memory for as long. */
	@Test
	void aClientThatTakesAWholeAnswerForTooLongIsCutOff() {
		WireLimits limits = GuardedServer.limits((it) -> {
			it.bodyStall = GuardedServer.SHORT;
			it.body = GuardedServer.SHORT;
		});
		try (GuardedServer server = new GuardedServer(GuardedServer.Answers.BY_ROUTE, limits);
				RawHttp client = server.connect(8192)) {
			client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
			server.await(Timeout.WRITE_STALL);
			client.awaitClosed();
		}
	}

	@Test
	void connectionsBeyondTheLimitAreClosedOnAccept() {
		try (GuardedServer server = server((limits) -> limits.maxConnections = 1); RawHttp first = server.connect()) {
			assertThat(first.send(GET).read()).isNotNull();
			try (RawHttp second = server.connect()) {
				second.awaitClosed();
			}
			assertThat(server.events).containsExactly("connection refused");
			assertThat(first.send(GET).read()).extracting(Response::status).isEqualTo(200);
		}
	}

	/** The place is free when the server has seen the end, a moment after the client. */
	@Test
	void aClosedConnectionGivesItsPlaceBack() throws InterruptedException {
		try (GuardedServer server = server((limits) -> limits.maxConnections = 1)) {
			AtomicInteger served = new AtomicInteger();
			Poll.until(() -> "three connections after each other are served, so far " + served, Duration.ofSeconds(20),
					() -> {
						try (RawHttp client = server.connect()) {
							return served.addAndGet(client.exchange(GET).size()) >= 3;
						}
					});
			assertThat(server.served).hasSize(3);
		}
	}

	@Test
	void anAnswerBeforeTheBodyIsReadableWhileTheClientIsStillSending() {
		try (GuardedServer server = server((limits) -> {
		}); RawHttp client = server.connect()) {
			client.send(TOO_LARGE + "\r\n");
			client.send(new byte[2_000_000]);
			Response response = client.read();
			assertThat(response).extracting(Response::status).isEqualTo(413);
			assertThat(response).extracting((it) -> it.header("connection")).isEqualTo("close");
			assertThat(client.readUntilClosed()).isEmpty();
		}
	}

	@Test
	void whatIsReadAfterAnAnswerIsBoundedInBytes() {
		try (GuardedServer server = server((limits) -> {
		}); RawHttp client = server.connect()) {
			client.send("PUT /too-large HTTP/1.1\r\nHost: a\r\nContent-Length: 9900000000\r\n\r\n");
			assertThat(client.sendUntilBroken(new byte[65_536])).isLessThan(99_000_000);
		}
	}

	@Test
	void whatIsReadAfterAnAnswerIsBoundedInTime() {
		try (GuardedServer server = server((limits) -> {
			limits.linger = GuardedServer.SHORT;
			limits.idle = GuardedServer.SHORT;
		}); RawHttp client = server.connect()) {
			client.send(TOO_LARGE + "\r\nabc");
			assertThat(client.read()).extracting(Response::status).isEqualTo(413);
			server.await(Timeout.LINGER);
		}
	}

	@Test
	void aDeclaredBodyIsRefusedWithout100Continue() {
		try (GuardedServer server = server((limits) -> {
		}); RawHttp client = server.connect()) {
			client.send(TOO_LARGE + "Expect: 100-continue\r\n\r\n");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(413);
		}
	}

	@Test
	void anExpectedBodyIsAskedForWhenItIsRead() {
		try (GuardedServer server = server((limits) -> {
		}); RawHttp client = server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
			assertThat(client.read()).extracting(Response::status).isEqualTo(100);
			assertThat(client.send("abcde").read()).extracting(Response::body).isEqualTo("5");
			assertThat(client.send(GET).read()).extracting(Response::body).isEqualTo("0");
		}
	}

	@Test
	void aSmallBodyThatNobodyReadKeepsTheConnection() {
		try (GuardedServer server = server((limits) -> {
		}); RawHttp client = server.connect()) {
			client.send("PUT /too-large HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
			assertThat(client.read()).extracting(Response::status).isEqualTo(413);
			assertThat(client.send("abcde" + GET).read()).extracting(Response::body).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			HTTP/1.1, '',                        true
			HTTP/1.1, 'Connection: keep-alive',  true
			HTTP/1.1, 'Connection: close',       false
			HTTP/1.0, '',                        false""")
	void aConnectionIsKeptIfItsClientWantsThat(String version, String header, boolean isKept) {
		try (GuardedServer server = server((_) -> {
		}); RawHttp client = server.connect()) {
			String lines = header.isEmpty() ? "" : header + "\r\n";
			String request = "PUT /echo %s\r\nHost: a\r\n%sContent-Length: 3\r\n\r\nabc".formatted(version, lines);
			Response response = client.send(request).read();
			assertThat(response).extracting(Response::body).isEqualTo("3");
			assertThat(response).extracting((it) -> "close".equals(it.header("connection")))
				.isEqualTo(!isKept && version.endsWith("1.1"));
			if (isKept) {
				assertThat(client.send(request).read()).extracting(Response::body).isEqualTo("3");
			}
			else {
				assertThat(client.readUntilClosed()).isEmpty();
			}
		}
	}

	@Test
	void pipelinedRequestsAreServedInOrder() {
		try (GuardedServer server = server((limits) -> limits.maxPipelinedSize = DataSize.ofKilobytes(1));
				RawHttp client = server.connect()) {
			client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n" + (PUT_FIVE + "abcde" + GET).repeat(1000)
					+ "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
			server.held.tryEmitEmpty();
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).hasSize(2002).extracting(Response::status).containsOnly(200);
			assertThat(responses).extracting(Response::body).startsWith("held", "5", "0", "5", "0");
		}
	}

	@Test
	void whatIsSentAheadIsBounded() {
		try (GuardedServer server = server((limits) -> {
			limits.maxPipelinedSize = DataSize.ofKilobytes(1);
			limits.idle = GuardedServer.SHORT;
		}); RawHttp client = server.connect(); RawHttp other = server.connect()) {
			client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
			byte[] ahead = GET.repeat(1000).getBytes(StandardCharsets.US_ASCII);
			CompletableFuture<Long> sent = CompletableFuture.supplyAsync(() -> client.sendUntilBroken(ahead),
					run -> Thread.ofVirtual().start(run));
			other.send(GET).readUntilClosed();
			assertThat(server.served).containsExactlyInAnyOrder("/held", "/echo");
			client.abort();
			// What the kernel takes at both ends.
			assertThat(sent.join()).isLessThan(20_000_000);
		}
	}

	private GuardedServer server(Consumer<Limits> change) {
		return new GuardedServer(this.answers, GuardedServer.limits(change));
	}

}
