package io.kvorum.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Load;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.TestCa;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.ssl.SslBundle;

import static org.assertj.core.api.Assertions.assertThat;

/** Three nodes that share a certificate, since they share an address. */
@DisplayName("Nodes that show each other who they are")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SecuredClusterIT {

	private static final String HOST = "127.0.0.1";

	private static final String TRUSTED = "spring.ssl.bundle.pem.node.truststore.certificate=";

	private static final TestCa CA = TestCa.create("cluster", HOST + ",localhost", "stranger.example",
			"broken," + HOST);

	private static final TestCa NEXT = TestCa.create("cluster-next", HOST);

	private static final Duration DEADLINE = Duration.ofSeconds(60);

	private static final int LOAD_STEP = 200;

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, properties());

	private static String[] properties() {
		Path both = CA.authority().resolveSibling("both.crt");
		try {
			Files.writeString(both, TestCa.text(CA.authority()) + TestCa.text(NEXT.authority()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Stream<String> usual = Stream.of(CA.properties("node", HOST))
			.filter(property -> !property.startsWith(TRUSTED) && !property.contains("verify-keys"));
		// On a busy machine a large value took nodes that had just started a second.
		Stream<String> others = Stream.of(TRUSTED + both, "kvorum.cluster.ssl.bundle=node",
				"kvorum.cluster.silence-timeout=10s", "kvorum.storage.write-queue-time=10s",
				"kvorum.replication.write-timeout=20s", "kvorum.replication.read-timeout=20s");
		return Stream.concat(usual, others).toArray(String[]::new);
	}

	@Test
	@Order(1)
	@DisplayName("all of them answer for all keys, small and large, and two of them go on when one is killed")
	void oneIsKilled() throws InterruptedException {
		String large = "x".repeat(1_000_000);
		for (int node : cluster.nodes()) {
			for (Answer put : List.of(cluster.client(node).put("at " + node, "value", "replicas=3/3"),
					cluster.client(node).put("large at " + node, large, "replicas=3/3"))) {
				assertThat(put.status()).as("%s", put).isEqualTo(201);
			}
		}
		for (int node : cluster.nodes()) {
			for (int at : cluster.nodes()) {
				assertThat(cluster.client(at).get("at " + node, "replicas=3/3").text()).isEqualTo("value");
				assertThat(cluster.client(at).get("large at " + node, "replicas=3/3").text()).isEqualTo(large);
			}
		}
		cluster.kill9(3);
		cluster.awaitAway(3);
		assertWork(1, 2);
	}

	@Test
	@Order(2)
	@DisplayName("certificates of another authority are put in their places under load: no request fails, and who trusts only those is a peer")
	void certificatesAreReplaced() throws InterruptedException {
		try (Load load = Load.on(cluster, List.of(1, 2), 2)) {
			awaitMore(load);
			TestCa.replace(CA.key(HOST), NEXT.key(HOST));
			TestCa.replace(CA.certificate(HOST), NEXT.certificate(HOST));
			for (int node : cluster.nodes()) {
				Poll.until(() -> "node " + node + " shows the new certificate", DEADLINE,
						() -> shownBy(node).equals(NEXT.issued(HOST)));
			}
			awaitMore(load);
			cluster.restartWith(3, TRUSTED + NEXT.authority());
			cluster.awaitTogether();
			awaitMore(load);
			assertThat(load.stop()).isEmpty();
			System.out.printf("certificates replaced under load: %d requests, none failed, slowest %d ms%n",
					load.succeeded(), load.slowestMillis());
		}
	}

	@Test
	@Order(3)
	@DisplayName("a certificate beside the key of another: it is told once, and not used")
	void filesThatDoNotBelongTogether() throws InterruptedException {
		X509Certificate before = shownBy(1);
		TestCa.replace(CA.key(HOST), CA.key("broken"));
		for (int node : cluster.nodes()) {
			Poll.until(() -> "node " + node + " says so", DEADLINE,
					() -> said(node).contains("The changed SSL bundle node cannot be used"));
			assertThat(shownBy(node)).isEqualTo(before);
		}
		cluster.cut(1);
		cluster.awaitTogether();
		assertWork(1, 2, 3);
		TestCa.replace(CA.key(HOST), NEXT.key(HOST));
	}

	@Test
	@Order(4)
	@DisplayName("strangers without a certificate, with one of another authority, or with one of another host: refused at the port and as a server in the place of a node, and the cluster goes on")
	void strangers() throws Exception {
		TestCa another = TestCa.create("cluster-another", HOST);
		try (RawHttp client = connect(1, CA.bundle(null, NEXT.authority()))) {
			assertThat(client.exchange(hello(3))).isEmpty();
		}
		try (RawHttp client = connect(1, another.bundle(HOST, NEXT.authority()))) {
			assertThat(client.exchange(hello(3))).isEmpty();
		}
		try (RawHttp client = connect(1, CA.bundle("stranger.example", NEXT.authority()))) {
			assertThat(client.exchange(hello(3))).extracting(Response::status).containsExactly(403);
		}
		assertThat(cluster.client(1).metric("kvorum_peer_streams_refused_total{reason=\"handshake\"}"))
			.isGreaterThanOrEqualTo(2);
		assertThat(cluster.client(1).metric("kvorum_peer_streams_refused_total{reason=\"certificate\"}")).isEqualTo(1);
		cluster.kill9(3);
		cluster.awaitAway(3);
		for (SslBundle bundle : List.of(CA.bundle("stranger.example"), another.bundle(HOST))) {
			try (Impostor impostor = new Impostor(port(3), bundle)) {
				for (int node : List.of(1, 2)) {
					Poll.until(() -> "node " + node + " does not speak to it: " + cluster.peers(node), DEADLINE,
							() -> String.valueOf(cluster.peers(node).get(cluster.address(3)))
								.startsWith("away: TLS with it has failed"));
				}
				assertThat(impostor.heard).hasValue(0);
				assertWork(1, 2);
			}
		}
		for (int node : List.of(1, 2)) {
			assertThat(cluster.wholeLog(node)).doesNotContain("\tat ");
		}
	}

	private static RawHttp connect(int node, SslBundle bundle) {
		return RawHttp.connect(port(node)).secure(bundle.createSslContext(), HOST);
	}

	private static int port(int node) {
		String address = cluster.address(node);
		return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
	}

	private static X509Certificate shownBy(int node) {
		Path both = CA.authority().resolveSibling("both.crt");
		try (RawHttp client = connect(node, CA.bundle("stranger.example", both))) {
			return client.shown();
		}
	}

	private static String hello(int claimed) {
		return "POST /replica/stream HTTP/1.1\r\nHost: a\r\nKvorum-From: %s\r\nContent-Length: 0\r\n\r\n"
			.formatted(cluster.address(claimed));
	}

	private static String said(int node) {
		try {
			return cluster.node(node).log();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private static void assertWork(int... nodes) {
		for (int node : nodes) {
			KvorumClient client = cluster.client(node);
			assertThat(client.put("works at " + node, "value").status()).isEqualTo(201);
			assertThat(client.get("works at " + node).text()).isEqualTo("value");
		}
	}

	private static void awaitMore(Load load) throws InterruptedException {
		long enough = load.succeeded() + LOAD_STEP;
		Poll.until(() -> "the load goes on", DEADLINE, () -> load.succeeded() >= enough);
	}

	/** Listens in the place of a node, with a certificate, and counts what it is told. */
	private static final class Impostor implements AutoCloseable {

		private final SSLServerSocket server;

		private final AtomicInteger heard = new AtomicInteger();

		Impostor(int port, SslBundle bundle) throws IOException {
			this.server = (SSLServerSocket) bundle.createSslContext().getServerSocketFactory().createServerSocket();
			this.server.setReuseAddress(true);
			this.server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
			Thread.ofVirtual().start(this::listen);
		}

		private void listen() {
			while (!this.server.isClosed()) {
				try (SSLSocket client = (SSLSocket) this.server.accept()) {
					this.heard.addAndGet(Math.max(0, client.getInputStream().read()));
				}
				catch (IOException ex) {
					// refused, or over
				}
			}
		}

		@Override
		public void close() throws IOException {
			this.server.close();
		}

	}

}
