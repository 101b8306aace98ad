package io.kvorum.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.kvorum.cli.Kvorum;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.micrometer.metrics.autoconfigure.task.TaskExecutorMetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ScheduledTasksObservationAutoConfiguration;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.ReactiveMultipartAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebSessionIdResolverAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ClassPathResource;
import reactor.netty.ReactorNetty;

/**
 * Starts a node. The excluded auto-configurations have no use here, the packages that are
 * left out have no beans, and both cost CPU at each start (decision 34).
 */
@SpringBootApplication(scanBasePackages = { "io.kvorum.api", "io.kvorum.app", "io.kvorum.observability" },
		exclude = { AopAutoConfiguration.class, ReactiveMultipartAutoConfiguration.class,
				ScheduledTasksObservationAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				TaskExecutorMetricsAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
				ValidationAutoConfiguration.class, WebSessionIdResolverAutoConfiguration.class })
public class KvorumApplication {

	/**
	 * Starts a node; with the system property {@code kvorum.cli} set to true, the command
	 * line in the same jar.
	 */
	public static void main(String[] args) {
		if (Boolean.getBoolean("kvorum.cli")) {
			Kvorum.main(args);
			return;
		}
		setEventLoops();
		refuseRenegotiation();
		SpringApplication node = new SpringApplication(KvorumApplication.class);
		node.addListeners(preload());
		node.setDefaultProperties(defaults());
		node.run(args);
	}

	/**
	 * The defaults of a node: sizes by its memory, and what {@code application.yml} in
	 * the jar says. Spring does not read that file where {@code spring.config.location}
	 * names others.
	 */
	static Map<String, Object> defaults() {
		Map<String, Object> defaults = new HashMap<>(CacheSizes.ofThisProcess().toProperties());
		try {
			for (PropertySource<?> source : new YamlPropertySourceLoader().load("defaults",
					new ClassPathResource("application.yml"))) {
				for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
					defaults.put(name, Objects.requireNonNull(source.getProperty(name)));
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return defaults;
	}

	/**
	 * Loads RocksDB beside the start of Spring, as soon as it is known that it is needed.
	 */
	private static ApplicationListener<ApplicationEnvironmentPreparedEvent> preload() {
		return event -> {
			if (!CassandraAutoConfigurations.isGateway(event.getEnvironment())) {
				Thread.ofPlatform().name("kvorum-preload").daemon().start(RocksStorage::preload);
			}
		};
	}

	/**
	 * Sets one event loop for each processor; reactor-netty would use at least four. With
	 * more loops, fewer frames share a buffer and fewer results share a task. Two
	 * processors with four loops spend a tenth more on a write.
	 */
	private static void setEventLoops() {
		if (System.getProperty(ReactorNetty.IO_WORKER_COUNT) == null) {
			System.setProperty(ReactorNetty.IO_WORKER_COUNT,
					Integer.toString(Runtime.getRuntime().availableProcessors()));
		}
	}

	/**
	 * Refuses renegotiation. A TLS 1.2 client may ask for a new handshake at any time,
	 * which costs the server much more than the client. Spring has no property for this.
	 */
	private static void refuseRenegotiation() {
		String reject = "jdk.tls.rejectClientInitiatedRenegotiation";
		if (System.getProperty(reject) == null) {
			System.setProperty(reject, "true");
		}
	}

}
