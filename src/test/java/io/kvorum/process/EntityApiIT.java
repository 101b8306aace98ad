package io.kvorum.process;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawRequest;
import io.kvorum.testing.SharedNode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.kvorum.testing.KvorumClient.entity;
import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("Entities on one node")
class EntityApiIT {

	private static final int MEBIBYTE = 1 << 20;

	@Test
	@DisplayName("a key that was put: GET gives the bytes back")
	void putThenGet(KvorumClient client) {
		assertThat(client.put("put-get", "value").status()).isEqualTo(201);

		Answer answer = client.get("put-get");
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.text()).isEqualTo("value");
	}

	@Test
	@DisplayName("a key that is overwritten: 201 again, and GET gives the new bytes")
	void overwrite(KvorumClient client) {
		client.put("overwrite", "old");

		assertThat(client.put("overwrite", "new").status()).isEqualTo(201);
		assertThat(client.get("overwrite").text()).isEqualTo("new");
	}

	@Test
	@DisplayName("a key that was never put: GET and HEAD 404")
	void absent(KvorumClient client) {
		assertThat(client.get("absent").status()).isEqualTo(404);

		Answer head = client.head("absent");
		assertThat(head.status()).isEqualTo(404);
		assertThat(head.body()).isEmpty();
	}

	@Test
	@DisplayName("a key that was deleted: 404, deleting it again is 202, putting it again brings it back")
	void deleteThenPut(KvorumClient client) {
		client.put("deleted", "value");

		assertThat(client.delete("deleted").status()).isEqualTo(202);
		assertThat(client.get("deleted").status()).isEqualTo(404);
		assertThat(client.head("deleted").status()).isEqualTo(404);
		assertThat(client.delete("deleted").status()).isEqualTo(202);
		assertThat(client.put("deleted", "again").status()).isEqualTo(201);
		assertThat(client.get("deleted").text()).isEqualTo("again");
	}

	@Test
	@DisplayName("an absent key: DELETE 202")
	void deleteAbsent(KvorumClient client) {
		assertThat(client.delete("never-there").status()).isEqualTo(202);
	}

	@Test
	@DisplayName("HEAD: the headers of GET with its Content-Length, and no body on the wire")
	void headIsGetWithoutBody(KvorumClient client, NodeProcess node) {
		client.putAs("text/plain", "head", "12345".getBytes(StandardCharsets.UTF_8));

		Answer get = client.get("head");
		Answer head = client.head("head");
		assertThat(head.status()).isEqualTo(200);
		for (String name : new String[] { "Content-Length", "Content-Type", "ETag", "Last-Modified",
				"Kvorum-Consistency" }) {
			assertThat(head.header(name)).as(name).isNotEmpty().isEqualTo(get.header(name));
		}
		assertThat(head.header("Content-Length")).isEqualTo("5");

		try (RawHttp connection = RawHttp.connect(node.port())) {
			String pipelined = "HEAD " + entity("head") + " HTTP/1.1\r\nHost: a\r\n\r\n";
			connection.send(pipelined + pipelined);
			assertThat(connection.readHead()).contains(" 200 ");
			assertThat(connection.readHead()).as("after the first head comes the second").contains(" 200 ");
		}
	}

	@Test
	@DisplayName("ETag: strong, the same as long as nothing is written, another one after each write")
	void etagIsTheVersion(KvorumClient client) {
		client.put("etag", "value");
		String first = client.get("etag").header("ETag");
		assertThat(first).matches("\"[\\x21\\x23-\\x7e]+\"");
		assertThat(client.get("etag").header("ETag")).isEqualTo(first);
		assertThat(client.head("etag").header("ETag")).isEqualTo(first);

		client.put("etag", "value");
		assertThat(client.get("etag").header("ETag")).isNotEqualTo(first);
	}

	@Test
	@DisplayName("Last-Modified: an HTTP date, the time of the write")
	void lastModified(KvorumClient client) {
		Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
		client.put("last-modified", "value");
		Instant after = Instant.now();

		assertThat(date(client.get("last-modified"), "Last-Modified")).isBetween(before, after);
	}

	private static Instant date(Answer answer, String header) {
		return ZonedDateTime.parse(answer.header(header), DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
	}

	@Test
	@DisplayName("Expires: an HTTP date, the end of the ttl; none without a ttl")
	void expires(KvorumClient client) {
		Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
		client.exchange("PUT", "/v0/entity?id=expires-header&ttl=1h");
		Instant after = Instant.now();
		client.put("lasts", "value");

		for (String method : List.of("GET", "HEAD")) {
			assertThat(date(client.exchange(method, "/v0/entity?id=expires-header"), "Expires"))
				.isBetween(before.plus(Duration.ofHours(1)), after.plus(Duration.ofHours(1)));
			assertThat(client.exchange(method, "/v0/entity?id=lasts").header("Expires")).isEmpty();
		}
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(strings = { "image/png", "text/plain;charset=ISO-8859-1", "application/json",
			"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/event-stream" })
	@DisplayName("any Content-Type of a PUT: taken, and given back with the same bytes")
	void contentTypeIsKept(String contentType, KvorumClient client) {
		byte[] value = { '{', '&', '=', '%', 0, (byte) 0xff };
		assertThat(client.putAs(contentType, "type " + contentType, value).status()).isEqualTo(201);

		Answer answer = client.get("type " + contentType);
		assertThat(answer.header("Content-Type")).isEqualToIgnoringWhitespace(contentType);
		assertThat(answer.body()).isEqualTo(value);
	}

	@Test
	@DisplayName("a PUT without a Content-Type: given back as application/octet-stream")
	void defaultContentType(KvorumClient client) {
		client.put("no type", "value");

		assertThat(client.get("no type").header("Content-Type")).isEqualTo("application/octet-stream");
	}

	@Test
	@DisplayName("an overwrite without a Content-Type: the old type is gone with the old value")
	void contentTypeBelongsToTheValue(KvorumClient client) {
		client.putAs("image/png", "retyped", new byte[] { 1 });
		client.put("retyped", new byte[] { 2 });

		assertThat(client.get("retyped").header("Content-Type")).isEqualTo("application/octet-stream");
	}

	@ParameterizedTest(name = "{0} bytes")
	@ValueSource(ints = { 0, 1, 255, 4096, 65_537, 262_145, MEBIBYTE - 1, MEBIBYTE })
	@DisplayName("a value of any size up to 1 MiB, with or without a declared length: 201, and given back")
	void valueSizes(int size, KvorumClient client) {
		byte[] value = new byte[size];
		new Random(size).nextBytes(value);

		assertThat(client.put("declared " + size, value).status()).isEqualTo(201);
		assertThat(client.get("declared " + size).body()).isEqualTo(value);
		assertThat(client.get("declared " + size).header("Content-Length")).isEqualTo(Integer.toString(size));
		assertThat(client.putChunked("chunked " + size, value).status()).isEqualTo(201);
		assertThat(client.get("chunked " + size).body()).isEqualTo(value);
	}

	@Test
	@DisplayName("a declared length of 1 MiB + 1: 413 before any of it is sent, and nothing is stored")
	void declaredTooLarge(KvorumClient client, NodeProcess node) {
		Answer answer = RawRequest.send(node.port(), "PUT " + entity("declared-large")
				+ " HTTP/1.1\r\nHost: a\r\nContent-Length: " + (MEBIBYTE + 1) + "\r\n\r\n", new byte[0]);

		assertThat(answer.status()).isEqualTo(413);
		assertProblem(answer, 413);
		assertThat(client.get("declared-large").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("1 MiB + 1 in chunks: 413 as soon as it is too much, and nothing is stored")
	void chunkedTooLarge(KvorumClient client, NodeProcess node) {
		byte[] chunk = new byte[MEBIBYTE + 1];
		Answer answer = RawRequest.send(node.port(),
				"PUT " + entity("chunked-large") + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
						+ Integer.toHexString(chunk.length) + "\r\n",
				chunk);

		assertThat(answer.status()).isEqualTo(413);
		assertProblem(answer, 413);
		assertThat(client.get("chunked-large").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("default replicas or a majority of them: every entity answer says that it is linearizable")
	void consistencyHeader(KvorumClient client) {
		assertThat(client.put("level", "value").header("Kvorum-Consistency")).isEqualTo("linearizable");
		assertThat(client.get("level").header("Kvorum-Consistency")).isEqualTo("linearizable");
		assertThat(client.get("level", "replicas=1/1").header("Kvorum-Consistency")).isEqualTo("linearizable");
		assertThat(client.head("level").header("Kvorum-Consistency")).isEqualTo("linearizable");
		assertThat(client.delete("level").header("Kvorum-Consistency")).isEqualTo("linearizable");
		assertThat(client.get("level").header("Kvorum-Consistency")).isEqualTo("linearizable");
	}

	@Test
	@DisplayName("ttl=1s: there at first, and gone for GET and HEAD once it is over")
	void ttlExpires(KvorumClient client) {
		// A version counts milliseconds, and expiry counts from it.
		Instant put = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		assertThat(client.put("expires", "value", "ttl=1s").status()).isEqualTo(201);

		Answer answer = client.get("expires");
		while (answer.status() == 200 && Instant.now().isBefore(put.plusSeconds(30))) {
			answer = client.get("expires");
		}
		assertThat(answer.status()).isEqualTo(404);
		assertThat(Instant.now()).isAfterOrEqualTo(put.plusSeconds(1));
		assertThat(client.head("expires").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("a PUT without ttl over one with ttl: stays")
	void ttlBelongsToTheValue(KvorumClient client) {
		client.put("expires-not", "short", "ttl=1s");
		client.put("expires-not", "long");
		client.put("expires-witness", "short", "ttl=1s");

		Instant deadline = Instant.now().plusSeconds(30);
		while (client.get("expires-witness").status() == 200 && Instant.now().isBefore(deadline)) {
			assertThat(client.get("expires-not").text()).isEqualTo("long");
		}
		assertThat(client.get("expires-witness").status()).isEqualTo(404);
		assertThat(client.get("expires-not").text()).isEqualTo("long");
	}

	static void assertProblem(Answer answer, int status) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
		Map<String, Object> problem = answer.json();
		assertThat(problem).containsEntry("status", status);
		assertThat((String) problem.get("type")).startsWith("urn:kvorum:problem:");
		assertThat((String) problem.get("title")).isNotBlank();
		assertThat((String) problem.get("detail")).contains(" ");
	}

}
