package io.kvorum.process;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Poll;
import io.kvorum.testing.TestCa;
import io.kvorum.testing.monitoring.Monitoring;
import io.kvorum.testing.monitoring.Monitoring.Expression;
import io.kvorum.testing.monitoring.PromQl;
import io.kvorum.testing.monitoring.Scrape;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What the dashboard and the alerts read is what a node of a cluster tells")
class MonitoringIT {

	/** What is there once it has happened, and does not happen here. */
	private static final Map<String, Set<String>> RARE = Map.of("status", Set.of("500", "503", "507"), "outcome",
			Arrays.stream(Reason.values()).map(Reason::text).collect(Collectors.toUnmodifiableSet()));

	private static final String LARGE = "x".repeat(500_000);

	private static final Duration GARBAGE_DEADLINE = Duration.ofSeconds(60);

	/** With a certificate, which nobody uses: it is told when it will be over. */
	@RegisterExtension
	static final Cluster cluster = new Cluster(3,
			TestCa.create("monitoring", "127.0.0.1").properties("node", "127.0.0.1"));

	@Test
	@DisplayName("every metric of every expression, with its labels and their values")
	void everythingIsThere() throws InterruptedException {
		Scrape scrape = scrapeAfterUse();
		Set<String> recorded = Monitoring.rules()
			.stream()
			.map(Monitoring::nameOf)
			.filter(name -> name.contains(":"))
			.collect(Collectors.toSet());

		List<Expression> expressions = Monitoring.expressions();
		assertThat(expressions).hasSizeGreaterThan(100);
		assertThat(expressions).allSatisfy(expression -> {
			PromQl read = expression.read();
			assertThat(read.selectors()).isNotEmpty();
			assertThat(scrape
				.lacks(read.without(selector -> isOfOthers(selector.metric()) || recorded.contains(selector.metric()))))
				.isEmpty();
		});
		assertThat(plantedMistakes()).allSatisfy(mistake -> assertThat(scrape.lacks(PromQl.of(mistake))).hasSize(1));
	}

	/** Of Prometheus itself, of kube-state-metrics, and of gateways. */
	private static boolean isOfOthers(String metric) {
		return metric.equals("up") || metric.startsWith("kube_pod_container_")
				|| metric.equals("kvorum_gateway_usable");
	}

	/** Right but for one word each. */
	private static List<String> plantedMistakes() {
		return List.of("rate(kvorum_storage_batch_sizes_writes_sum[5m])", "kvorum_clock_drift",
				"sum by (peers) (kvorum_peer_up)", "sum by (peer) (kvorum_clock_drift_seconds)",
				"rate(kvorum_replication_operations_total{outcome!='reachd'}[5m])",
				"rate(kvorum_replication_operations_total{outcom!='reached'}[5m])",
				"rate(http_server_requests_seconds_bucket{uri='/v0/entity',le='0.2'}[5m])",
				"rate(http_server_requests_seconds_count{uri='/v0/entities/',status='404'}[5m])",
				"kvorum_peer_up == 0 and on (instance, call) kvorum_peer_calls_seconds_count{outcome='ok'}",
				"kvorum_limit_time_seconds{property='kvorum.gcgrace'}");
	}

	/** Of a node that has done all it can, and has then lost its peers. */
	private static Scrape scrapeAfterUse() throws InterruptedException {
		KvorumClient node = cluster.client(1);
		assertThat(node.put("key", "value").status()).isEqualTo(201);
		for (String key : List.of("key", "absent")) {
			node.get(key);
			node.head(key);
		}
		assertThat(node.delete("key").status()).isEqualTo(202);
		assertThat(node.exchange("GET", "/v0/entities?start=a").status()).isEqualTo(200);
		// A node that has done so little may not have collected garbage.
		Poll.until(() -> "a pause for garbage", GARBAGE_DEADLINE, () -> {
			assertThat(node.put("key", LARGE).status()).isEqualTo(201);
			return node.exchange("GET", "/actuator/prometheus").text().contains("jvm_gc_pause_seconds_sum");
		});
		cluster.kill9(2);
		cluster.kill9(3);
		cluster.awaitAway(2);
		cluster.awaitAway(3);
		assertThat(node.put("key", "value").status()).isEqualTo(504);
		return new Scrape(node.exchange("GET", "/actuator/prometheus").text(), RARE);
	}

}
