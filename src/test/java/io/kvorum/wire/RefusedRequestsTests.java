package io.kvorum.wire;

import java.util.List;

import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Malformed requests over a socket: answered with a problem, and nothing after them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RefusedRequestsTests {

	private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

	private GuardedServer server;

	@BeforeAll
	void start() {
		this.server = new GuardedServer(answers(), GuardedServer.limits((limits) -> {
		}));
	}

	GuardedServer.Answers answers() {
		return GuardedServer.Answers.BY_REACTOR_NETTY;
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

	@BeforeEach
	void forget() {
		this.server.served.clear();
		this.server.events.clear();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
			"Transfer-Encoding: identity", "Transfer-Encoding: identity, chunked", "Transfer-Encoding: gzip, chunked",
			"Transfer-Encoding: chunked\u000b", "Transfer-Encoding: \u000bchunked", "Transfer-Encoding: \"chunked\"",
			"Transfer-Encoding: chunked;q=1", "Transfer-Encoding:", "Transfer-Encoding : chunked",
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding:\r\n chunked",
			"Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
			"Content-Length: +5", "Content-Length: -5", "Content-Length: 0x5", "Content-Length: 5,5",
			"Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6",
			"Content-Length: 99999999999999999999", "Content-Length:", "Content-Length: 5 5", "Content-Length: \u00b2",
			"Content-Length: 1\r\n 2" })
	void whatFramesABodyAmbiguouslyOpensNoSecondRequest(String framing) {
		Response response = refused("PUT /echo HTTP/1.1\r\nHost: a\r\n" + framing + "\r\n\r\n0\r\n\r\n" + SMUGGLED);
		assertThat(response.status()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "Transfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5,6" })
	void neitherDoesItInHttp10(String framing) {
		Response response = refused(
				"PUT /echo HTTP/1.0\r\nConnection: keep-alive\r\n" + framing + "\r\n\r\n0\r\n\r\n" + SMUGGLED);
		assertThat(response.status()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "A: b", "Host: a\r\nHost: a", "Host: a\r\nHost: b", "Host: a b", "Host: a/b", "Host: a@b",
			"Host: a:", "Host: a:b", "Host: a:99999", "Host: [::1", "Host: a,b:1:2", "Host: a\r\n b",
			"Host: a\r\nX: y\r\n\tz", "Host: a\r\n X: y", " Host: a", "Host: a\r\nX : y", "Host: a\r\nX",
			"Host: a\nX: y", "Host: a\r\nX: a\rb", "Host: a\r\nX: \u0000", "Host: a\r\nX\u00e9: y", "Host: a\r\n: y" })
	void headersThatServersReadDifferently(String headers) {
		assertThat(refused("GET /echo HTTP/1.1\r\n" + headers + "\r\n\r\n" + SMUGGLED).status()).isEqualTo(400);
	}

	@Test
	void whatNettyTakesForABodyOfEightBytes() {
		assertThat(refused(
				"GET /echo HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key1: a\r\nSec-WebSocket-Key2: b\r\n\r\n" + SMUGGLED)
			.status()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET /echo HTTP/9.9", "GET /echo HTTP/2.0", "GET /echo HTTP/1.2", "GET /echo HTTP/0.9",
			"GET /echo http/1.1", "GET /echo HTTP/1.10", "GET /echo HTTP/1.1 ", "GET /echo", "GET /echo x HTTP/1.1",
			"PRI * HTTP/2.0", "OPTIONS * HTTP/1.1", "CONNECT a:80 HTTP/1.1", "GET http://a/echo HTTP/1.1",
			"GET echo HTTP/1.1", "GET\t/echo HTTP/1.1", "GET /echo\u000bHTTP/1.1", "GET  /echo HTTP/1.1",
			"GET /echo  HTTP/1.1", "G(T /echo HTTP/1.1", "GET /e%63ho HTTP/1.1", "GET /echo;a=b HTTP/1.1",
			"GET /v0//echo HTTP/1.1", "GET //echo HTTP/1.1", "GET /./echo HTTP/1.1", "GET /v0/../echo HTTP/1.1",
			"GET /echo/.. HTTP/1.1", "GET /%2e%2e/echo HTTP/1.1", "GET /echo#f HTTP/1.1", "GET /echo?a=b#f HTTP/1.1",
			"GET /echo?a=\u00e9 HTTP/1.1", "GET /ech\u00f6 HTTP/1.1", "GET /echo?a=\u0001 HTTP/1.1",
			"GET /echo?a=%zz HTTP/1.1", "GET /echo?a=% HTTP/1.1", "GET /echo?a={} HTTP/1.1", "GET /a\\b HTTP/1.1" })
	void requestLinesThatServersReadDifferently(String line) {
		assertThat(refused(line + "\r\nHost: a\r\n\r\n" + SMUGGLED).status()).isEqualTo(400);
	}

	@Test
	void anExpectationThatIsNotUnderstood() {
		assertThat(refused("GET /echo HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n" + SMUGGLED).status())
			.isEqualTo(417);
	}

	@Test
	void tooLongARequestLine() {
		Response response = refused("GET /echo?a=" + "x".repeat(9000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
		assertThat(response.status()).isEqualTo(414);
		assertThat(response.body()).contains("\"type\":\"urn:kvorum:problem:request-line-too-long\"");
	}

	@Test
	void tooLargeHeaders() {
		Response response = refused("GET /echo HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(20_000) + "\r\n\r\n");
		assertThat(response.status()).isEqualTo(431);
		assertThat(response.body()).contains("\"type\":\"urn:kvorum:problem:headers-too-large\"");
	}

	@Test
	void aProblemSaysWhatToDo() {
		Response response = refused("GET /echo HTTP/1.1\r\n\r\n");
		assertThat(response.header("content-type")).isEqualTo("application/problem+json");
		assertThat(response.header("connection")).isEqualTo("close");
		assertThat(response.body()).isEqualTo(
				"{\"type\":\"urn:kvorum:problem:malformed-request\"," + "\"title\":\"Bad Request\",\"status\":400,"
						+ "\"detail\":\"Send one Host header: HTTP/1.1 requires it.\"}");
		assertThat(this.server.events).containsExactly(Refusal.HOST_MISSING);
	}

	@Test
	void aFoldedLineIsFoundHoweverTheRequestIsCut() {
		try (RawHttp client = this.server.connect()) {
			for (char c : "\r\nGET /echo HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n".toCharArray()) {
				client.send(String.valueOf(c));
			}
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(400);
			assertThat(this.server.events).containsExactly(Refusal.FOLDED_LINE);
		}
	}

	@Test
	void aBodyMayHoldWhatAHeadMayNot() {
		String body = "\n a\r\n\tb\r\n\r\n c";
		try (RawHttp client = this.server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
			client.send("GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(200, 200);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET /echo HTTP/1.1\r\nHost:\r\n", "GET /echo HTTP/1.0\r\n",
			"GET /echo HTTP/1.1\r\nHost: [::1]:8080\r\n",
			"GET /echo?id=%C3%A9&x=a:b@c/d?[] HTTP/1.1\r\nhOST: a.b-c:80\r\n",
			"PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n", "GET /echo/ HTTP/1.1\r\nHost: a\r\n",
			"GET /echo/..a HTTP/1.1\r\nHost: 1.2.3.4\r\nContent-Length: 000\r\n" })
	void unusualButClear(String head) {
		try (RawHttp client = this.server.connect()) {
			client.send(head + "Connection: close\r\n\r\n" + (head.contains("Chunked") ? "0\r\n\r\n" : ""));
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(200);
		}
	}

	@Test
	void aBadRequestIsAnsweredAfterItsPredecessors() {
		String good = "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
		try (RawHttp client = this.server.connect()) {
			client
				.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n" + good + good + "GET /echo HTTP/1.1\r\n\r\n" + SMUGGLED);
			this.server.held.tryEmitEmpty();
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).extracting(Response::status).containsExactly(200, 200, 200, 400);
			assertThat(responses).extracting(Response::body).startsWith("held", "3", "3");
			assertThat(this.server.served).containsExactly("/held", "/echo", "/echo");
		}
	}

	@Test
	void aBadChunkFailsTheBodyAndIsNotItsEnd() {
		try (RawHttp client = this.server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nX\r\n\r\n"
					+ SMUGGLED);
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(400);
			assertThat(this.server.served).containsExactly("/echo");
		}
	}

	@Test
	void neitherIsItTheEndOfAPipelinedBody() {
		String get = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
		try (RawHttp client = this.server.connect()) {
			client.send(get + "PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nX\r\n\r\n"
					+ SMUGGLED);
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(200, 400);
			assertThat(this.server.served).containsExactly("/echo", "/echo");
		}
	}

	@Test
	void aHeadRequestIsRefusedWithoutABody() {
		try (RawHttp client = this.server.connect()) {
			client.send("HEAD /a;b HTTP/1.1\r\nHost: a\r\n\r\n");
			assertThat(client.readHead()).contains("HTTP/1.1 400");
			client.awaitClosed();
		}
	}

	private Response refused(String bytes) {
		try (RawHttp client = this.server.connect()) {
			client.send(bytes);
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).hasSize(1);
			assertThat(responses.getFirst().header("content-type")).isEqualTo("application/problem+json");
			assertThat(this.server.served).isEmpty();
			return responses.getFirst();
		}
	}

}
