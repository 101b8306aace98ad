package io.kvorum.node;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import io.kvorum.cluster.Topology;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stranger at the replica port. What is played again of a stream that was good is in
 * {@code ReplicaTransportTests}.
 */
@NodeTest
@ContextConfiguration(initializers = AbsentPeer.class)
@TestPropertySource(properties = "kvorum.cluster.secret=" + ReplicaPortAttackTest.SECRET)
@ExtendWith(OutputCaptureExtension.class)
class ReplicaPortAttackTest {

	static final String SECRET = "a-secret-of-this-cluster";

	private final int port;

	private final int replicaPort;

	private final String self;

	private final Topology topology;

	ReplicaPortAttackTest(@LocalServerPort int port, @Value("${kvorum.cluster.self}") String self,
			@Autowired Topology topology) {
		this.port = port;
		this.self = self;
		this.topology = topology;
		this.replicaPort = Integer.parseInt(self.substring(self.lastIndexOf(':') + 1));
	}

	private static int status(int port, String request) {
		try (RawHttp connection = RawHttp.connect(port)) {
			List<Response> answers = connection.exchange(request);
			return answers.isEmpty() ? 0 : answers.getFirst().status();
		}
	}

	private static String stream(String... headers) {
		return "POST /replica/stream HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n%s\r\n\r\n"
			.formatted(String.join("\r\n", headers));
	}

	@ParameterizedTest
	@ValueSource(strings = { "X-A: b", "Kvorum-Secret: " + SECRET, "Kvorum-Proof: " + SECRET, "Kvorum-Proof: ",
			"Kvorum-Proof: null", "Authorization: Bearer " + SECRET,
			"Kvorum-Proof: 0000000000000000000000000000000000000000000000000000000000000000",
			"Kvorum-Challenge: x\r\nKvorum-Nonce: y\r\nKvorum-Proof: z" })
	void aStrangerOpensNoStream(String headers, CapturedOutput output) {
		assertThat(status(this.replicaPort, stream("Kvorum-Protocol: 4", headers))).isEqualTo(401);
		assertThat(output.getAll()).doesNotContain(SECRET);
	}

	@Test
	void aStrangerFindsNothingElseThere() {
		for (String path : new String[] { "/", "/v0/entity?id=a", "/v0/entities?start=a", "/v0/status",
				"/actuator/health", "/actuator/env", "/replica", "/replica/stream/", "/replica/../v0/entity?id=a" }) {
			assertThat(status(this.replicaPort, "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")).as(path)
				.isIn(400, 404, 405);
		}
	}

	@Test
	void thePublicPortKnowsNothingOfTheReplicaProtocol() {
		assertThat(status(this.port, "GET /replica/challenge HTTP/1.1\r\nHost: a\r\n\r\n")).isEqualTo(400);
		assertThat(status(this.port, stream("Kvorum-Protocol: 4"))).isEqualTo(400);
	}

	/** Not even one that somebody names who knows the secret. */
	@Test
	void noHostIsReachedByAStream() throws Exception {
		try (NamedHost host = new NamedHost()) {
			String named = "http://" + host.authority();
			assertThat(provenStatus(named, this.self)).isEqualTo(200);
			assertThat(provenStatus(this.self, named)).isEqualTo(421);
			assertThat(provenStatus(named, named)).isEqualTo(421);
			assertThat(status(this.replicaPort,
					stream("Kvorum-Protocol: 4", "Kvorum-From: " + named, "Kvorum-To: " + named)))
				.isEqualTo(401);
			assertThat(
					status(this.replicaPort, "GET %s/ HTTP/1.1\r\nHost: %s\r\n\r\n".formatted(named, host.authority())))
				.isIn(400, 404);
			host.assertNobodyCame();
		}
	}

	/** What a stream is answered that comes with a right proof. */
	private int provenStatus(String from, String to) throws GeneralSecurityException {
		String topology = Long.toHexString(this.topology.fingerprint());
		try (RawHttp connection = RawHttp.connect(this.replicaPort)) {
			return connection
				.send(stream("Kvorum-Protocol: 4", "Kvorum-Topology: " + topology,
						proven(connection, from, to, "SMALL", topology)))
				.readStatus()
				.status();
		}
	}

	/** The headers of a right proof about a topology, or about the hash of a text. */
	private static String proven(RawHttp connection, String from, String to, String lane, String subject)
			throws GeneralSecurityException {
		Response challenge = connection.send("GET /replica/challenge HTTP/1.1\r\nHost: a\r\n\r\n").read();
		assertThat(challenge).isNotNull();
		String given = Objects.requireNonNull(challenge).body();
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), mac.getAlgorithm()));
		byte[] proof = mac.doFinal(
				String.join("\n", "CALLER", given, "nonce", from, to, lane, subject).getBytes(StandardCharsets.UTF_8));
		return String.join("\r\n", "Kvorum-Challenge: " + given, "Kvorum-Nonce: nonce", "Kvorum-From: " + from,
				"Kvorum-To: " + to, "Kvorum-Lane: " + lane, "Kvorum-Proof: " + HexFormat.of().formatHex(proof));
	}

	/** Many of them would take the memory of all connections. */
	@ParameterizedTest
	@ValueSource(strings = { "layout", "report" })
	void ofAStrangersTextNothingIsReadBeforeItIsRefused(String path) {
		try (RawHttp connection = RawHttp.connect(this.replicaPort)) {
			assertThat(connection.send(
					"POST /replica/%s HTTP/1.1\r\nHost: a\r\nKvorum-To: %s\r\nContent-Type: text/plain\r\nContent-Length: 200000\r\n\r\nnot all"
						.formatted(path, this.self))
				.readStatus()
				.status()).isEqualTo(401);
		}
	}

	@Test
	void aTextOtherThanTheProvenOneIsRefused() throws GeneralSecurityException {
		String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(new byte[0]));
		assertThat(plain(hash, "")).isEqualTo(200);
		assertThat(plain(hash, "x")).isEqualTo(401);
	}

	private int plain(String provenHash, String text) throws GeneralSecurityException {
		try (RawHttp connection = RawHttp.connect(this.replicaPort)) {
			return connection.send(
					"POST /replica/report HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nKvorum-Text: %s\r\nContent-Length: %d\r\n%s\r\n\r\n%s"
						.formatted(provenHash, text.length(),
								proven(connection, this.self, this.self, "REPORT", provenHash), text))
				.readStatus()
				.status();
		}
	}

	@Test
	void whatAStrangerSaysIsNotInTheLog(CapturedOutput output) {
		status(this.replicaPort, stream("Kvorum-Protocol: 4", "Kvorum-From: http://forged"));
		status(this.replicaPort, stream("Kvorum-Protocol: 4", "Kvorum-From: http://forged\nERROR forged line"));

		assertThat(output.getAll()).doesNotContain("forged");
	}

}
