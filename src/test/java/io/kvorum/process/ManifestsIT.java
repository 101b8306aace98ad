package io.kvorum.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.ComposeFile;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeProcess.Exit;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Pods;
import io.kvorum.testing.Pods.Pod;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.TestCa;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether a node understands what the manifests say to it. Imports of files are optional
 * there, and a variable of the environment with a slip in its name is one that nobody
 * reads: each of them has to be seen at work.
 */
@DisplayName("Nodes started with the files and the environment of the manifests")
class ManifestsIT {

	private static final String CONTAINER = "/spec/template/spec/containers/0/";

	private static final String HOST = "127.0.0.1";

	private static final TestCa CA = TestCa.create("manifests", HOST, "renewed," + HOST);

	private static final String KEYS = ApiKeys.text(ApiKeys.entry("client", """
			"rules":[{"prefix":"","rights":["read","write"]}]"""));

	/** A call of an endpoint: of curl, or in a sentence as {@code GET /actuator/…}. */
	private static final Pattern CALL = Pattern
		.compile("(curl|`(?:GET|POST|DELETE))((?:(?!curl)[^`\\n])*?(?:\\n<node>)?)/actuator/([a-z]+)([^`\\n]*)");

	private static final Pattern METHOD = Pattern.compile("-X ([A-Z]+)");

	/** A line of a structured log. */
	private static final Pattern AWAY = Pattern
		.compile("\"message\":\"http:\\S+ is away: .*\"peer\":\"http:.*\"reason\":\"(disconnected|away)\"");

	/** Another one, of a request that took a millisecond. */
	private static final Pattern SLOW = Pattern
		.compile("Slow: PUT /v0/entity was answered with 201: total;dur=.*\"method\":\"PUT\"");

	private static final Duration DEADLINE = Duration.ofMinutes(2);

	private static final int ENDED_BY_SIGTERM = 143;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	@Test
	@DisplayName("three pods with TLS and API keys: ready by the probes, each other's peers, closed to strangers, with certificates that are renewed, joined by a fourth when they are scaled up, gone within the grace period")
	void threePods() throws InterruptedException {
		Pods pods = new Pods(this.nodes.spec().data(),
				List.of("overlays/three-nodes", "components/tls", "components/access-keys"),
				Map.of("kvorum-cluster", Map.of("kvorum.cluster.secret", "correct-horse-battery"), "kvorum-tls",
						certificate(HOST, HOST), "kvorum-access", Map.of("keys.json", KEYS)));
		List<Running> running = new ArrayList<>(pods.pods().stream().map(this::start).toList());
		assertThat(running).hasSize(3);
		for (Running node : running) {
			awaitProbes(pods, node);
			Pod pod = node.pod();
			assertThat(node.process().log())
				.contains("Ready: HTTP on port %d, management on port %d".formatted(pod.port("api"),
						pod.port("management")))
				.contains("data in " + pod.path("/var/lib/kvorum/data"))
				.contains("http://%s (TLS) of 3 nodes, 3 replicas of each key".formatted(pod.address()));
		}
		pods.pods().forEach(ManifestsIT::assertServes);
		pods.pods().forEach(ManifestsIT::assertIsClosedToStrangers);
		for (Running node : running) {
			assertRenews(node);
		}
		Running fourth = start(pods.oneMore());
		awaitProbes(pods, fourth);
		assertServes(fourth.pod());
		running.add(fourth);
		Duration grace = Duration.ofSeconds(pods.setting("/spec/template/spec/terminationGracePeriodSeconds").asInt())
			.minusSeconds(pods.setting(CONTAINER + "lifecycle/preStop/sleep/seconds").asInt());
		for (Running node : running) {
			Exit exit = node.process().stop();
			assertThat(exit.code()).isEqualTo(ENDED_BY_SIGTERM);
			assertThat(exit.after()).isLessThan(grace);
		}
	}

	@Test
	@DisplayName("a pod with TLS at its public port: probes go on in HTTP, until the management port has a bundle of its own and is told to use it")
	void publicTls() throws InterruptedException {
		Pods pods = new Pods(this.nodes.spec().data(), List.of("overlays/one-node"), Map.of());
		Pod pod = pods.pods().getFirst();
		NodeSpec spec = pod.prepare().with("server.ssl.bundle=web").with(CA.properties("web", HOST));
		Running node = new Running(pod, this.nodes.launch(spec));
		awaitProbes(pods, node);
		try (RawHttp client = RawHttp.connect(pod.port("api")).secure(CA.client(), HOST)) {
			assertThat(client.shown()).isEqualTo(CA.issued(HOST));
		}
		node.process().stop();
		Running other = new Running(pod,
				this.nodes.launch(spec.with("management.server.ssl.enabled=true", "management.server.ssl.bundle=web")));
		Poll.until(() -> "a start of " + other, DEADLINE, () -> {
			assertThat(other.process().isAlive()).as("%s", other).isTrue();
			return other.said("Ready: ");
		});
		try (RawHttp client = RawHttp.connect(pod.port("management")).secure(CA.client(), HOST)) {
			assertThat(client.shown()).isEqualTo(CA.issued(HOST));
		}
	}

	@Test
	@DisplayName("the three services of the compose file: one cluster, which tells what its comments ask for")
	void composed() throws InterruptedException {
		List<NodeProcess> running = ComposeFile
			.nodes(Path.of("config", "image", "compose.three-nodes.yaml"), this.nodes.spec().data())
			.values()
			.stream()
			.map(spec -> this.nodes
				.launch(spec.with("logging.structured.format.console=ecs", "kvorum.api.slow-request-time=1ms")))
			.toList();
		assertThat(running).hasSize(3);
		// What was decided about the nodes needs a majority of them.
		for (NodeProcess node : running) {
			node.awaitReady();
		}
		for (NodeProcess node : running) {
			assertThat(node.log()).contains("of 3 nodes, 3 replicas of each key");
			assertThat(node.client().isOk("/actuator/layout")).isTrue();
		}
		assertThat(running.getFirst().client().put("greeting", "hello").status()).isEqualTo(201);
		Poll.until(() -> "a log line of a slow request", DEADLINE,
				() -> logOf(running.getFirst()).lines().anyMatch(SLOW.asPredicate()));
		running.get(1).kill9();

		assertThat(running.get(2).client().get("greeting").text()).isEqualTo("hello");
		Poll.until(() -> "a log line with the fields of the node that is away", DEADLINE,
				() -> logOf(running.get(2)).lines().anyMatch(AWAY.asPredicate()));
	}

	@Test
	@DisplayName("a pod of production: each endpoint that the guide and the runbook call is there, with that method, at the management port only")
	void runbook() throws Exception {
		Pods pods = new Pods(this.nodes.spec().data(), List.of("overlays/production"),
				Map.of("kvorum-cluster", Map.of("kvorum.cluster.secret", "correct-horse-battery")));
		Running node = start(pods.pods().getFirst());
		Poll.until(() -> "the management port of " + node, DEADLINE, () -> {
			assertThat(node.process().isAlive()).as("%s", node).isTrue();
			return new KvorumClient(node.pod().port("management")).isOk("/actuator/health/liveness");
		});
		KvorumClient management = new KvorumClient(node.pod().port("management"));
		Set<String> calls = new TreeSet<>();
		CALL.matcher(Files.readString(Path.of("src", "docs", "operations.md")))
			.results()
			.forEach(call -> calls.add(methodOf(call) + " /actuator/" + call.group(3)));
		assertThat(calls).contains("POST /actuator/backup", "GET /actuator/backup", "POST /actuator/convergence",
				"GET /actuator/topology", "POST /actuator/layout", "DELETE /actuator/backup");
		calls.addAll(List.of("GET /actuator/loggers", "GET /actuator/threaddump"));
		for (String each : calls) {
			// A backup is named.
			String target = each.endsWith("DELETE /actuator/backup") ? each + "/none" : each;
			String[] parts = target.split(" ", -1);
			int status = parts[0].equals("POST") ? management.post(parts[1], "{}").status()
					: management.exchange(parts[0], parts[1]).status();
			assertThat(status).as(target).isNotEqualTo(405);
			if (!target.endsWith("/none")) {
				assertThat(status).as(target).isNotEqualTo(404);
			}
			assertThat(new KvorumClient(node.pod().port("api")).exchange(parts[0], parts[1]).status())
				.as("%s at the API port", target)
				.isEqualTo(404);
		}
	}

	private static String methodOf(MatchResult call) {
		if (call.group(1).startsWith("`")) {
			return call.group(1).substring(1);
		}
		Matcher named = METHOD.matcher(call.group(2));
		return named.find() ? named.group(1) : (call.group(2) + call.group(4)).contains(" -d ") ? "POST" : "GET";
	}

	private Running start(Pod pod) {
		// Caches that fit into the heap of a test. Three nodes that have just started may
		// be slow on this machine.
		NodeSpec spec = pod.prepare()
			.with("kvorum.storage.cache-size=64MB", "kvorum.storage.memtable-size=32MB",
					"kvorum.storage.row-cache-size=16MB", "spring.ssl.bundle.watch.file.quiet-period=50ms",
					"kvorum.cluster.silence-timeout=10s", "kvorum.replication.write-timeout=11s");
		return new Running(pod, this.nodes.launch(spec));
	}

	/** The files of a Secret as cert-manager makes it. */
	private static Map<String, String> certificate(String certificate, String key) {
		return Map.of("tls.crt", TestCa.text(CA.certificate(certificate)), "tls.key", TestCa.text(CA.key(key)),
				"ca.crt", TestCa.text(CA.authority()));
	}

	private static void awaitProbes(Pods pods, Running node) throws InterruptedException {
		for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
			String path = pods.setting(CONTAINER + probe + "/httpGet/path").asString();
			int port = node.pod().port(pods.setting(CONTAINER + probe + "/httpGet/port").asString());
			Poll.until(() -> probe + " of " + node, DEADLINE, () -> {
				assertThat(node.process().isAlive()).as("%s", node).isTrue();
				return new KvorumClient(port).isOk(path);
			});
		}
	}

	private static void assertServes(Pod pod) {
		KvorumClient client = new KvorumClient(pod.port("api"));
		String target = KvorumClient.entity("at " + pod.address(), "replicas=3/3");
		assertThat(client.exchange("PUT", target).status()).isEqualTo(401);
		assertThat(client.exchange("PUT", target, "Authorization", ApiKeys.bearer("client")).status()).isEqualTo(201);
		assertThat(client.exchange("GET", target, "Authorization", ApiKeys.bearer("client")).status()).isEqualTo(200);
	}

	/** Neither who has no certificate gets in, nor who has one and not the secret. */
	private static void assertIsClosedToStrangers(Pod pod) {
		String hello = "POST /replica/stream HTTP/1.1\r\nHost: a\r\nKvorum-Protocol: 4\r\nKvorum-From: http://%s\r\nContent-Length: 0\r\n\r\n"
			.formatted(pod.address());
		try (RawHttp client = RawHttp.connect(pod.port("replica")).secure(CA.client(), HOST)) {
			assertThat(client.exchange(hello)).isEmpty();
		}
		try (RawHttp client = RawHttp.connect(pod.port("replica")).secure(CA.bundle(HOST).createSslContext(), HOST)) {
			assertThat(client.exchange(hello)).extracting(Response::status).containsExactly(401);
		}
	}

	private static X509Certificate shown(Pod pod) {
		try (RawHttp client = RawHttp.connect(pod.port("replica")).secure(CA.client(), HOST)) {
			return client.shown();
		}
	}

	/** What a Secret has anew is shown; not where its key is another one's. */
	private static void assertRenews(Running node) throws InterruptedException {
		assertThat(shown(node.pod())).isEqualTo(CA.issued(HOST));
		node.pod().mounted("tls").replace(certificate("renewed", "renewed"));
		Poll.until(() -> "the renewed certificate is shown by " + node, DEADLINE,
				() -> shown(node.pod()).equals(CA.issued("renewed")));
		node.pod().mounted("tls").replace(certificate("renewed", HOST));
		Poll.until(() -> "the wrong key is told by " + node, DEADLINE, () -> node.said("matches none of the cert"));
	}

	private static String logOf(NodeProcess node) {
		try {
			return node.log();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private record Running(Pod pod, NodeProcess process) {

		boolean said(String words) {
			return logOf(this.process).contains(words);
		}

		@Override
		public String toString() {
			return this.pod.address();
		}

	}

}
