package io.kvorum.node;

import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.testing.Poll;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.TestCa;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The ports of a node by HTTPS, under BlockHound, and their certificate renewed. */
@NodeTest
@ContextConfiguration(initializers = OwnCertificate.class)
@TestPropertySource(properties = { "management.server.port=0", "kvorum.api.header-timeout=1s" })
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(OutputCaptureExtension.class)
class SecuredNodeTest {

	private static final TestCa CA = OwnCertificate.CA;

	private static final Duration RELOAD_DEADLINE = Duration.ofSeconds(30);

	private final NodeClient node;

	private final NodeClient management;

	private final int port;

	private final int managementPort;

	private final MeterRegistry meters;

	SecuredNodeTest(@LocalServerPort int port, @LocalManagementPort int managementPort,
			@Autowired MeterRegistry meters) {
		this.node = new NodeClient(port, CA.client());
		this.management = new NodeClient(managementPort, CA.client());
		this.port = port;
		this.managementPort = managementPort;
		this.meters = meters;
	}

	private RawHttp connect() {
		return RawHttp.connect(this.port).secure(CA.client());
	}

	private X509Certificate shown() {
		return shown(this.port);
	}

	private static X509Certificate shown(int port) {
		try (RawHttp client = RawHttp.connect(port).secure(CA.client())) {
			return client.shown();
		}
	}

	@Test
	@Order(1)
	void anEntityIsStoredReadAndRemoved() throws Exception {
		assertThat(this.node.send("PUT", "/v0/entity?id=a", bytes("one")).statusCode()).isEqualTo(201);
		HttpResponse<byte[]> found = this.node.send("GET", "/v0/entity?id=a");
		assertThat(found.statusCode()).isEqualTo(200);
		assertThat(found.body()).asString().isEqualTo("one");
		HttpResponse<byte[]> head = this.node.send("HEAD", "/v0/entity?id=a");
		assertThat(head.headers().firstValue("Content-Length")).hasValue("3");
		assertThat(this.node.send("DELETE", "/v0/entity?id=a").statusCode()).isEqualTo(202);
		assertThat(this.node.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
		assertThat(this.node.send("GET", "/v0/nothing").statusCode()).isEqualTo(400);
		assertThat(this.node.send("GET", "/v0/status").statusCode()).isEqualTo(200);
	}

	@Test
	@Order(1)
	void largeValuesAndRangesOfThemComeAsTheyWentIn() throws Exception {
		byte[] large = new byte[200_000];
		new Random(1).nextBytes(large);
		String whole = "";
		for (String key : List.of("large 1", "large 2", "large 3")) {
			String target = "/v0/entity?id=" + key.replace(' ', '+');
			assertThat(this.node.send("PUT", target, large).statusCode()).isEqualTo(201);
			assertThat(this.node.send("GET", target).body()).isEqualTo(large);
			whole += key + "\n" + new String(large, StandardCharsets.ISO_8859_1);
		}
		byte[] range = this.node.send("GET", "/v0/entities?start=large&end=largf").body();

		assertThat(new String(range, StandardCharsets.ISO_8859_1)).isEqualTo(whole);
	}

	/** The short way of entities, the long one, and a refusal, on one connection. */
	@Test
	@Order(1)
	void aConnectionServesRequestsOfAnyKindOneAfterTheOther() {
		try (RawHttp client = connect()) {
			for (int i = 0; i < 20; i++) {
				client.send(
						"GET /v0/entity?id=never HTTP/1.1\r\nHost: a\r\n\r\nGET /v0/status HTTP/1.1\r\nHost: a\r\n\r\n");
				assertThat(client.read()).isNotNull().extracting(Response::status).isEqualTo(404);
				assertThat(client.read()).isNotNull().extracting(Response::status).isEqualTo(200);
			}
			client.send("GET /v0/entity?id=a HTTP/1.1\r\n\r\n");
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(400);
		}
	}

	/** The guard of the port is of HTTP/1. */
	@Test
	@Order(1)
	void aClientThatWouldHaveHttp2GetsHttp1() throws Exception {
		assertThat(this.node.send("GET", "/v0/status").version()).isEqualTo(HttpClient.Version.HTTP_1_1);
	}

	@Test
	@Order(1)
	void theManagementPortSpeaksTlsToo() throws Exception {
		assertThat(this.management.send("GET", "/actuator/health/readiness").statusCode()).isEqualTo(200);
		assertThat(this.management.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
		assertThat(this.meters.get("ssl.chain.expiry").gauges()).isNotEmpty();
	}

	@Test
	@Order(1)
	void plainHttpAndHandshakesThatDoNotEndAreClosedAndCountedAndNotLogged(CapturedOutput output) {
		double before = this.meters.get("kvorum.http.handshakes.failed").counter().count();
		for (int i = 0; i < 5; i++) {
			try (RawHttp client = RawHttp.connect(this.port)) {
				assertThat(client.exchange("GET /v0/entity?id=secret-key HTTP/1.1\r\nHost: a\r\n\r\n")).isEmpty();
			}
		}
		try (RawHttp client = RawHttp.connect(this.port)) {
			client.send("\u0016\u0003\u0001").awaitClosed();
		}
		assertThat(this.meters.get("kvorum.http.handshakes.failed").counter().count()).isEqualTo(before + 5);
		assertThat(this.meters.get("kvorum.http.timeouts").tag("limit", "header").counter().count()).isPositive();
		assertThat(output.getAll()).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	/** Those that are open go on, those that come get the new one; nobody fails. */
	@Test
	@Order(2)
	void aCertificateIsRenewedUnderLoadAndNoRequestFails() throws Exception {
		X509Certificate old = CA.issued("localhost");
		assertThat(shown()).isEqualTo(old);
		try (RawHttp opened = connect(); Requests requests = new Requests()) {
			assertThat(opened.exchange(STATUS)).extracting(Response::status).containsExactly(200);
			requests.awaitMore(50);
			TestCa.replace(CA.key("localhost"), CA.key("renewed"));
			TestCa.replace(CA.certificate("localhost"), CA.certificate("renewed"));
			X509Certificate renewed = CA.issued("renewed");
			Poll.until(() -> "the new certificate is shown", RELOAD_DEADLINE, () -> shown().equals(renewed));
			requests.awaitMore(50);
			assertThat(opened.exchange(STATUS)).extracting(Response::status).containsExactly(200);
			assertThat(requests.end()).isEmpty();
		}
		assertThat(this.management.send("GET", "/actuator/health/readiness").statusCode()).isEqualTo(200);
	}

	/** As Kubernetes renews a Secret: the names lead through a link that is replaced. */
	@Test
	@Order(2)
	void aCertificateBehindALinkThatLeadsElsewhereIsRenewed() throws Exception {
		assertThat(shown(this.managementPort)).isNotEqualTo(CA.issued("renewed"));
		OwnCertificate.MOUNTED.replace(OwnCertificate.files("renewed"));

		Poll.until(() -> "the new certificate is shown", RELOAD_DEADLINE,
				() -> shown(this.managementPort).equals(CA.issued("renewed")));
		assertThat(this.management.send("GET", "/actuator/health/readiness").statusCode()).isEqualTo(200);
	}

	/** The key is another one's: what is there stays. */
	@Test
	@Order(3)
	void filesThatDoNotBelongTogetherChangeNothing(CapturedOutput output) throws Exception {
		X509Certificate before = shown();
		TestCa.replace(CA.key("localhost"), CA.key("another"));
		Poll.until(() -> "it is told", RELOAD_DEADLINE, () -> output.getAll().contains("matches none of the cert"));

		assertThat(shown()).isEqualTo(before);
		assertThat(this.node.send("GET", "/v0/status").statusCode()).isEqualTo(200);
	}

	private static final String STATUS = "GET /v0/status HTTP/1.1\r\nHost: a\r\n\r\n";

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** Clients: one that keeps its connection, one that opens one for each request. */
	private final class Requests implements AutoCloseable {

		private final AtomicBoolean isOver = new AtomicBoolean();

		private final AtomicInteger answered = new AtomicInteger();

		private final Queue<String> failures = new ConcurrentLinkedQueue<>();

		private final List<Thread> clients = List.of(Thread.ofVirtual().start(this::keep),
				Thread.ofVirtual().start(this::open));

		private void keep() {
			try (RawHttp client = connect()) {
				while (!this.isOver.get()) {
					note(client.exchange(STATUS));
				}
			}
			catch (UncheckedIOException ex) {
				this.failures.add(ex.toString());
			}
		}

		private void open() {
			while (!this.isOver.get()) {
				try (RawHttp client = connect()) {
					note(client.exchange(STATUS));
				}
				catch (UncheckedIOException ex) {
					this.failures.add(ex.toString());
				}
			}
		}

		private void note(List<Response> answers) {
			if (answers.size() == 1 && answers.getFirst().status() == 200) {
				this.answered.incrementAndGet();
			}
			else {
				this.failures.add(answers.toString());
			}
		}

		void awaitMore(int requests) throws InterruptedException {
			int enough = this.answered.get() + requests;
			Poll.until(() -> "more requests are answered: " + this.failures, RELOAD_DEADLINE,
					() -> this.answered.get() >= enough || !this.failures.isEmpty());
		}

		/** Lets those under way end; returns those that failed. */
		List<String> end() throws InterruptedException {
			close();
			for (Thread client : this.clients) {
				client.join();
			}
			return List.copyOf(this.failures);
		}

		@Override
		public void close() {
			this.isOver.set(true);
		}

	}

}
