package io.kvorum.app;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

/**
 * Filter of Spring Boot's support for Cassandra, whose driver is on the class path of
 * each node. A node with a store of its own loads nothing of it. A gateway takes the
 * session's configuration; its health is that of {@code io.kvorum.observability}.
 */
final class CassandraAutoConfigurations implements AutoConfigurationImportFilter, EnvironmentAware, PriorityOrdered {

	private static final String CASSANDRA = "org.springframework.boot.cassandra.";

	private static final String SESSION = CASSANDRA + "autoconfigure.CassandraAutoConfiguration";

	private Environment environment = new StandardEnvironment();

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	/**
	 * Before Spring Boot's filters, which load the classes of the driver to see that they
	 * are there.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	/** Whether the configuration is that of a gateway. */
	static boolean isGateway(Environment environment) {
		return "cassandra".equalsIgnoreCase(environment.getProperty("kvorum.engine"));
	}

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean isGateway = isGateway(this.environment);
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			// Null marks an auto-configuration that another filter has left out.
			matches[i] = name == null || !name.startsWith(CASSANDRA) || (isGateway && name.startsWith(SESSION));
		}
		return matches;
	}

}
