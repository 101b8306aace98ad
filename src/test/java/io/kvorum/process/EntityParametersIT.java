package io.kvorum.process;

import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.SharedNode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("Parameters of a request, on one node")
class EntityParametersIT {

	@ParameterizedTest
	@ValueSource(strings = { "replicas=1/1", "replicas=1%2F1", "ack=1&from=1", "from=1&ack=1" })
	@DisplayName("one of one replica, in either spelling: served")
	void oneOfOne(String replicas, KvorumClient client) {
		assertThat(client.put("replicated", "value", replicas).status()).isEqualTo(201);
		assertThat(client.get("replicated", replicas).status()).isEqualTo(200);
		assertThat(client.head("replicated", replicas).status()).isEqualTo(200);
		assertThat(client.delete("replicated", replicas).status()).isEqualTo(202);
		assertThat(client.get("replicated", replicas).status()).isEqualTo(404);
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=2/2", "replicas=1/2", "replicas=2/3", "ack=1&from=2" })
	@DisplayName("more replicas than there are nodes: 400")
	void moreThanNodes(String replicas, KvorumClient client) {
		assertRefused(client, replicas);
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=0/1", "replicas=0/0", "replicas=2/1", "replicas=-1/1", "replicas=1/-1",
			"ack=0&from=1", "ack=2&from=1" })
	@DisplayName("not 1 <= ack <= from: 400")
	void outOfOrder(String replicas, KvorumClient client) {
		assertRefused(client, replicas);
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=", "replicas", "replicas=1", "replicas=1/", "replicas=/1", "replicas=/",
			"replicas=1/1/1", "replicas=a/b", "replicas=1.0/1", "replicas=0x1/1", "replicas=1/1%20", "replicas=%201/1",
			"replicas=1%001/1", "replicas=99999999999/99999999999", "replicas=4294967297/4294967297",
			"replicas=%EF%BC%91/1", "ack=a&from=1", "ack=1&from=" })
	@DisplayName("not two numbers: 400")
	void garbage(String replicas, KvorumClient client) {
		assertRefused(client, replicas);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ack=1", "from=1", "ack", "replicas=1/1&ack=1&from=1", "replicas=1/1&ack=1",
			"replicas=1/1&from=1", "replicas=1/1&replicas=1/1", "ack=1&ack=1&from=1" })
	@DisplayName("half a spelling, both spellings, one twice: 400")
	void spellings(String replicas, KvorumClient client) {
		assertRefused(client, replicas);
	}

	private static void assertRefused(KvorumClient client, String replicas) {
		client.put("kept", "value");

		EntityApiIT.assertProblem(client.put("kept", "another", replicas), 400);
		EntityApiIT.assertProblem(client.delete("kept", replicas), 400);
		EntityApiIT.assertProblem(client.get("kept", replicas), 400);
		assertThat(client.head("kept", replicas).status()).isEqualTo(400);
		assertThat(client.get("kept").text()).isEqualTo("value");
	}

	@ParameterizedTest
	@ValueSource(strings = { "5000ms", "30s", "999999999s" })
	@DisplayName("a timeout with its unit: as without it")
	void possibleTimeout(String timeout, KvorumClient client) {
		assertThat(client.put("timeout", "value", "timeout=" + timeout).status()).isEqualTo(201);
		assertThat(client.get("timeout", "timeout=" + timeout).text()).isEqualTo("value");
		assertThat(client.delete("timeout", "timeout=" + timeout).status()).isEqualTo(202);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0ms", "0s", "-1s", "5", "", "ms", "1m", "1.5s", "9999999999ms", "PT1S", "1s&timeout=1s" })
	@DisplayName("any other timeout: 400")
	void impossibleTimeout(String timeout, KvorumClient client) {
		assertRefused(client, "timeout=" + timeout);
	}

	@ParameterizedTest
	@ValueSource(strings = { "30s", "15m", "12h", "7d", "PT30S", "PT12H", "P7D", "PT5S", "3650d", "P3650D" })
	@DisplayName("a ttl from 1 s to 10 years: 201, and the value is there")
	void possibleTtl(String ttl, KvorumClient client) {
		assertThat(client.put("ttl " + ttl, "value", "ttl=" + ttl).status()).isEqualTo(201);
		assertThat(client.get("ttl " + ttl).text()).isEqualTo("value");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0s", "PT0S", "PT0.5S", "999ms", "-5s", "PT-5S", "3654d", "P3654D",
			"99999999999999999999d", "9223372036854775807d", "P9223372036854775807D", "", "5", "s", "5x", "5%20s",
			"1.5s", "d7", "PT", "P", "1s1s", "%EF%BC%95s" })
	@DisplayName("any other ttl: 400, and nothing is written")
	void impossibleTtl(String ttl, KvorumClient client) {
		EntityApiIT.assertProblem(client.put("no ttl " + ttl, "value", "ttl=" + ttl), 400);
		assertThat(client.get("no ttl " + ttl).status()).isEqualTo(404);
	}

}
