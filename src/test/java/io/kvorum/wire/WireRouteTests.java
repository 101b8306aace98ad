package io.kvorum.wire;

import java.util.List;

import io.kvorum.testing.Awaited;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Differences if a route answers instead of reactor-netty. */
@Timeout(20)
@ExtendWith(OutputCaptureExtension.class)
class WireRouteTests {

	private static final String GET = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

	private static final String PUT_FIVE = "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";

	private static final String CHUNKED = "PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

	/** Answered by reactor-netty. */
	private static final String CHUNKS = "GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n";

	private final GuardedServer server = new GuardedServer(GuardedServer.Answers.BY_ROUTE, GuardedServer.limits((_) -> {
	}));

	@AfterEach
	void stop() {
		this.server.close();
	}

	@Test
	void oneConnectionServesBothInAnyOrder() {
		try (RawHttp client = this.server.connect()) {
			for (int i = 0; i < 20; i++) {
				assertThat(client.send(PUT_FIVE + "abcde").read()).extracting(Response::body).isEqualTo("5");
				assertThat(client.send(CHUNKS).read()).extracting(Response::status).isEqualTo(200);
				assertThat(client.send(CHUNKED + "3\r\nabc\r\n0\r\n\r\n").read()).extracting(Response::body)
					.isEqualTo("3");
				assertThat(client.send(GET).read()).extracting(Response::body).isEqualTo("0");
			}
		}
	}

	@Test
	void alsoWhereItSendsAhead() {
		try (RawHttp client = this.server.connect()) {
			client.send((PUT_FIVE + "abcde" + CHUNKS + GET).repeat(50)
					+ "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).hasSize(151);
			for (int i = 0; i < 150; i += 3) {
				assertThat(responses.subList(i, i + 3)).extracting(Response::body)
					.containsExactly("5", "one two three ".repeat(1000), "0");
			}
		}
	}

	@Test
	void aBodyMayComeInManyPieces() {
		try (RawHttp client = this.server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
			for (int i = 0; i < 10; i++) {
				client.send(new byte[100_000]);
			}
			assertThat(client.read()).extracting(Response::body).isEqualTo("1000000");
		}
	}

	@Test
	void whoGoesAwayInTheMiddleOfAnAnswerIsForgotten(CapturedOutput output) {
		RawHttp client = this.server.connect(1 << 13);
		client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").readStatus();
		client.reset();
		try (RawHttp other = this.server.connect()) {
			assertThat(other.send(GET).read()).extracting(Response::status).isEqualTo(200);
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@Test
	void whoGoesAwayCancels() {
		RawHttp client = this.server.connect();
		client.send("GET /unread HTTP/1.1\r\nHost: a\r\n\r\n").reset();
		Awaited.of(this.server.cancelled.asMono());
	}

	/** Like {@code ab -k}. */
	@Test
	void aClientOfHttp10MayKeepItsConnection() {
		try (RawHttp client = this.server.connect()) {
			for (int i = 0; i < 2; i++) {
				client.send("PUT /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc");
				Response response = client.read();
				assertThat(response).extracting(Response::body).isEqualTo("3");
				assertThat(response).extracting((it) -> it.header("connection")).isEqualTo("keep-alive");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/unanswered", "/failing", "/throwing" })
	void aRouteThatDoesNotAnswerIsAFaultAndClosesTheConnection(String target, CapturedOutput output) {
		try (RawHttp client = this.server.connect()) {
			client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
			assertThat(client.readUntilClosed()).isEmpty();
		}
		assertThat(output).contains("A request was not answered");
	}

	@Test
	void aBodyThatIsAskedForTooLateIsAFault(CapturedOutput output) {
		try (RawHttp client = this.server.connect()) {
			client.send("PUT /read-late HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde");
			assertThat(client.readUntilClosed()).isEmpty();
		}
		assertThat(output).contains("a body is read once, and from its beginning");
	}

}
