package io.kvorum.app;

import java.util.Locale;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/** One line when a node is ready: where its data is, how durable, on which ports. */
final class StartReport {

	private static final Logger logger = LoggerFactory.getLogger(StartReport.class);

	private final KvorumProperties properties;

	private final Environment environment;

	StartReport(KvorumProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
	}

	@EventListener
	void ready(ApplicationReadyEvent ready) {
		String port = this.environment.getProperty("local.server.port", "none");
		logger.info("Ready: HTTP on port {}, management on port {}, data in {}, durability {}, a cluster of one node",
				port, this.environment.getProperty("local.management.port", port),
				this.properties.storage().path().toAbsolutePath().normalize(),
				this.properties.storage().durability().name().toLowerCase(Locale.ROOT));
	}

}
