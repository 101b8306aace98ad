package io.kvorum.app;

import java.net.InetAddress;
import java.util.Optional;

import io.kvorum.access.AccessControl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.web.server.Ssl;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/**
 * Logs, once a node is ready, that requests need API keys. Warns of each server to which
 * they are sent unencrypted.
 */
final class AccessReport {

	private static final Logger logger = LoggerFactory.getLogger(AccessReport.class);

	private final AccessControl control;

	private final Environment environment;

	AccessReport(AccessControl control, Environment environment) {
		this.control = control;
		this.environment = environment;
	}

	@EventListener
	void ready(ApplicationReadyEvent ready) {
		if (!this.control.isControlled()) {
			return;
		}
		logger.info("Access by API keys only: {} are in use", this.control.state().keys());
		warn("server", ssl("server"));
		if (ManagementPortType.get(this.environment) == ManagementPortType.DIFFERENT) {
			// Spring Boot gives it the other one's unless it has one of its own.
			warn("management.server", ssl("management.server").or(() -> ssl("server")));
		}
	}

	private Optional<Ssl> ssl(String server) {
		return Optional.ofNullable(Binder.get(this.environment).bind(server + ".ssl", Ssl.class).orElse(null));
	}

	/**
	 * Warns if a server is neither encrypted nor on a loopback address.
	 * @param server prefix of its properties
	 */
	private void warn(String server, Optional<Ssl> ssl) {
		Binder binder = Binder.get(this.environment);
		boolean encrypted = Ssl.isEnabled(ssl.orElse(null));
		boolean loopback = binder.bind(server + ".address", InetAddress.class)
			.map(InetAddress::isLoopbackAddress)
			.orElse(false);
		if (!encrypted && !loopback) {
			logger.warn("API keys cross the network in the clear, where an eavesdropper can copy them: set {}.ssl.*, "
					+ "or {}.address to a loopback address behind something that encrypts", server, server);
		}
	}

}
