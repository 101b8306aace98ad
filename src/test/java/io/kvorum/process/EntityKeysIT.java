package io.kvorum.process;

import java.nio.charset.StandardCharsets;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.RawRequest;
import io.kvorum.testing.SharedNode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("Keys: 1 to 1024 bytes of well-formed UTF-8, and two different ones never meet")
class EntityKeysIT {

	@ParameterizedTest
	@ValueSource(strings = { "a", " ", "+", "%", "%2B", "&", "=", "#", "?", "/", "//", "../..", ";a=b", "\"", "\\",
			"a b", "\n", "\r\n", "\t", "\0", "a\0b", "\u007f", "\u0080", "ключ", "鍵", "e\u0301", "\u00e9", "\ufeff",
			"\ufffd", "\ufffe", "\ue000", "\ud800\udc00", "\ud83d\udd11", "\udbff\udfff" })
	@DisplayName("text of any plane, controls and reserved characters: stored, read, deleted")
	void everyKindOfText(String key, KvorumClient client) {
		assertThat(client.put(key, "value of " + key).status()).isEqualTo(201);
		assertThat(client.get(key).text()).isEqualTo("value of " + key);
		assertThat(client.delete(key).status()).isEqualTo(202);
		assertThat(client.get(key).status()).isEqualTo(404);
	}

	@Test
	@DisplayName("every code point of a key's own encoding: none meets another")
	void codePointsDoNotMeet(KvorumClient client) {
		for (int codePoint = 0; codePoint < Character.MAX_CODE_POINT; codePoint += stride(codePoint)) {
			String key = "cp" + Character.toString(codePoint);
			assertThat(client.get(key).status()).as("U+%04X before its PUT", codePoint).isEqualTo(404);
			assertThat(client.put(key, Integer.toString(codePoint)).status()).as("U+%04X", codePoint).isEqualTo(201);
			assertThat(client.get(key).text()).as("U+%04X", codePoint).isEqualTo(Integer.toString(codePoint));
		}
	}

	/** All of Latin-1, samples beyond, never a surrogate. */
	private static int stride(int codePoint) {
		if (codePoint < 0xff) {
			return 1;
		}
		return (codePoint + 0xabd >= 0xd800 && codePoint < 0xe000) ? 0xe000 - codePoint : 0xabd;
	}

	@Test
	@DisplayName("+ is a space, %2B is a plus, as in every query string")
	void plusIsSpace(KvorumClient client) {
		client.exchange("DELETE", "/v0/entity?id=p%2Bq");
		client.put("p q", "space");

		assertThat(client.exchange("GET", "/v0/entity?id=p+q").text()).isEqualTo("space");
		assertThat(client.exchange("GET", "/v0/entity?id=p%20q").text()).isEqualTo("space");
		assertThat(client.exchange("GET", "/v0/entity?id=p%2Bq").status()).isEqualTo(404);
	}

	@Test
	@DisplayName("upper and lower case hex digits, encoded and plain letters: the same key")
	void encodingsOfOneKey(KvorumClient client) {
		client.put("k/é", "one");

		assertThat(client.exchange("GET", "/v0/entity?id=k%2f%c3%a9").text()).isEqualTo("one");
		assertThat(client.exchange("GET", "/v0/entity?id=%6B%2F%C3%A9").text()).isEqualTo("one");
	}

	@Test
	@DisplayName("1024 bytes: 201; 1025 bytes: 400, counted after decoding and in bytes")
	void longestKey(KvorumClient client) {
		String longest = "é".repeat(512);
		assertThat(client.put(longest, "long").status()).isEqualTo(201);
		assertThat(client.get(longest).text()).isEqualTo("long");
		assertThat(client.put("k".repeat(1024), "long").status()).isEqualTo(201);

		EntityApiIT.assertProblem(client.put(longest + "x", "too long"), 400);
		EntityApiIT.assertProblem(client.get("k".repeat(1025)), 400);
		EntityApiIT.assertProblem(client.delete("鍵".repeat(342)), 400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v0/entity", "/v0/entity?", "/v0/entity?id", "/v0/entity?id=", "/v0/entity?ID=a",
			"/v0/entity?key=a", "/v0/entity?id=a&id=b", "/v0/entity?id=a&id=a", "/v0/entity?id=&id=a",
			"/v0/entity?replicas=1/1" })
	@DisplayName("id missing, empty or repeated: 400 for every method")
	void idMissing(String target, KvorumClient client) {
		for (String method : new String[] { "GET", "PUT", "DELETE" }) {
			EntityApiIT.assertProblem(client.exchange(method, target), 400);
		}
		assertThat(client.exchange("HEAD", target).status()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "%", "%4", "a%", "a%2", "%zz", "%4g", "%-1", "%+1", "%u0041", "%%41" })
	@DisplayName("ill-formed percent-encoding: 400")
	void illFormedPercent(String id, NodeProcess node) {
		assertRefused(node, id);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "%FF", "%FE", "%80", "%BF", "a%80", "%C3", "%C3%28", "%C3a", "%E9%8D", "%F0%9F%94", "%E9%8Da" })
	@DisplayName("stray, missing or cut UTF-8 bytes: 400, never the replacement character's key")
	void illFormedUtf8(String id, NodeProcess node) {
		node.client().put("\ufffd", "the replacement character's own value");
		node.client().put("a\ufffd", "the replacement character's own value");

		assertRefused(node, id);

		assertThat(node.client().get("\ufffd").text()).isEqualTo("the replacement character's own value");
	}

	@ParameterizedTest
	@ValueSource(strings = { "%C0%80", "%C0%AF", "%C1%BF", "%E0%80%AF", "%E0%9F%BF", "%F0%80%80%AF", "%F0%8F%BF%BF" })
	@DisplayName("overlong UTF-8: 400")
	void overlongUtf8(String id, NodeProcess node) {
		assertRefused(node, id);
	}

	@ParameterizedTest
	@ValueSource(strings = { "%ED%A0%80", "%ED%BF%BF", "%ED%A0%BD%ED%B4%91", "%F4%90%80%80", "%F5%80%80%80",
			"%F8%88%80%80%80", "%FC%84%80%80%80%80" })
	@DisplayName("surrogates in UTF-8, and what is beyond U+10FFFF: 400")
	void noCodePointAtAll(String id, NodeProcess node) {
		assertRefused(node, id);
	}

	private static void assertRefused(NodeProcess node, String id) {
		for (String method : new String[] { "GET", "PUT", "DELETE" }) {
			Answer answer = RawRequest.send(node.port(), method, "/v0/entity?id=" + id);
			assertThat(answer.status()).as("%s %s", method, id).isEqualTo(400);
			assertThat(new String(answer.body(), StandardCharsets.UTF_8)).doesNotContain("\ufffd");
		}
	}

}
