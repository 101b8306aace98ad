package io.kvorum.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess.Exit;
import io.kvorum.testing.SpanCollector;
import io.kvorum.testing.SpanCollector.Span;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a collector gets to see of operations on three nodes. Only those that their
 * clients sample are traced. A node may be silent for long before it is away: that a
 * silent replica brings about a hedge must not depend on how busy this machine is.
 */
@DisplayName("Traces")
class TracingIT {

	private static final String PARENT = "00f067aa0ba902b7";

	private static final String TIMING = "Server-Timing";

	private static final Duration STOP_DEADLINE = Duration.ofSeconds(10);

	private static final SpanCollector collector = new SpanCollector();

	private static final AtomicLong traces = new AtomicLong();

	/** A node that is only slow is not hedged. */
	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.tracing.enabled=true", "kvorum.cluster.silence-timeout=10s",
			"kvorum.cluster.hedge-delay=500ms", "kvorum.replication.write-timeout=11s",
			"management.tracing.sampling.probability=0", "management.opentelemetry.tracing.export.schedule-delay=50ms",
			"management.opentelemetry.tracing.export.otlp.endpoint=" + collector.endpoint());

	@AfterAll
	static void close() {
		collector.close();
	}

	private static String newTrace() {
		return "4bf92f3577b34da6" + HexFormat.of().toHexDigits(traces.incrementAndGet());
	}

	private static Answer send(int node, String trace, String method, String target) {
		return cluster.client(node)
			.exchange(method, target, "traceparent", "00-" + trace + "-" + PARENT + "-01", "Kvorum-Timing", "1");
	}

	/** Outcomes by replica. */
	private static Map<String, String> outcomes(List<Span> spans, String name) {
		return spans.stream()
			.filter(span -> span.name().equals(name))
			.collect(Collectors.toMap(span -> span.attribute("kvorum.replica"),
					span -> span.attribute("kvorum.outcome")));
	}

	private static boolean hasServer(List<Span> spans) {
		return spans.stream().anyMatch(span -> span.parent().equals(PARENT));
	}

	private static Span server(List<Span> spans) {
		return spans.stream().filter(span -> span.parent().equals(PARENT)).findFirst().orElseThrow();
	}

	@Test
	@DisplayName("a PUT is one trace: the coordinator below its client, and below it two replicas asked for versions and three for a store")
	void put() throws InterruptedException {
		String trace = newTrace();
		Answer answer = send(1, trace, "PUT", KvorumClient.entity("traced"));
		assertThat(answer.status()).isEqualTo(201);

		List<Span> spans = collector.await(trace, found -> found.size() == 6);
		Span server = server(spans);
		assertThat(server.name()).isEqualTo("PUT /v0/entity");
		assertThat(server.attributes()).containsEntry("kvorum.node", cluster.address(1))
			.containsEntry("kvorum.ack", "2")
			.containsEntry("kvorum.from", "3")
			.containsEntry("http.response.status_code", "201")
			.containsEntry("kvorum.outcome", "reached");
		assertThat(spans).filteredOn(span -> !span.equals(server))
			.allSatisfy(span -> assertThat(span.parent()).isEqualTo(server.id()));
		assertThat(outcomes(spans, "replica versions")).hasSize(2)
			.containsEntry(cluster.address(1), "ok")
			.containsValue("ok");
		assertThat(outcomes(spans, "replica store")).containsExactlyInAnyOrderEntriesOf(
				Map.of(cluster.address(1), "ok", cluster.address(2), "ok", cluster.address(3), "ok"));
		assertThat(answer.header(TIMING)).contains("versions;dur=", "store;dur=", cluster.address(1) + " store ");
	}

	@Test
	@DisplayName("a replica that was killed is away, or its connection broke; the others are not blamed")
	void killed() throws InterruptedException {
		cluster.kill9(3);
		String trace = newTrace();
		assertThat(send(1, trace, "PUT", KvorumClient.entity("killed")).status()).isEqualTo(201);

		List<Span> spans = collector.await(trace,
				found -> outcomes(found, "replica store").size() == 3 && hasServer(found));
		Map<String, String> stores = outcomes(spans, "replica store");
		assertThat(stores.get(cluster.address(3))).isIn("away", "disconnected");
		assertThat(stores).containsEntry(cluster.address(1), "ok").containsEntry(cluster.address(2), "ok");
		assertThat(spans).filteredOn(Span::isError)
			.extracting(span -> span.attribute("kvorum.replica"))
			.containsOnly(cluster.address(3));
	}

	@Test
	@DisplayName("two replicas are silent and nobody knows yet: the second one asked is a hedge, and the 504 tells the client the same")
	void hedged() throws InterruptedException {
		// The first one loads classes on its event loop, where a hedge would wait too.
		assertThat(send(1, newTrace(), "GET", KvorumClient.entity("hedged")).status()).isEqualTo(404);
		cluster.pause(2);
		cluster.pause(3);
		String trace = newTrace();
		Answer answer = send(1, trace, "GET", KvorumClient.entity("hedged"));
		assertThat(answer.status()).isEqualTo(504);

		List<Span> spans = collector.await(trace, found -> found.size() == 4);
		assertThat(server(spans).isError()).isTrue();
		assertThat(server(spans).attributes()).containsEntry("kvorum.outcome", "not-applied");
		assertThat(outcomes(spans, "replica read")).containsEntry(cluster.address(1), "ok").hasSize(3);
		List<Span> silent = spans.stream().filter(span -> span.isError() && !span.equals(server(spans))).toList();
		assertThat(silent).extracting(span -> span.attribute("kvorum.outcome"))
			.hasSize(2)
			.allMatch(List.of("timeout", "disconnected", "cancelled")::contains);
		assertThat(silent).extracting(span -> span.attribute("kvorum.hedge")).containsExactlyInAnyOrder("", "true");
		assertThat(answer.header(TIMING)).contains("hedge\"", "read;dur=");
	}

	@Test
	@DisplayName("a range is one trace with the pages of all nodes")
	void range() throws InterruptedException {
		send(1, newTrace(), "PUT", KvorumClient.entity("ranged"));
		String trace = newTrace();
		assertThat(send(2, trace, "GET", "/v0/entities?start=ranged").status()).isEqualTo(200);

		List<Span> spans = collector.await(trace, found -> found.size() >= 4);
		assertThat(server(spans).attributes()).containsEntry("kvorum.scope", "cluster")
			.containsEntry("kvorum.outcome", "complete")
			.containsEntry("kvorum.node", cluster.address(2));
		assertThat(outcomes(spans, "replica page").keySet())
			.containsExactlyInAnyOrderElementsOf(cluster.nodes().stream().map(cluster::address).toList());
	}

	@Test
	@DisplayName("what no client samples is not traced, with the probability 0")
	void notSampled() throws InterruptedException {
		assertThat(cluster.client(1).put("not sampled", "x").status()).isEqualTo(201);
		String trace = newTrace();
		send(1, trace, "GET", KvorumClient.entity("not sampled"));

		collector.await(trace, TracingIT::hasServer);
		assertThat(collector.spans()).allSatisfy(span -> assertThat(span.trace()).startsWith("4bf92f3577b34da6"));
	}

	@Test
	@DisplayName("a collector that is silent neither holds up requests nor keeps a node from ending")
	void silentCollector() throws IOException, InterruptedException {
		try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			cluster.restartWith(3, "management.opentelemetry.tracing.export.otlp.endpoint=http://127.0.0.1:"
					+ silent.getLocalPort() + "/v1/traces");
			cluster.awaitTogether();
			for (int i = 0; i < 100; i++) {
				assertThat(send(3, newTrace(), "PUT", KvorumClient.entity("silent " + i)).status()).isEqualTo(201);
			}
			Exit exit = cluster.stop(3);

			assertThat(exit.code()).isEqualTo(143);
			assertThat(exit.after()).isLessThan(STOP_DEADLINE);
		}
	}

}
