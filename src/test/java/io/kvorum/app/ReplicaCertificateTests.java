package io.kvorum.app;

import java.lang.Thread.State;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.testing.TestCa;
import io.kvorum.transport.ReplicaTls;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which SSL bundles a node starts with, and what it says of others. */
@ExtendWith(OutputCaptureExtension.class)
class ReplicaCertificateTests {

	private static final TestCa CA = TestCa.create("replica-certificate", "node-1.example", "node-2.example");

	private final ApplicationContextRunner plain = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class)
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class));

	private final ApplicationContextRunner contexts = this.plain.withPropertyValues(
			"kvorum.cluster.self=https://node-1.example:9081",
			"kvorum.cluster.nodes=https://node-1.example:9081,http://node-2.example:9081",
			"kvorum.cluster.ssl.bundle=node");

	private static @Nullable ReplicaTls follow(KvorumProperties properties, SslBundles bundles) {
		return ReplicaCertificate.reloading(properties.cluster(), bundles);
	}

	private void run(Consumer<Supplier<@Nullable ReplicaTls>> assertion, String... properties) {
		this.contexts.withPropertyValues(properties)
			.run(context -> assertion
				.accept(() -> follow(context.getBean(KvorumProperties.class), context.getBean(SslBundles.class))));
	}

	private void assertRefused(String told, String... properties) {
		run(follow -> assertThatExceptionOfType(WrongPropertiesException.class).isThrownBy(follow::get)
			.withMessageContaining("kvorum.cluster.ssl.bundle = node: ")
			.withMessageContaining(told), properties);
	}

	@Test
	void oneThatOtherNodesWouldTakeIsTaken() {
		run(follow -> assertThat(follow.get()).isNotNull(), CA.properties("node", "node-1.example"));
	}

	@Test
	void withoutANameThereIsNoTls() {
		this.plain
			.withPropertyValues("kvorum.cluster.self=http://node-1.example:9081",
					"kvorum.cluster.nodes=http://node-1.example:9081")
			.run(context -> assertThat(
					follow(context.getBean(KvorumProperties.class), context.getBean(SslBundles.class)))
				.isNull());
	}

	@Test
	void anUnknownOneIsToldWithThoseThatThereAre() {
		assertRefused("must be the name of an SSL bundle (spring.ssl.bundle.pem.node.*); there are [web]",
				CA.properties("web", "node-1.example"));
	}

	@Test
	void oneOfAnotherHostIsToldWithTheHost() {
		assertRefused("its certificate cannot be used on http://node-1.example:9081: ",
				CA.properties("node", "node-2.example"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			truststore.certificate | | it has no truststore
			keystore.certificate | | it has no keystore
			keystore.certificate | /nowhere/node.crt | /nowhere/node.crt
			keystore.private-key | /etc/hostname | private
			options.enabled-protocols | TLSv1.2 | TLSv1.3
			options.ciphers | TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 | its certificate cannot be used
			""")
	void oneThatIsNotWholeIsToldWithWhatIsMissing(String name, @Nullable String value, String told) {
		String prefix = "spring.ssl.bundle.pem.node.";
		assertRefused(told, prefix + "keystore.certificate=" + CA.certificate("node-1.example"),
				prefix + "keystore.private-key="
						+ ("keystore.certificate".equals(name) && value == null ? "" : CA.key("node-1.example")),
				prefix + "truststore.certificate=" + CA.authority(),
				prefix + name + "=" + (value != null ? value : ""));
	}

	@Test
	void whatChangesWhileItIsReadIsUsedToo(CapturedOutput output) {
		ChangingBundles bundles = new ChangingBundles(CA.bundle("node-1.example"));
		this.contexts.run(context -> {
			assertThat(follow(context.getBean(KvorumProperties.class), bundles)).isNotNull();
			bundles.change.join();
		});

		assertThat(output.getOut()).contains("New connections between nodes use the changed SSL bundle node");
	}

	/** Changes right behind each look, by another thread, which may have to wait. */
	private static final class ChangingBundles extends DefaultSslBundleRegistry {

		private final SslBundle next;

		private Thread change = new Thread();

		ChangingBundles(SslBundle bundle) {
			super("node", bundle);
			this.next = bundle;
		}

		@Override
		public SslBundle getBundle(String name) {
			SslBundle before = super.getBundle(name);
			this.change = Thread.ofPlatform().start(() -> updateBundle(name, this.next));
			while (this.change.getState() != State.BLOCKED && this.change.isAlive()) {
				Thread.onSpinWait();
			}
			return before;
		}

	}

	@Test
	void aNodeIsTheSameNodeWithTlsAndWithout() {
		this.contexts.withPropertyValues(CA.properties("node", "node-1.example")).run(context -> {
			KvorumProperties properties = context.getBean(KvorumProperties.class);
			assertThat(properties.topology().members()).extracting(member -> member.address())
				.containsExactly("http://node-1.example:9081", "http://node-2.example:9081");
			assertThat(properties.cluster().address()).isEqualTo(new ReplicaAddress("node-1.example", 9081));
		});
	}

}
