package io.kvorum.transport;

import java.security.cert.X509Certificate;

import io.kvorum.testing.TestCa;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class SubjectNamesTests {

	private static final int EMAIL = 1;

	private static final int DNS = 2;

	private static final int IP = 7;

	@ParameterizedTest
	@CsvSource({ "node-1, node-1", "node-1.example, NODE-1.Example", "NODE-1.example, node-1.example",
			"node-1.kvorum.example, *.kvorum.example" })
	void aNameIsThatOfItsHost(String host, String name) {
		assertThat(SubjectNames.isOf(host, DNS, name)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "node-1, node-2", "node-1.example, node-1", "node-1, node-1.example", "node-10, node-1",
			"kvorum.example, *.kvorum.example", "a.node-1.kvorum.example, *.kvorum.example",
			"node-1.example, *.example", "node-1.example, *", "node-1, *", ".example.org, *.example.org",
			"node-1.example, node-*.example", "node-1.example, n*.example", "a.node.example, a.*.example",
			"node-1.example, ''",
			// No name is an address, however it is written.
			"127.0.0.1, 127.0.0.1", "127.0.0.1, *.0.0.1" })
	void anotherNameIsNot(String host, String name) {
		assertThat(SubjectNames.isOf(host, DNS, name)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, 127.0.0.1", "::1, 0:0:0:0:0:0:0:1", "[::1], 0:0:0:0:0:0:0:1",
			"[fd00::a], fd00:0:0:0:0:0:0:a" })
	void anAddressIsThatOfItsHost(String host, String address) {
		assertThat(SubjectNames.isOf(host, IP, address)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, 127.0.0.2", "[::1], 0:0:0:0:0:0:0:2", "[::1], 127.0.0.1", "localhost, 127.0.0.1",
			"127.0.0.1, nonsense" })
	void anotherAddressIsNot(String host, String address) {
		assertThat(SubjectNames.isOf(host, IP, address)).isFalse();
	}

	@Test
	void namesOfOtherKindsAreNone() {
		assertThat(SubjectNames.isOf("node-1", EMAIL, "node-1")).isFalse();
		assertThat(SubjectNames.isOf("node-1", DNS, new byte[] { 'n' })).isFalse();
	}

	@Test
	void aCertificateNamesWhatItWasIssuedForAndNothingElse() {
		X509Certificate certificate = TestCa.create("subject-names", "node-1.example,10.0.0.1,fd00::a,*.pods.example")
			.issued("node-1.example");

		assertThat(new String[] { "node-1.example", "10.0.0.1", "[fd00::a]", "a.pods.example" })
			.allMatch(host -> SubjectNames.name(certificate, host));
		assertThat(new String[] { "node-2.example", "10.0.0.2", "[fd00::b]", "pods.example" })
			.noneMatch(host -> SubjectNames.name(certificate, host));
	}

	@Test
	void aCommonNameIsNoName() {
		X509Certificate certificate = TestCa.create("common-name", "any")
			.issueOdd("node-1.example", 1, "extendedKeyUsage=serverAuth,clientAuth")
			.issued("node-1.example");

		assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=node-1.example");
		assertThat(SubjectNames.name(certificate, "node-1.example")).isFalse();
	}

}
