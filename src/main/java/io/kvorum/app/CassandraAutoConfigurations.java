package io.kvorum.app;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

/**
 * Filter of Spring Boot's support for Cassandra, whose driver is on the class path of
 * each node. A node with a store of its own loads nothing of it. A gateway takes the
 * session's configuration; its health is that of {@code io.kvorum.observability}.
 */
final class CassandraAutoConfigurations implements AutoConfigurationImportFilter, EnvironmentAware {

	private static final String CASSANDRA = "org.springframework.boot.cassandra.";

	private static final String SESSION = CASSANDRA + "autoconfigure.CassandraAutoConfiguration";

	private Environment environment = new StandardEnvironment();

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean isGateway = "cassandra".equalsIgnoreCase(this.environment.getProperty("kvorum.engine"));
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			// Null marks an auto-configuration that another filter has left out.
			matches[i] = name == null || !name.startsWith(CASSANDRA) || (isGateway && name.startsWith(SESSION));
		}
		return matches;
	}

}
