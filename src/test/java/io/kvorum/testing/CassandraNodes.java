package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
import io.kvorum.cassandra.CassandraRetries;
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

	private static final Path SCRIPT = Path.of("src/test/scripts/cassandra-node").toAbsolutePath();

	/** A read of a table that Cassandra keeps on three nodes. */
	private static final String OF_THREE = "SELECT * FROM system_distributed.view_build_status "
			+ "WHERE keyspace_name = 'none' AND view_name = 'none'";

	/** On a machine with other work a node takes half a minute. */
	private static final Duration START_DEADLINE = Duration.ofMinutes(4);

	private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);

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
		ProcessBuilder command = new ProcessBuilder(SCRIPT.toString(), directory.toString(), host(node), host(1))
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()));
		// In target: see the pom.
		command.environment().put("TMPDIR", System.getProperty("java.io.tmpdir"));
		this.processes.put(node, command.start());
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
				.withClass(DefaultDriverOption.RETRY_POLICY_CLASS, CassandraRetries.class)
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
				// One after the other: without the first one no other starts.
				start(node);
			}
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
