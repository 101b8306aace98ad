package io.kvorum.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.net.ssl.SSLException;

import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.testing.Generator;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.TestCa;
import io.kvorum.transport.ReplicaTls.Material;
import io.kvorum.transport.TransportEvents.Refused;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The replica protocol over TLS: who is who they say they are, and nobody else, is a
 * peer.
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class SecuredTransportTests {

	private static final String RIGHT_VERSION = String.valueOf(ReplicaProtocol.VERSIONS.oldest());

	private static final TestCa CA = TestCa.create("secured-transport", "127.0.0.1,localhost", "renewed,127.0.0.1",
			"stranger.example");

	private static final TestCa ANOTHER = TestCa.create("secured-transport-another", "127.0.0.1,localhost");

	private final TransportNodes nodes = new TransportNodes(2);

	private final TestReplica first = this.nodes.replica(0);

	private final TestReplica second = this.nodes.replica(1);

	private final List<Refused> refused = new CopyOnWriteArrayList<>();

	private final TransportEvents events = new TransportEvents() {
		@Override
		public void refused(Refused why) {
			SecuredTransportTests.this.refused.add(why);
		}
	};

	@AfterEach
	void stopAll() {
		this.nodes.close();
	}

	/** The TLS of a node that says that it is that host, which need not be so. */
	private static ReplicaTls tls(SslBundle bundle, String host) {
		try {
			return new ReplicaTls(host, material(bundle));
		}
		catch (SSLException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Material material(SslBundle bundle) {
		return new Material(bundle.getManagers().getKeyManagerFactory(), bundle.getManagers().getTrustManagerFactory(),
				null);
	}

	private static ReplicaTls honest() {
		return tls(CA.bundle("127.0.0.1"), "127.0.0.1");
	}

	/** Starts a node that tells whom it refuses. */
	private ReplicaTransport start(TestReplica replica, @Nullable ReplicaTls tls) {
		return this.nodes.start(replica, TransportNodes.settings("the secret", tls), this.events);
	}

	private Failed failed(ReplicaTransport transport) {
		return failed(transport, 1);
	}

	private Failed failed(ReplicaTransport from, int node) {
		return (Failed) TransportNodes
			.reply(this.nodes.remote(from, node).read(Generator.key("key"), TransportNodes.soon()));
	}

	private int secondPort() {
		return TransportNodes.socketAddress(this.nodes.addresses.get(1)).getPort();
	}

	@Test
	void whatIsStoredThroughAPeerIsReadThroughItAlsoWhereItIsLarge() {
		start(this.second, honest());
		ReplicaTransport transport = start(this.first, honest());
		this.nodes.awaitThere(transport, 1);
		Replica remote = this.nodes.remote(transport, 1);

		for (int bytes : new int[] { 1, 20_000, 2 << 20 }) {
			Live entry = Generator.live(new Version(bytes, 7), "x".repeat(bytes));
			Key key = Generator.key("key" + bytes);
			assertThat(TransportNodes.reply(remote.store(key, entry, Purpose.WRITE, TransportNodes.soon())))
				.isEqualTo(Acknowledged.INSTANCE);
			assertThat(TransportNodes.reply(remote.read(key, TransportNodes.soon()))).isEqualTo(Held.of(entry));
		}
		assertThat(this.refused).isEmpty();
	}

	@Test
	void aPeerWithTheCertificateOfAnotherHostGetsNoStream(CapturedOutput output) {
		start(this.second, honest());
		ReplicaTransport stranger = start(this.first, tls(CA.bundle("stranger.example"), "stranger.example"));
		TransportNodes.await("it is refused", () -> this.refused.contains(Refused.CERTIFICATE));
		TransportNodes.await("it is told", () -> failed(stranger).reason() == Reason.REFUSED);

		assertThat(failed(stranger).detail()).contains("its certificate does not name the host");
		awaitRefusals(Refused.CERTIFICATE, 10);
		assertThat(output.getOut()).containsOnlyOnce("A stream from /127.0.0.1 was refused: its certificate does not")
			.doesNotContain("\tat ");
	}

	@Test
	void aPeerThatIsFoundUnderTheAddressOfAnotherHostIsNotSpokenTo(CapturedOutput output) {
		start(this.second, tls(CA.bundle("stranger.example"), "stranger.example"));
		ReplicaTransport transport = start(this.first, honest());
		TransportNodes.await("it is refused", () -> failed(transport).reason() == Reason.UNTRUSTED);

		assertThat(failed(transport).detail()).contains("TLS with it has failed", "127.0.0.1");
		awaitRefusals(Refused.ALERT, 10);
		assertThat(output.getOut()).containsOnlyOnce(this.nodes.addresses.get(1) + " is away: TLS with it has failed")
			.doesNotContain("\tat ");
		assertThat(this.second.asked).isEmpty();
	}

	@Test
	void aPeerOfAnotherAuthorityIsNotSpokenTo(CapturedOutput output) {
		start(this.second, tls(ANOTHER.bundle("127.0.0.1"), "127.0.0.1"));
		ReplicaTransport transport = start(this.first, honest());
		TransportNodes.await("it is refused", () -> failed(transport).reason() == Reason.UNTRUSTED);

		assertThat(failed(transport).detail()).contains("TLS with it has failed", "PKIX path");
		assertThat(transport.peers().getFirst().refused()).isTrue();
		awaitRefusals(Refused.ALERT, 10);
		assertThat(this.refused).doesNotContain(Refused.HANDSHAKE);
		assertThat(output.getOut()).contains("A connection from /127.0.0.1 refuses TLS with this node: ")
			.doesNotContain("\tat ");
	}

	/** It trusts the other authority beside its own. */
	@Test
	void whoRefusesAndWhoIsRefusedEachSaySo(CapturedOutput output) throws IOException {
		Path both = ANOTHER.authority().resolveSibling("both.crt");
		Files.writeString(both, TestCa.text(ANOTHER.authority()) + TestCa.text(CA.authority()));
		ReplicaTransport refuses = start(this.second, honest());
		ReplicaTransport isRefused = this.nodes.start(this.first,
				TransportNodes.settings("the secret", tls(ANOTHER.bundle("127.0.0.1", both), "127.0.0.1")),
				TransportEvents.NONE);
		TransportNodes.await("one is refused", () -> failed(isRefused).reason() == Reason.REFUSED);
		TransportNodes.await("by the other", () -> failed(refuses, 0).reason() == Reason.UNTRUSTED);

		assertThat(failed(isRefused).detail()).contains("it refuses TLS with this node: ").doesNotContain("PKIX path");
		assertThat(failed(refuses, 0).detail()).contains("TLS with it has failed: ", "PKIX path");
		awaitRefusals(Refused.HANDSHAKE, 10);
		assertThat(this.refused).doesNotContain(Refused.ALERT);
		assertThat(output.getOut()).containsOnlyOnce("A connection from /127.0.0.1 was refused: ")
			.doesNotContain("\tat ");
	}

	/** However often it is tried: one line for each end. */
	private void awaitRefusals(Refused why, int times) {
		TransportNodes.await(times + " times " + why, () -> this.refused.stream().filter(why::equals).count() >= times);
	}

	/** Whose certificate is null shows none. */
	@ParameterizedTest
	@CsvSource({ ", false", "127.0.0.1, true" })
	void aStrangerGetsNoAnswer(@Nullable String name, boolean isOfAnother, CapturedOutput output) {
		start(this.second, honest());
		SslBundle bundle = isOfAnother ? ANOTHER.bundle(name, CA.authority()) : CA.bundle(name, CA.authority());
		for (int i = 0; i < 3; i++) {
			try (RawHttp client = RawHttp.connect(secondPort())) {
				// TLS 1.3: the client is through before the server has seen its
				// certificate.
				assertThat(client.secure(bundle.createSslContext()).exchange(hello(this.nodes.addresses.get(0))))
					.isEmpty();
			}
		}
		awaitRefusals(Refused.HANDSHAKE, 3);
		assertThat(output.getOut()).containsOnlyOnce("A connection from /127.0.0.1 was refused: ")
			.doesNotContain("\tat ");
		assertPeersAreServed();
	}

	@Test
	void anOlderVersionOfTlsIsNotSpoken() {
		start(this.second, honest());
		try (RawHttp client = RawHttp.connect(secondPort())) {
			assertThat(client.exchange("\u0016\u0003\u0001\u0000\u0005\u0001\u0000\u0000\u0001\u0003")).isEmpty();
		}
		awaitRefusals(Refused.HANDSHAKE, 1);
	}

	@Test
	void whoHasACertificateAndClaimsToBeANodeOfAnotherClusterGetsNoStream() {
		start(this.second, honest());
		for (String claimed : List.of("http://127.0.0.1:1", "nonsense", "")) {
			try (RawHttp client = RawHttp.connect(secondPort())) {
				assertThat(client.secure(CA.bundle("127.0.0.1").createSslContext()).exchange(hello(claimed)))
					.extracting(RawHttp.Response::status)
					.containsExactly(403);
			}
		}
		assertThat(this.refused).containsExactly(Refused.CERTIFICATE, Refused.CERTIFICATE, Refused.CERTIFICATE);
	}

	/** The second node is alone, the first one is in the change by which it is added. */
	private ReplicaTransport startAdded(@Nullable String secret) {
		Topology alone = Topology.of(this.nodes.addresses.subList(1, 2), 3);
		this.nodes.start(new TestReplica(alone.member(this.nodes.addresses.get(1))),
				TransportNodes.settings(secret, honest()), alone, this.events);
		Topology change = Topology.changing(alone, this.nodes.topology);
		return this.nodes.start(new TestReplica(change.member(this.nodes.addresses.get(0))),
				TransportNodes.settings(secret, honest()), change, this.events);
	}

	@Test
	void aNodeThatIsBeingAddedIsServedByThoseThatDoNotKnowItYet() {
		ReplicaTransport added = startAdded("the secret");
		this.nodes.awaitThere(added, 1);

		assertThat(TransportNodes.reply(this.nodes.remote(added, 1).read(Generator.key("key"), TransportNodes.soon())))
			.isEqualTo(Held.nothing());
		assertThat(this.refused).isEmpty();
	}

	@Test
	void withoutASecretAHostThatIsNotInTheListIsRefusedWhateverItSaysOfAChange() {
		ReplicaTransport stranger = startAdded(null);
		TransportNodes.await("it is refused", () -> this.refused.contains(Refused.CERTIFICATE));
		TransportNodes.await("it is told", () -> failed(stranger).reason() == Reason.REFUSED);
	}

	@Test
	void aCertificateIsNoSubstituteForTheSecret() {
		start(this.second, honest());
		ReplicaTransport transport = this.nodes.start(this.first, TransportNodes.settings("another secret", honest()),
				TransportEvents.NONE);
		TransportNodes.await("it is refused", () -> failed(transport).reason() == Reason.REFUSED);

		assertThat(this.refused).contains(Refused.SECRET);
		assertThat(failed(transport).detail()).contains("kvorum.cluster.secret");
	}

	@Test
	void aNodeWithoutTlsAndOneWithItTellWhatIsWrongAndNoSecret(CapturedOutput output) {
		start(this.second, honest());
		start(this.first, null);
		awaitRefusals(Refused.HANDSHAKE, 10);
		TransportNodes.await("the one with TLS says so",
				() -> output.getOut().contains(this.nodes.addresses.get(0) + " is away: TLS with it has failed"));

		assertThat(output.getOut()).contains("it does not speak TLS: kvorum.cluster.ssl.bundle must be set")
			.doesNotContain("\tat ")
			.doesNotContainIgnoringCase(hex("the secret"));
	}

	private static String hex(String text) {
		return ByteBufUtil.hexDump(text.getBytes(StandardCharsets.US_ASCII));
	}

	@Test
	void aNewCertificateIsShownToWhoComesAndThoseThatAreThereStay() throws SSLException {
		ReplicaTls tls = honest();
		start(this.second, tls);
		ReplicaTransport transport = start(this.first, honest());
		this.nodes.awaitThere(transport, 1);
		assertThat(shown()).isEqualTo(CA.issued("127.0.0.1"));
		tls.replace(material(CA.bundle("renewed")));

		assertThat(transport.peers().getFirst().streams()).isPositive();
		assertThat(
				TransportNodes.reply(this.nodes.remote(transport, 1).read(Generator.key("key"), TransportNodes.soon())))
			.isEqualTo(Held.nothing());
		assertThat(shown()).isEqualTo(CA.issued("renewed"));
	}

	private X509Certificate shown() {
		try (RawHttp client = RawHttp.connect(secondPort())) {
			return client.secure(CA.bundle("127.0.0.1").createSslContext(), "127.0.0.1").shown();
		}
	}

	private void assertPeersAreServed() {
		ReplicaTransport transport = start(this.first, honest());
		this.nodes.awaitThere(transport, 1);
	}

	private String hello(String from) {
		return """
				POST %s HTTP/1.1\r
				Host: a\r
				%s: %s\r
				%s: %s\r
				%s: %s\r
				%s: %s\r
				Content-Length: 0\r
				\r
				""".formatted(ReplicaProtocol.PATH, ReplicaProtocol.VERSION_HEADER, RIGHT_VERSION,
				ReplicaProtocol.FROM_HEADER, from, ReplicaProtocol.TO_HEADER, this.nodes.addresses.get(1),
				ReplicaProtocol.TOPOLOGY_HEADER, TopologyNames.of(this.nodes.topology).text());
	}

}
