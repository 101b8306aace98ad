package io.kvorum.api;

import java.util.Map;

import io.kvorum.kv.Key;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.Generator;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a node answers that has no room for writes, and what becomes of the connection.
 */
class OverloadTests {

	private final Overloaded full = new Overloaded("kvorum.storage.write-queue-length", 64);

	private static final Key KEY = Generator.key("a");

	private static final String GET = "GET /v0/entity?id=a HTTP/1.1\r\nHost: a\r\n\r\n";

	private static final String DELETE = "DELETE /v0/entity?id=a HTTP/1.1\r\nHost: a\r\n\r\n";

	private final EntityServer server = new EntityServer();

	@AfterEach
	void close() {
		this.server.close();
	}

	private static String put(String body) {
		return putHead("Content-Length: " + body.length()) + body;
	}

	/** Its record tells that it has happened, which takes no room. */
	@Test
	void aRepeatIsNotRefusedForWantOfRoom() {
		String named = putHead("Idempotency-Key: name\r\nContent-Length: 5") + "value";
		try (RawHttp client = this.server.connect()) {
			assertThat(client.send(named).read()).extracting(Response::status).isEqualTo(201);
			this.server.storage.early = this.full;

			assertThat(client.send(named).read()).extracting(Response::status).isEqualTo(201);
		}
	}

	private static String putHead(String header) {
		return "PUT /v0/entity?id=a HTTP/1.1\r\nHost: a\r\n" + header + "\r\n\r\n";
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 5, 1000, 16_000 })
	void aRefusedPutIsNotStoredAndTheConnectionServesTheNextRequests(int bytes) {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			for (int i = 0; i < 3; i++) {
				assertRefused(client.send(put("x".repeat(bytes))).read());
			}
			assertThat(client.send(GET).read()).extracting(Response::status).isEqualTo(404);
			this.server.storage.early = null;
			assertThat(client.send(put("x".repeat(bytes))).read()).extracting(Response::status).isEqualTo(201);
		}
		assertThat(this.server.holds(KEY)).isTrue();
		// The last request is counted when its client has the answer.
		assertThat(this.server.events).startsWith("PUT NOT_APPLIED", "PUT 503", "PUT NOT_APPLIED", "PUT 503",
				"PUT NOT_APPLIED", "PUT 503", "GET REACHED", "GET 404", "PUT REACHED");
	}

	@Test
	void aPutIsRefusedBeforeItsBodyHasArrivedWhichIsThenTakenForNothingElse() {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			assertRefused(client.send(putHead("Content-Length: " + DELETE.length())).read());
			this.server.storage.early = null;
			assertThat(client.send(DELETE + GET).read()).extracting(Response::status).isEqualTo(404);
		}
		assertThat(this.server.events).startsWith("PUT NOT_APPLIED", "PUT 503", "GET REACHED");
	}

	@Test
	void requestsBehindARefusedPutAreAnsweredInTheirOrder() {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			client.send(put("one") + GET + put("two") + DELETE + GET);
			assertRefused(client.read());
			assertThat(client.read()).extracting(Response::status).isEqualTo(404);
			assertRefused(client.read());
			assertRefused(client.read());
			assertThat(client.read()).extracting(Response::status).isEqualTo(404);
		}
	}

	@Test
	void aRefusedDeleteLeavesTheValue() {
		try (RawHttp client = this.server.connect()) {
			client.send(put("value")).read();
			this.server.storage.early = this.full;
			assertRefused(client.send(DELETE).read());
			assertThat(client.send(GET).read()).extracting(Response::body).isEqualTo("value");
		}
		assertThat(this.server.events).contains("DELETE NOT_APPLIED", "DELETE 503");
	}

	/** After a body of unknown length that nobody has read the connection would end. */
	@Test
	void aBodyInChunksIsReadBeforeItIsRefusedWhichKeepsTheConnection() {
		this.server.storage.early = this.full;
		this.server.storage.late = this.full;
		try (RawHttp client = this.server.connect()) {
			assertRefused(client.send(putHead("Transfer-Encoding: chunked") + "3\r\none\r\n0\r\n\r\n").read());
			assertThat(client.send(GET).read()).extracting(Response::status).isEqualTo(404);
		}
	}

	@Test
	void whoExpectsToBeToldToContinueIsRefusedWithoutSendingTheBody() {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			assertRefused(client.send(putHead("Content-Length: 1000\r\nExpect: 100-continue")).read());
			client.awaitClosed();
		}
	}

	@Test
	void aLargeBodyThatIsRefusedEndsTheConnection() {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			Response refused = client.send(putHead("Content-Length: " + EntityServer.MAX_VALUE_BYTES)).read();
			assertRefused(refused);
			assertThat(refused).extracting(response -> response.header("connection")).isEqualTo("close");
			client.awaitClosed();
		}
	}

	@Test
	void whatIsWrongWithARequestIsSaidFirstSinceThatIsNoMatterOfTime() {
		this.server.storage.early = this.full;
		try (RawHttp client = this.server.connect()) {
			client.send("PUT /v0/entity?id= HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
			assertThat(client.read()).extracting(Response::status).isEqualTo(400);
			client.send(putHead("Content-Length: " + (EntityServer.MAX_VALUE_BYTES + 1)));
			assertThat(client.read()).extracting(Response::status).isEqualTo(413);
		}
	}

	@Test
	void aWriteThatIsRefusedOnlyWhenItWasMadeIsAnsweredTheSame() {
		try (RawHttp client = this.server.connect()) {
			this.server.storage.early = this.full;
			Response early = client.send(put("value")).read();
			this.server.storage.early = null;
			this.server.storage.late = this.full;
			Response late = client.send(put("value")).read();

			assertThat(late).isEqualTo(early);
		}
	}

	/** All that a client may rely on. */
	private static void assertRefused(@Nullable Response response) {
		if (response == null) {
			throw new AssertionError("the connection was closed without an answer");
		}
		assertThat(response.status()).isEqualTo(503);
		assertThat(response.header("content-type")).isEqualTo("application/problem+json");
		assertThat(response.header("retry-after")).isEqualTo("1");
		Map<String, Object> problem = new JsonMapper().readValue(response.body(), new TypeReference<>() {
		});
		assertThat(problem.keySet()).containsExactly("type", "title", "status", "detail", "required", "acknowledged",
				"replicas", "outcome", "retryable");
		assertThat(problem).containsEntry("type", "urn:kvorum:problem:not-accepted")
			.containsEntry("title", "Not accepted")
			.containsEntry("status", 503)
			.containsEntry("detail",
					"The operation did not begin: kvorum.storage.write-queue-length of 64 is reached. Try again later.")
			.containsEntry("required", 1)
			.containsEntry("acknowledged", 0)
			.containsEntry("outcome", "not-applied")
			.containsEntry("retryable", true);
		assertThat(problem).extractingByKey("replicas").asString().contains("outcome=overloaded");
	}

}
