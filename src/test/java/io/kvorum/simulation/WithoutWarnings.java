package io.kvorum.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** Silences nodes that warn of whatever goes wrong, where that is all the time. */
final class WithoutWarnings implements BeforeAllCallback, AfterAllCallback {

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.kvorum.convergence");

	@Override
	public void beforeAll(ExtensionContext context) {
		LOGGER.setLevel(Level.ERROR);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		LOGGER.setLevel(null);
	}

}
