package io.kvorum.transport;

import java.security.cert.Certificate;
import java.util.List;

import javax.net.ssl.SSLException;

import io.kvorum.testing.TestCa;
import io.kvorum.transport.ReplicaTls.Material;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.ssl.SslBundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A node takes a certificate that other nodes would take, and no other. */
class ReplicaTlsTests {

	private static final String HOST = "node-1.example";

	private static final String ANY_USE = "extendedKeyUsage=serverAuth,clientAuth";

	private static final TestCa CA = TestCa.create("replica-tls", HOST + ",10.0.0.1,fd00::a", "node-2.example");

	private static final TestCa ANOTHER = TestCa.create("replica-tls-another", HOST);

	private static Material shown(String name) {
		return material(CA.bundle(name), null);
	}

	private static Material material(SslBundle bundle, @Nullable List<String> ciphers) {
		return new Material(bundle.getManagers().getKeyManagerFactory(), bundle.getManagers().getTrustManagerFactory(),
				ciphers);
	}

	private static void assertRefused(Material material, String words) {
		assertThatExceptionOfType(SSLException.class).isThrownBy(() -> new ReplicaTls(HOST, material))
			.satisfies(ex -> assertThat(ex).hasStackTraceContaining(words));
	}

	@ParameterizedTest
	@ValueSource(strings = { HOST, "10.0.0.1", "fd00::a" })
	void oneOfTheHostIsTaken(String host) {
		assertThatCode(() -> new ReplicaTls(host, shown(HOST))).doesNotThrowAnyException();
	}

	@Test
	void oneOfAnotherHostIsNot() {
		assertRefused(shown("node-2.example"), HOST);
	}

	@Test
	void oneOfAnAuthorityThatIsNotTrustedIsNot() {
		assertRefused(material(CA.bundle(HOST, ANOTHER.authority()), null), "PKIX path");
	}

	@Test
	void oneThatIsOverIsNot() {
		CA.issueOdd("over", -1, ANY_USE, "subjectAltName=DNS:" + HOST);

		assertRefused(shown("over"), "NotAfter");
	}

	@ParameterizedTest
	@ValueSource(strings = { "serverAuth", "clientAuth" })
	void oneThatMayBeShownAtOneEndOnlyIsNot(String use) {
		CA.issueOdd(use, 1, "extendedKeyUsage=" + use, "subjectAltName=DNS:" + HOST);

		assertRefused(shown(use), "Extended key usage");
	}

	@Test
	void oneWithTheHostAsCommonNameOnlyIsNot() {
		TestCa ca = TestCa.create("replica-tls-common", "any").issueOdd(HOST, 1, ANY_USE);

		assertRefused(material(ca.bundle(HOST), null), "no subject alternative name of it is " + HOST);
	}

	@Test
	void oneWithTheKeyOfAnotherIsNot() {
		TestCa.replace(CA.issueOdd("mixed", 1, ANY_USE, "subjectAltName=DNS:" + HOST).key("mixed"),
				CA.key("node-2.example"));

		assertRefused(shown("mixed"), "");
	}

	@Test
	void ciphersOfOlderVersionsAreOfNoUse() {
		assertRefused(material(CA.bundle(HOST), List.of("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")), "");
	}

	@Test
	void whatReplacesAnotherIsUsedFromThenOnAndWhatIsRefusedChangesNothing() throws Exception {
		ReplicaTls tls = new ReplicaTls(HOST, shown(HOST));
		assertThat(shownBy(tls)).isEqualTo(CA.issued(HOST));
		CA.issueOdd("newer", 1, ANY_USE, "subjectAltName=DNS:" + HOST);
		tls.replace(shown("newer"));
		assertThat(shownBy(tls)).isEqualTo(CA.issued("newer"));
		assertThatExceptionOfType(SSLException.class).isThrownBy(() -> tls.replace(shown("node-2.example")));

		assertThat(shownBy(tls)).isEqualTo(CA.issued("newer"));
	}

	private static Certificate shownBy(ReplicaTls tls) throws SSLException {
		return InMemoryTlsHandshake.of(tls.ofClient().newEngine(ByteBufAllocator.DEFAULT, HOST, 1),
				tls.ofServer().newEngine(ByteBufAllocator.DEFAULT));
	}

}
