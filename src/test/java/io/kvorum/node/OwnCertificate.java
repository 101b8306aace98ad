package io.kvorum.node;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import io.kvorum.testing.MountedFiles;
import io.kvorum.testing.TestCa;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** Gives a node a certificate for its ports. */
class OwnCertificate implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	static final TestCa CA = TestCa.create("node", "localhost,127.0.0.1", "renewed,localhost,127.0.0.1", "another");

	/** Of the management port, as a Secret of Kubernetes is mounted. */
	static final MountedFiles MOUNTED = MountedFiles.at(CA.authority().resolveSibling("mounted"), files("localhost"));

	/** A certificate and its key, as a Secret has them. */
	static Map<String, String> files(String name) {
		return Map.of("tls.crt", TestCa.text(CA.certificate(name)), "tls.key", TestCa.text(CA.key(name)));
	}

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		Map<String, Object> properties = new HashMap<>(Map.of("server.ssl.bundle", "web",
				"management.server.ssl.bundle", "mounted", "spring.ssl.bundle.pem.mounted.keystore.certificate",
				MOUNTED.file("tls.crt").toString(), "spring.ssl.bundle.pem.mounted.keystore.private-key",
				MOUNTED.file("tls.key").toString(), "spring.ssl.bundle.pem.mounted.reload-on-update", "true"));
		Arrays.stream(CA.properties("web", "localhost"))
			.map(property -> property.split("=", 2))
			.forEach(pair -> properties.put(pair[0], pair[1]));
		context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("own certificate", properties));
	}

}
