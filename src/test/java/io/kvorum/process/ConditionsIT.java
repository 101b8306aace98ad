package io.kvorum.process;

import java.util.List;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.SharedNode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.kvorum.process.EntityApiIT.assertProblem;
import static io.kvorum.testing.KvorumClient.entity;
import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("Headers that change what a request means")
class ConditionsIT {

	private static final String DATE = "Sat, 21 Nov 2026 06:25:16 GMT";

	@ParameterizedTest(name = "{0} with {1}: {2}")
	@CsvSource(delimiter = '|', textBlock = """
			PUT    | If-Unmodified-Since | Sat, 21 Nov 2026 06:25:16 GMT
			DELETE | If-Unmodified-Since | Sat, 21 Nov 2026 06:25:16 GMT
			""")
	@DisplayName("what a write cannot keep: 501 that names it, and nothing is done")
	void unsupportedOnAWrite(String method, String header, String value, KvorumClient client) {
		String key = method + " " + header;
		client.put(key, "value");

		Answer answer = client.exchange(method, entity(key), header, value);
		assertProblem(answer, 501);
		assertThat(answer.json()).containsEntry("outcome", "not-applied").containsEntry("retryable", false);
		assertThat((String) answer.json().get("detail")).containsIgnoringCase(header);
		assertThat(client.get(key).text()).isEqualTo("value");
	}

	@ParameterizedTest(name = "{0} with {1}: {2}")
	@CsvSource(delimiter = '|', textBlock = """
			PUT    | If-Match      | 01a1fcc7d1e50000e3f1a867a1962ee5
			PUT    | If-None-Match | *, "x"
			DELETE | If-Match      | "x
			DELETE | If-None-Match | x
			""")
	@DisplayName("a condition that cannot be read: 400 that says what is right, and nothing is done")
	void malformed(String method, String header, String value, KvorumClient client) {
		String key = "malformed " + method + " " + header;
		client.put(key, "value");

		Answer answer = client.exchange(method, entity(key), header, value);
		assertProblem(answer, 400);
		assertThat((String) answer.json().get("detail")).contains("Send '" + header + ": \"<etag>\"'");
		assertThat(client.get(key).text()).isEqualTo("value");
	}

	@Test
	@DisplayName("If-None-Match: * creates once: 201, then 412 with the ETag of the value, and again 201 after a DELETE")
	void createdOnce(KvorumClient client) {
		Answer created = client.exchange("PUT", entity("once"), "If-None-Match", "*");
		assertThat(created.status()).isEqualTo(201);
		assertNotMet(client.exchange("PUT", entity("once"), "If-None-Match", "*"), created.header("ETag"));

		assertThat(client.delete("once").status()).isEqualTo(202);
		assertThat(client.exchange("PUT", entity("once"), "If-None-Match", "*").status()).isEqualTo(201);
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(strings = { "PUT", "DELETE" })
	@DisplayName("If-Match: a write happens on the value that its client has read, else 412 and nothing is done")
	void onTheValueThatWasRead(String method, KvorumClient client) {
		String key = "compared " + method;
		String read = client.put(key, "read").header("ETag");
		String written = client.exchange("PUT", entity(key), "If-Match", read).header("ETag");
		assertThat(written).isNotEmpty().isNotEqualTo(read);

		for (String tags : List.of(read, "W/" + written, "\"x\"")) {
			assertNotMet(client.exchange(method, entity(key), "If-Match", tags), written);
		}
		assertThat(client.get(key).header("ETag")).isEqualTo(written);
		Answer met = client.exchange(method, entity(key), "If-Match", "\"x\", " + written);
		assertThat(met.status()).isEqualTo(method.equals("PUT") ? 201 : 202);
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(strings = { "PUT", "DELETE" })
	@DisplayName("If-Match and no value: 412 without an ETag, \"current\" is null")
	void absentMatchesNothing(String method, KvorumClient client) {
		Answer unmet = client.exchange(method, entity("compared-absent"), "If-Match", "*");

		assertNotMet(unmet, null);
		assertThat(client.get("compared-absent").status()).isEqualTo(404);
	}

	private static void assertNotMet(Answer answer, @Nullable String current) {
		assertProblem(answer, 412);
		assertThat(answer.json()).containsEntry("type", "urn:kvorum:problem:precondition-failed")
			.containsEntry("outcome", "not-applied")
			.containsEntry("retryable", false)
			.containsEntry("current", current);
		assertThat(answer.header("ETag")).isEqualTo((current != null) ? current : "");
		assertThat(answer.header("Kvorum-Consistency")).isEqualTo("linearizable");
	}

	@Test
	@DisplayName("If-Match on a read: 200 for the ETag of the value, else 412 with it; 404 if there is none")
	void matchOnARead(KvorumClient client) {
		client.put("matched", "value");
		String etag = client.get("matched").header("ETag");

		assertThat(client.exchange("GET", entity("matched"), "If-Match", etag).text()).isEqualTo("value");
		assertThat(client.exchange("HEAD", entity("matched"), "If-Match", "*").status()).isEqualTo(200);
		for (String tags : List.of("\"stale\"", "W/" + etag)) {
			Answer unmet = client.exchange("GET", entity("matched"), "If-Match", tags);
			assertProblem(unmet, 412);
			assertThat(unmet.header("ETag")).isEqualTo(etag);
			assertThat(unmet.json()).containsEntry("current", etag);
			assertThat(client.exchange("HEAD", entity("matched"), "If-Match", tags).status()).isEqualTo(412);
		}
		assertProblem(client.exchange("GET", entity("matched-absent"), "If-Match", "*"), 404);
	}

	@Test
	@DisplayName("conditions that a read cannot keep: 501")
	void unsupportedOnARead(KvorumClient client) {
		client.put("read", "value");

		assertProblem(client.exchange("GET", entity("read"), "If-Unmodified-Since", DATE), 501);
		assertThat(client.exchange("HEAD", entity("read"), "If-Unmodified-Since", DATE).status()).isEqualTo(501);
		assertProblem(client.exchange("GET", "/v0/entities?start=a", "If-Unmodified-Since", DATE), 501);
		assertProblem(client.exchange("GET", "/v0/entities?start=a", "If-Match", "\"stale\""), 501);
	}

	@Test
	@DisplayName("If-None-Match with the ETag of a value: 304 until it is written again")
	void notModified(KvorumClient client) {
		client.put("known", "value");
		String etag = client.get("known").header("ETag");

		for (String tags : List.of(etag, "W/" + etag, "\"other\", " + etag, " * ")) {
			Answer answer = client.exchange("GET", entity("known"), "If-None-Match", tags);
			assertThat(answer.status()).as(tags).isEqualTo(304);
			assertThat(answer.header("ETag")).isEqualTo(etag);
			assertThat(answer.header("Kvorum-Consistency")).isEqualTo("linearizable");
			assertThat(answer.body()).isEmpty();
			assertThat(client.exchange("HEAD", entity("known"), "If-None-Match", tags).status()).isEqualTo(304);
		}
		assertThat(client.exchange("GET", entity("known"), "If-None-Match", "\"other\"").text()).isEqualTo("value");
		client.put("known", "newer");
		assertThat(client.exchange("GET", entity("known"), "If-None-Match", etag).text()).isEqualTo("newer");
	}

	@Test
	@DisplayName("a repeat with its Idempotency-Key: the first answer, whatever has been written since")
	void repeated(KvorumClient client) {
		Answer first = client.putWith("repeated", "first", "Idempotency-Key", "\"a-quoted-one\"");
		assertThat(first.status()).isEqualTo(201);
		client.put("repeated", "later");

		Answer again = client.putWith("repeated", "first", "Idempotency-Key", "\"a-quoted-one\"");
		assertThat(again.status()).isEqualTo(201);
		assertThat(again.header("ETag")).isEqualTo(first.header("ETag"));
		assertThat(client.get("repeated").text()).isEqualTo("later");
	}

	@Test
	@DisplayName("an Idempotency-Key with another request: 422, and nothing is done")
	void reused(KvorumClient client) {
		client.putWith("reused", "first", "Idempotency-Key", "reused");

		for (Answer answer : List.of(client.putWith("reused", "other", "Idempotency-Key", "reused"),
				client.putWith("reused too", "first", "Idempotency-Key", "reused"),
				client.deleteWith("reused", "Idempotency-Key", "reused"))) {
			assertProblem(answer, 422);
			assertThat(answer.json()).containsEntry("outcome", "not-applied").containsEntry("retryable", false);
		}
		assertThat(client.get("reused").text()).isEqualTo("first");
		assertThat(client.get("reused too").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("a deletion is repeated as it was, and a 412 too")
	void repeatedOutcomes(KvorumClient client) {
		client.put("outcomes", "value");
		Answer unmet = client.putWith("outcomes", "new", "Idempotency-Key", "unmet", "If-None-Match", "*");
		assertProblem(unmet, 412);
		Answer deleted = client.deleteWith("outcomes", "Idempotency-Key", "deletes");
		assertThat(deleted.status()).isEqualTo(202);

		Answer unmetAgain = client.putWith("outcomes", "new", "Idempotency-Key", "unmet", "If-None-Match", "*");
		assertProblem(unmetAgain, 412);
		assertThat(unmetAgain.header("ETag")).isEqualTo(unmet.header("ETag"));
		client.put("outcomes", "later");
		Answer deletedAgain = client.deleteWith("outcomes", "Idempotency-Key", "deletes");
		assertThat(deletedAgain.status()).isEqualTo(202);
		assertThat(deletedAgain.header("ETag")).isEqualTo(deleted.header("ETag"));
		assertThat(client.get("outcomes").text()).isEqualTo("later");
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(strings = { "two words", "" })
	@DisplayName("an Idempotency-Key that is none: 400, and nothing is done")
	void badIdempotencyKey(String name, KvorumClient client) {
		Answer answer = client.putWith("bad name", "value", "Idempotency-Key", name);

		assertProblem(answer, 400);
		assertThat((String) answer.json().get("detail")).contains("1 to 128 visible ASCII characters");
		assertThat(client.get("bad name").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("If-None-Match and no value: 404")
	void absentIsNotKnown(KvorumClient client) {
		assertProblem(client.exchange("GET", entity("known-absent"), "If-None-Match", "*"), 404);
	}

	@Test
	@DisplayName("304: has no body, and the next answer of the connection follows it")
	void framing(KvorumClient client, NodeProcess node) {
		client.put("framed", "value");
		String etag = client.get("framed").header("ETag");
		try (RawHttp connection = RawHttp.connect(node.port())) {
			String head = "GET " + entity("framed") + " HTTP/1.1\r\nHost: a\r\n";
			connection.send(head + "If-None-Match: \"x\"\r\nIf-None-Match: " + etag + "\r\n\r\n" + head + "\r\n");

			assertThat(connection.readHead()).contains(" 304 ").contains(etag);
			assertThat(connection.read()).isNotNull().extracting(Response::body).isEqualTo("value");
		}
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', textBlock = """
			If-Modified-Since | Sat, 21 Nov 2099 06:25:16 GMT
			Range             | bytes=0-1
			If-Range          | "stale"
			Idempotency-Key   | 7f9c
			""")
	@DisplayName("what may be ignored on a read: the whole value")
	void inFull(String header, String value, KvorumClient client) {
		client.put("full", "value");

		Answer answer = client.exchange("GET", entity("full"), header, value);
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.text()).isEqualTo("value");
	}

	@Test
	@DisplayName("If-Modified-Since on a write: no condition of it, 201")
	void modifiedSinceOnAWrite(KvorumClient client) {
		assertThat(client.exchange("PUT", entity("since"), "If-Modified-Since", DATE).status()).isEqualTo(201);
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(strings = { "gzip", "identity, br", "aes128gcm" })
	@DisplayName("a PUT with a Content-Encoding: 415 with Accept-Encoding, and nothing is stored")
	void contentEncoding(String coding, KvorumClient client) {
		Answer answer = client.exchange("PUT", entity("coded " + coding), "Content-Encoding", coding);

		assertProblem(answer, 415);
		assertThat(answer.header("Accept-Encoding")).isEqualTo("identity");
		assertThat(client.get("coded " + coding).status()).isEqualTo(404);
	}

	@Test
	@DisplayName("Content-Encoding: identity says nothing: 201")
	void identity(KvorumClient client) {
		assertThat(client.exchange("PUT", entity("identity"), "Content-Encoding", "Identity").status()).isEqualTo(201);
	}

	@Test
	@DisplayName("a PUT with a Content-Range: 400, and nothing is stored")
	void contentRange(KvorumClient client) {
		assertProblem(client.exchange("PUT", entity("part"), "Content-Range", "bytes 0-0/2"), 400);
		assertThat(client.get("part").status()).isEqualTo(404);
	}

}
