package io.kvorum.node;

import java.net.http.HttpResponse;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Where a key is, asked at one of two nodes, the other of which is not there. */
@NodeTest
@ContextConfiguration(initializers = AbsentPeer.class)
@TestPropertySource(properties = "management.endpoints.web.exposure.include=health,topology")
@ExtendWith(OutputCaptureExtension.class)
class TopologyEndpointTest {

	private static final String ENDPOINT = "/actuator/topology";

	private final NodeClient node;

	TopologyEndpointTest(@LocalServerPort int port) {
		this.node = new NodeClient(port);
	}

	@Test
	void theClusterIsToldWithTheStateOfEachNode() throws Exception {
		JsonNode cluster = this.node.json(ENDPOINT);

		assertThat(cluster.propertyNames()).containsExactly("self", "nodes", "layout", "replicationFactor",
				"partitions", "fingerprint");
		assertThat(cluster.get("partitions").asInt()).isEqualTo(262_144);
		assertThat(cluster.get("replicationFactor").asInt()).isEqualTo(2);
		assertThat(cluster.get("nodes").get(cluster.get("self").asString()).asString()).isEqualTo("self");
		assertThat(cluster.get("nodes")).hasSize(2).anyMatch(state -> state.asString().startsWith("away"));
	}

	@Test
	void ofAKeyEachNodeIsToldWithWhatItHoldsOrWhyItCannotSay() throws Exception {
		assertState("nothing", "absent");
		String written = put("live", "");
		JsonNode live = assertState("live", "live");
		assertThat('"' + live.get("version").asString() + '"').isEqualTo(written);
		assertThat(live.get("copies").asInt()).isEqualTo(2);
		assertThat(live.get("identity")).isEqualTo(live.get("version"));
		assertThat(live.has("expires") || live.has("lineage") || live.has("promise")).isFalse();
		put("with a limit", "&ttl=1h");
		assertThat(assertState("with+a+limit", "live").get("expires").asString()).isGreaterThan("20");
		this.node.send("DELETE", "/v0/entity?id=live&replicas=1/2");
		assertThat(assertState("live", "tombstone").get("version").asString()).isGreaterThan(written.substring(1));
	}

	@Test
	void noValueIsInAnAnswerHoweverShortItIs() throws Exception {
		this.node.send("PUT", "/v0/entity?id=short&replicas=1/2", "v".repeat(3).getBytes(UTF_8));
		assertThat(new String(this.node.send("GET", ENDPOINT + "?id=short").body(), UTF_8)).doesNotContain("vvv");
	}

	@Test
	void aKeyIsTheSameByItsBytes() throws Exception {
		put("%C3%A9+%EF%BF%BD", "");
		JsonNode byHex = this.node.json(ENDPOINT + "?hex=c3a920efbfbd");
		assertThat(byHex.get("replicas")).anyMatch(replica -> replica.get("state").asString().equals("live"));
		put("%C3%A9", "");
		assertThat(this.node.json(ENDPOINT + "?id=%C3%A9")).isEqualTo(this.node.json(ENDPOINT + "?hex=c3a9"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "?id=", "?id=secretkey&id=b", "?id=secretkey%ff", "?id=secretkey%C0%80",
			"?id=secretkey%ED%A0%80", "?id=secretkey%EF%BF%BD", "?id=secretkey&hex=00", "?hex=0", "?hex=0g", "?hex=",
			"?hex=00&hex=01" })
	void whatIsNotExactlyOneKeyIsRefusedAndNotLogged(String query, CapturedOutput output) throws Exception {
		HttpResponse<byte[]> answer = this.node.send("GET", ENDPOINT + query);
		assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(400);
		assertThat(new String(answer.body(), UTF_8)).doesNotContain("secretkey");
		assertThat(output.getAll()).doesNotContain("secretkey");
	}

	@Test
	void aKeyIsNotLongerThanOthers() throws Exception {
		assertThat(this.node.send("GET", ENDPOINT + "?id=" + "a".repeat(1024)).statusCode()).isEqualTo(200);
		assertThat(this.node.send("GET", ENDPOINT + "?id=" + "a".repeat(1025)).statusCode()).isEqualTo(400);
	}

	private String put(String id, String more) throws Exception {
		HttpResponse<byte[]> answer = this.node.send("PUT",
				"/v0/entity?id=" + id.replace(' ', '+') + "&replicas=1/2" + more,
				"a value that is longer than the head of an entry".getBytes(UTF_8));
		assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(201);
		return answer.headers().firstValue("ETag").orElseThrow();
	}

	/** What this node tells of itself. */
	private JsonNode assertState(String id, String state) throws Exception {
		HttpResponse<byte[]> answer = this.node.send("GET", ENDPOINT + "?id=" + id);
		assertThat(answer.statusCode()).isEqualTo(200);
		JsonNode found = JsonMapper.shared().readTree(answer.body());
		assertThat(found.get("partition").asInt()).isBetween(0, 262_143);
		assertThat(found.get("replicas")).hasSize(2);
		String self = this.node.json(ENDPOINT).get("self").asString();
		for (JsonNode replica : found.get("replicas")) {
			boolean isSelf = replica.get("node").asString().equals(self);
			assertThat(replica.get("state").asString()).isEqualTo(isSelf ? state : "away");
			assertThat(replica.get("replica").asBoolean()).isTrue();
		}
		return found.get("replicas")
			.valueStream()
			.filter(replica -> replica.get("node").asString().equals(self))
			.findFirst()
			.orElseThrow();
	}

}
