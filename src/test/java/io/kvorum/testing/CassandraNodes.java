package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.internal.core.metrics.NoopMetricsFactory;
import org.springframework.util.FileSystemUtils;

/**
 * Nodes of Apache Cassandra, each a process of its own on a loopback address of its own.
 * {@code mvn -f src/test/cassandra/pom.xml package} fetches the server. It runs on Java
 * 17, not on the Java of these tests.
 */
public final class CassandraNodes implements AutoCloseable {

	/** The data centre of all nodes. */
	public static final String DATACENTER = "datacenter1";

	private static final int PORT = 9042;

	private static final Path JARS = Path.of("target", "cassandra").toAbsolutePath();

	private static final Path JVMS = Path.of("/usr/lib/jvm");

	/** A read of a table that Cassandra keeps on three nodes. */
	private static final String OF_THREE = "SELECT * FROM system_distributed.view_build_status "
			+ "WHERE keyspace_name = 'none' AND view_name = 'none'";

	/** On a machine with other work a node takes half a minute. */
	private static final Duration START_DEADLINE = Duration.ofMinutes(4);

	private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);

	private static final List<String> OPENED = List.of("java.lang", "java.lang.module", "java.lang.reflect", "java.io",
			"java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.nio", "java.math", "java.net",
			"jdk.internal.loader", "jdk.internal.ref", "jdk.internal.reflect", "jdk.internal.math",
			"jdk.internal.module", "jdk.internal.util.jar", "jdk.internal.misc", "sun.nio.ch");

	private static final List<String> EXPORTED = List.of("java.base/jdk.internal.misc",
			"java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry",
			"java.rmi/sun.rmi.server", "java.sql/java.sql", "java.base/java.lang.ref");

	private final Path home;

	/** The first three numbers of the addresses, so that clusters run side by side. */
	private final String network;

	private final Map<Integer, Process> processes = new TreeMap<>();

	private CassandraNodes(Path home) {
		this.home = home;
		Random random = new Random();
		this.network = "127.%d.%d.".formatted(1 + random.nextInt(250), random.nextInt(256));
	}

	/** Starts so many nodes. */
	public static CassandraNodes start(int count, Path home) throws IOException, InterruptedException {
		FileSystemUtils.deleteRecursively(home);
		CassandraNodes nodes = new CassandraNodes(home);
		for (int node = 1; node <= count; node++) {
			// One joins after the other.
			nodes.start(node);
		}
		return nodes;
	}

	/** Starts a node and waits until it takes requests. */
	public void start(int node) throws IOException, InterruptedException {
		launch(node);
		awaitRequests(node);
	}

	private void launch(int node) throws IOException {
		Path directory = Files.createDirectories(this.home.resolve("node-" + node));
		Path yaml = Files.writeString(directory.resolve("cassandra.yaml"), configuration(node, directory));
		Path log = Files.writeString(directory.resolve("logback.xml"),
				"""
						<configuration>
						<appender name="OUT" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d %-5level %logger{0} %msg%n</pattern></encoder></appender>
						<root level="WARN"><appender-ref ref="OUT"/></root>
						</configuration>
						""");
		List<String> command = new ArrayList<>(List.of(java(), "-Xmx512m", "-XX:+UseSerialGC",
				"-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir")));
		OPENED.forEach(name -> command.addAll(List.of("--add-opens", "java.base/" + name + "=ALL-UNNAMED")));
		EXPORTED.forEach(name -> command.addAll(List.of("--add-exports", name + "=ALL-UNNAMED")));
		command.addAll(List.of("--add-opens", "jdk.management/com.sun.management.internal=ALL-UNNAMED",
				"-Dcassandra.config=" + yaml.toUri(), "-Dcassandra.storagedir=" + directory,
				"-Dlogback.configurationFile=" + log, "-Dcassandra-foreground=yes", "-Dcassandra.ring_delay_ms=500",
				"-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.consistent.rangemovement=false", "-cp",
				JARS + "/*", "org.apache.cassandra.service.CassandraDaemon"));
		this.processes.put(node,
				new ProcessBuilder(command).redirectErrorStream(true)
					.redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()))
					.start());
	}

	private String configuration(int node, Path directory) {
		// The commit log is synced before a write is acknowledged, as a node of Kvorum
		// does.
		return """
				cluster_name: kvorum
				num_tokens: 16
				partitioner: org.apache.cassandra.dht.Murmur3Partitioner
				commitlog_sync: group
				commitlog_sync_group_window: 1ms
				commitlog_directory: %1$s/commitlog
				data_file_directories: [%1$s/data]
				hints_directory: %1$s/hints
				saved_caches_directory: %1$s/saved
				cdc_raw_directory: %1$s/cdc
				listen_address: %2$s
				rpc_address: %2$s
				native_transport_port: %3$d
				storage_port: 7000
				endpoint_snitch: SimpleSnitch
				auto_snapshot: false
				auto_bootstrap: false
				paxos_variant: v2
				seed_provider:
				  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
				    parameters: [{seeds: %4$s}]
				""".formatted(directory, host(node), PORT, host(1));
	}

	private static String java() {
		try (Stream<Path> all = Files.list(JVMS)) {
			return all.filter(home -> home.getFileName().toString().contains("17"))
				.map(home -> home.resolve("bin/java"))
				.filter(Files::isExecutable)
				.findFirst()
				.orElseThrow(() -> new IllegalStateException("Cassandra needs a Java 17 in " + JVMS))
				.toString();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void awaitRequests(int node) throws InterruptedException {
		Process process = process(node);
		Poll.until(() -> "node %d of Cassandra takes requests: %s".formatted(node, this.home.resolve("node-" + node)),
				START_DEADLINE, () -> {
					if (!process.isAlive()) {
						throw new AssertionError("Cassandra has ended: " + this.home.resolve("node-" + node + "/log"));
					}
					return isOpen(node);
				});
	}

	private boolean isOpen(int node) {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(host(node), PORT), 1000);
			return true;
		}
		catch (IOException _) {
			return false;
		}
	}

	private String host(int node) {
		return this.network + node;
	}

	/**
	 * The addresses of the nodes, as {@code spring.cassandra.contact-points} takes them.
	 */
	public String contactPoints() {
		return String.join(",", IntStream.rangeClosed(1, this.processes.size()).mapToObj(this::contactPoint).toList());
	}

	private String contactPoint(int node) {
		return host(node) + ":" + PORT;
	}

	/** The number of nodes. */
	public int size() {
		return this.processes.size();
	}

	/** A builder of sessions, for tests of the store without a gateway around it. */
	public CqlSessionBuilder sessions() {
		return CqlSession.builder()
			.addContactPoint(new InetSocketAddress(host(1), PORT))
			.withLocalDatacenter(DATACENTER)
			.withConfigLoader(DriverConfigLoader.programmaticBuilder()
				.withBoolean(DefaultDriverOption.TIMESTAMP_GENERATOR_FORCE_JAVA_CLOCK, true)
				.withDuration(DefaultDriverOption.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
				.withClass(DefaultDriverOption.METRICS_FACTORY_CLASS, NoopMetricsFactory.class)
				.build());
	}

	/** Creates a keyspace of Kvorum, as operators do. */
	public void createSchema(String keyspace, int factor) throws IOException {
		String replication = "{'class': 'NetworkTopologyStrategy', '%s': %d}".formatted(DATACENTER, factor);
		String schema = Files.readString(Path.of("src/main/resources/schema.cql"))
			.replace("${keyspace}", keyspace)
			.replace("${replication}", replication)
			.replaceAll("(?m)^--.*$", "");
		execute(Stream.of(schema.split(";", -1)).map(String::strip).filter(cql -> !cql.isEmpty()).toList());
	}

	/** Executes statements, one after the other. */
	public void execute(List<String> statements) {
		try (CqlSession session = sessions().build()) {
			statements.forEach(session::execute);
		}
	}

	/** SIGKILL. */
	public void kill9(int node) {
		process(node).destroyForcibly().onExit().join();
	}

	/** SIGSTOP. */
	public void pause(int node) throws InterruptedException {
		signal("STOP", node);
	}

	/** SIGCONT. */
	public void resume(int node) throws InterruptedException {
		signal("CONT", node);
	}

	/** Ends all faults: each node runs again, and all see all. */
	public void heal() throws IOException, InterruptedException {
		for (int node : List.copyOf(this.processes.keySet())) {
			if (process(node).isAlive()) {
				resume(node);
			}
			else {
				launch(node);
			}
		}
		for (int node : this.processes.keySet()) {
			awaitRequests(node);
		}
		Poll.until(() -> "all nodes of Cassandra see all", START_DEADLINE, this::seeAll);
	}

	/** Whether a read at ALL succeeds with each node as its coordinator. */
	private boolean seeAll() {
		try (CqlSession session = sessions().build()) {
			SimpleStatement read = SimpleStatement.newInstance(OF_THREE)
				.setConsistencyLevel(ConsistencyLevel.ALL)
				.setTimeout(Duration.ofSeconds(3));
			session.getMetadata().getNodes().values().forEach(node -> session.execute(read.setNode(node)));
			return session.getMetadata().getNodes().size() == size();
		}
		catch (DriverException _) {
			return false;
		}
	}

	private void signal(String name, int node) throws InterruptedException {
		try {
			new ProcessBuilder("kill", "-" + name, String.valueOf(process(node).pid())).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process process(int node) {
		Process process = this.processes.get(node);
		if (process == null) {
			throw new IllegalArgumentException("there is no node " + node);
		}
		return process;
	}

	@Override
	public void close() {
		this.processes.values().forEach(Process::destroyForcibly);
		this.processes.values().forEach(process -> process.onExit().join());
	}

}
