package io.kvorum.node;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import io.kvorum.testing.RawHttp;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The paths that a request for an entity can take through a node, under BlockHound: each
 * answers what it should, so none of them blocks an event loop.
 */
@NodeTest
@ExtendWith(OutputCaptureExtension.class)
class EntityEndpointTest {

	private static final int VALUE_BYTES = 200_000;

	/** More than the memory of the node holds. */
	private static final int VALUES = 150;

	final NodeClient node;

	private final int port;

	private final MeterRegistry meters;

	EntityEndpointTest(@LocalServerPort int port, @Autowired MeterRegistry meters) {
		this.node = new NodeClient(port);
		this.port = port;
		this.meters = meters;
	}

	@Test
	void aValueIsStoredReadAndRemoved() throws Exception {
		assertThat(this.node.send("PUT", "/v0/entity?id=a", bytes("one")).statusCode()).isEqualTo(201);
		HttpResponse<byte[]> found = this.node.send("GET", "/v0/entity?id=a");
		assertThat(found.statusCode()).isEqualTo(200);
		assertThat(found.body()).asString().isEqualTo("one");
		HttpResponse<byte[]> head = this.node.send("HEAD", "/v0/entity?id=a");
		assertThat(head.statusCode()).isEqualTo(200);
		assertThat(head.headers().firstValue("Content-Length")).hasValue("3");
		assertThat(head.headers().firstValue("ETag")).isEqualTo(found.headers().firstValue("ETag"));
		assertThat(this.node.send("DELETE", "/v0/entity?id=a").statusCode()).isEqualTo(202);
		assertThat(this.node.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
	}

	@Test
	void aCacheMayReuseNoAnswerToAReadWithoutAsking() throws Exception {
		HttpResponse<byte[]> put = this.node.send("PUT", "/v0/entity?id=cached", bytes("one"));
		String etag = put.headers().firstValue("ETag").orElseThrow();

		assertNoCache(this.node.send("GET", "/v0/entity?id=cached"), 200);
		assertNoCache(this.node.send("HEAD", "/v0/entity?id=cached"), 200);
		assertNoCache(this.node.send("GET", "/v0/entity?id=never"), 404);
		assertNoCache(this.node.send("GET", "/v0/entities?start=cached"), 200);
		try (RawHttp client = RawHttp.connect(this.port)) {
			client.send("GET /v0/entity?id=cached HTTP/1.1\r\nHost: a\r\nIf-None-Match: " + etag + "\r\n\r\n");
			assertThat(client.readHead()).contains(" 304 ").contains("cache-control=no-cache");
		}
	}

	private static void assertNoCache(HttpResponse<byte[]> answer, int status) {
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-cache");
	}

	@Test
	void aValueThatIsNotInMemoryComesFromTheDisk() throws Exception {
		for (int i = 0; i < VALUES; i++) {
			assertThat(this.node.send("PUT", "/v0/entity?id=big" + i, value(i)).statusCode()).isEqualTo(201);
		}
		for (int i = 0; i < VALUES; i++) {
			HttpResponse<byte[]> found = this.node.send("GET", "/v0/entity?id=big" + i);
			assertThat(found.statusCode()).isEqualTo(200);
			assertThat(found.body()).isEqualTo(value(i));
		}
		assertThat(this.meters.get("kvorum.storage.disk.reads").timer().count()).isPositive();
		assertThat(this.meters.get("kvorum.storage.memory.reads").counter().count()).isPositive();
	}

	@Test
	void whatIsWrongIsAnsweredWithAProblem(CapturedOutput output) throws Exception {
		assertProblem(this.node.send("GET", "/v0/entity?id=never"), 404);
		assertProblem(this.node.send("GET", "/v0/entity"), 400);
		assertProblem(this.node.send("GET", "/v0/nothing"), 400);
		assertProblem(this.node.send("PUT", "/v0/entity?id=a&ttl=soon", bytes("x")), 400);
		assertProblem(this.node.send("POST", "/v0/entity?id=a", bytes("x")), 405);
		assertProblem(this.node.send("PUT", "/v0/entity?id=a", new byte[(256 << 10) + 1]), 413);
		assertThat(output.getAll()).doesNotContain("ERROR");
	}

	@Test
	void headersThatChangeWhatARequestMeansAreHonouredOrRefused() throws Exception {
		HttpResponse<byte[]> put = this.node.send("PUT", "/v0/entity?id=conditional", bytes("one"));
		String etag = put.headers().firstValue("ETag").orElseThrow();

		assertThat(statusOf("GET", "If-None-Match: " + etag)).isEqualTo(304);
		assertThat(statusOf("HEAD", "If-None-Match: W/\"x\", " + etag)).isEqualTo(304);
		assertThat(statusOf("GET", "If-None-Match: \"x\"")).isEqualTo(200);
		assertThat(statusOf("GET", "If-Match: " + etag)).isEqualTo(200);
		assertThat(statusOf("HEAD", "If-Match: \"x\"\r\nIf-Match: " + etag)).isEqualTo(200);
		assertThat(statusOf("GET", "If-Match: W/" + etag)).isEqualTo(412);
		assertThat(statusOf("GET", "If-Unmodified-Since: Sat, 21 Nov 2026 06:25:16 GMT")).isEqualTo(501);
		assertThat(statusOf("PUT", "Content-Length: 0\r\nIf-Match: x")).isEqualTo(400);
		assertThat(statusOf("PUT", "Content-Length: 0\r\nIf-None-Match: *")).isEqualTo(412);
		assertThat(statusOf("DELETE", "If-Match: W/" + etag)).isEqualTo(412);
		assertThat(statusOf("DELETE", "Idempotency-Key: a b")).isEqualTo(400);
		assertThat(statusOf("PUT", "Content-Length: 0\r\nContent-Encoding: gzip")).isEqualTo(415);
		assertThat(statusOf("PUT", "Content-Length: 0\r\nContent-Range: bytes 0-0/2")).isEqualTo(400);
		assertThat(this.node.send("GET", "/v0/entity?id=conditional").body()).asString().isEqualTo("one");
	}

	private int statusOf(String method, String headers) {
		try (RawHttp connection = RawHttp.connect(this.port)) {
			String head = connection
				.send(method + " /v0/entity?id=conditional HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n\r\n")
				.readHead();
			return Integer.parseInt(head.split(" ", 3)[1]);
		}
	}

	private static void assertProblem(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[] value(int seed) {
		byte[] value = new byte[VALUE_BYTES];
		new Random(seed).nextBytes(value);
		return value;
	}

}
