package io.kvorum.test;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * One or several real Kvorum nodes on this machine, each a child process with its own
 * data. They end with this JVM. Tests with JUnit Jupiter use {@link KvorumExtension}.
 *
 * <pre>{@code
 * try (KvorumCluster cluster = KvorumCluster.builder().nodes(3).start()) {
 *     cluster.node(1).kill();
 *     … cluster.urls() …
 * }
 * }</pre>
 */
public final class KvorumCluster implements AutoCloseable {

	private static final int MAX_NODES = 9;

	private final Path directory;

	private final List<KvorumNode> nodes;

	private final Duration startTimeout;

	private boolean keepsData;

	private boolean isClosed;

	private KvorumCluster(Builder builder, NodeProgram program, Path directory) {
		this.directory = directory;
		this.startTimeout = builder.startTimeout;
		List<String> addresses = (builder.nodes == 1) ? List.of()
				: IntStream.range(0, builder.nodes).mapToObj((i) -> "http://127.0.0.1:" + Ports.free()).toList();
		List<KvorumNode> all = new ArrayList<>();
		for (int number = 1; number <= builder.nodes; number++) {
			all.add(new KvorumNode(number, directory, program, Collections.unmodifiableList(all), addresses,
					builder.isRelayed, builder.startTimeout));
		}
		this.nodes = List.copyOf(all);
	}

	/**
	 * Describes a cluster.
	 * @return a description of one node
	 */
	public static Builder builder() {
		return new Builder();
	}

	/**
	 * Where clients call the nodes.
	 * @return an address for each node, by its number
	 */
	public List<URI> urls() {
		return this.nodes.stream().map(KvorumNode::url).toList();
	}

	/**
	 * One of the nodes.
	 * @param number from 1
	 * @return the node, which may be down
	 */
	public KvorumNode node(int number) {
		if (number < 1 || number > this.nodes.size()) {
			throw new IllegalArgumentException(
					"There is no node %d: the numbers go from 1 to %d".formatted(number, this.nodes.size()));
		}
		return this.nodes.get(number - 1);
	}

	/**
	 * All nodes.
	 * @return the nodes by their number; some may be down
	 */
	public List<KvorumNode> nodes() {
		return this.nodes;
	}

	/**
	 * Undoes what a test did to the nodes: resumes, heals and starts them. Returns when
	 * all are ready and connected. Data stay as they are.
	 * @throws IllegalStateException if a node has ended that no test ended, or does not
	 * get ready in time
	 */
	public void restore() {
		Deadline deadline = Deadline.after(this.startTimeout);
		this.nodes.forEach(KvorumNode::restore);
		// Also of one that a test has started, and did not wait for.
		this.nodes.forEach((node) -> node.awaitReady(deadline));
		this.nodes.forEach((node) -> node.awaitConnected(deadline));
	}

	/**
	 * The last lines that the nodes have printed.
	 * @return as of {@link KvorumNode#log()}, of all nodes
	 */
	public String logs() {
		return this.nodes.stream().map(KvorumNode::log).collect(Collectors.joining(System.lineSeparator()));
	}

	/** Keeps data and logs after the end of the cluster, to look into a failure. */
	public synchronized void keepData() {
		this.keepsData = true;
	}

	/**
	 * The directory of this cluster.
	 * @return where data and logs of all nodes are
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * Kills all nodes. Removes their data and logs, unless {@link #keepData()} was
	 * called.
	 */
	@Override
	public synchronized void close() {
		if (this.isClosed) {
			return;
		}
		this.isClosed = true;
		this.nodes.forEach(KvorumNode::close);
		if (!this.keepsData) {
			Directories.delete(this.directory);
		}
	}

	private void launch() {
		Deadline deadline = Deadline.after(this.startTimeout);
		try {
			this.nodes.forEach(KvorumNode::launch);
			this.nodes.forEach((node) -> node.awaitReady(deadline));
			if (this.nodes.size() > 1) {
				this.nodes.forEach((node) -> node.awaitJoined(deadline));
				this.nodes.forEach((node) -> node.awaitConnected(deadline));
			}
		}
		catch (RuntimeException ex) {
			keepData();
			close();
			throw ex;
		}
	}

	/** Describes a cluster, and starts it. */
	public static final class Builder {

		/** They follow from the cluster, or would make nodes that cannot be reached. */
		private static final Set<String> RESERVED = Set.of("server.port", "kvorum.storage.path", "kvorum.cluster.self",
				"kvorum.cluster.nodes");

		private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

		private int nodes = 1;

		private final Map<String, String> properties = new LinkedHashMap<>();

		private final List<String> jvmOptions = new ArrayList<>();

		private @Nullable Path jar;

		private @Nullable Path java;

		private @Nullable Path directory;

		private String name = "cluster";

		private boolean isRelayed;

		private Duration startTimeout = START_TIMEOUT;

		private Builder() {
		}

		/**
		 * Sets the number of nodes. Three are a cluster that goes on without one of them.
		 * @param count from 1, the default, to 9
		 * @return this
		 */
		public Builder nodes(int count) {
			if (count < 1 || count > MAX_NODES) {
				throw new IllegalArgumentException("%d nodes: there can be from 1 to %d".formatted(count, MAX_NODES));
			}
			this.nodes = count;
			return this;
		}

		/**
		 * Sets a property of all nodes: one of Kvorum or of Spring Boot. Environment
		 * variables of the tests that Spring Boot would read as properties do not reach
		 * the nodes.
		 * @param name for instance {@code kvorum.storage.durability}; ports, addresses
		 * and the path of the data are set by the cluster
		 * @param value the value, also in place of an earlier one
		 * @return this
		 */
		public Builder property(String name, String value) {
			if (RESERVED.contains(name)) {
				throw new IllegalArgumentException(name + " is set by the cluster");
			}
			this.properties.put(name, value);
			return this;
		}

		/**
		 * Adds an option of the JVM of all nodes. The usual ones are {@code -Xmx192m},
		 * {@code -XX:TieredStopAtLevel=1} and {@code -XX:+UseSerialGC}.
		 * @param option for instance {@code -Xmx512m}, which then wins
		 * @return this
		 */
		public Builder jvmOption(String option) {
			this.jvmOptions.add(option);
			return this;
		}

		/**
		 * Sets the executable jar of Kvorum. By default it is the one that the system
		 * property {@code kvorum.test.jar} names, or the environment variable
		 * {@code KVORUM_TEST_JAR}, or the one on the class path.
		 * @param file the jar
		 * @return this
		 */
		public Builder jar(Path file) {
			this.jar = file;
			return this;
		}

		/**
		 * Sets the Java that runs the nodes, of version 25 or later. By default it is the
		 * first of these: the system property {@code kvorum.test.java}, the environment
		 * variable {@code KVORUM_TEST_JAVA_HOME}, variables like
		 * {@code JAVA_HOME_25_X64}, the JVM of the tests, {@code JAVA_HOME}, the PATH,
		 * and what is in {@code /usr/lib/jvm}.
		 * @param executableOrHome a {@code java}, or the home of a JDK
		 * @return this
		 */
		public Builder java(Path executableOrHome) {
			this.java = executableOrHome;
			return this;
		}

		/**
		 * Sets where the cluster makes a directory of its own. By default that is
		 * {@code target/kvorum-test} or {@code build/kvorum-test} if there is a
		 * {@code target} or {@code build}, and else the temporary directory.
		 * @param parent is made if it is not there
		 * @return this
		 */
		public Builder directory(Path parent) {
			this.directory = parent;
			return this;
		}

		/**
		 * Puts a relay between clients and each node, so that the node can be
		 * {@link KvorumNode#cutFromClients() cut off}. A relay costs each request some
		 * time, and has 256 connections at most; more are closed at once.
		 * @return this
		 */
		public Builder relayed() {
			this.isRelayed = true;
			return this;
		}

		/**
		 * Sets how long a start may take: of all nodes together, and later of each.
		 * @param timeout two minutes by default, which is far beyond what is usual
		 * @return this
		 */
		public Builder startTimeout(Duration timeout) {
			this.startTimeout = timeout;
			return this;
		}

		/** Sets how the directory of the cluster begins. */
		Builder name(String prefix) {
			this.name = prefix;
			return this;
		}

		/**
		 * Starts the cluster. Returns when all nodes are ready, have joined, and are
		 * connected to each other.
		 * @return the cluster, which is to be closed
		 * @throws IllegalStateException if there is no jar or no Java, or a node does not
		 * start; the message ends with the last lines of its log
		 */
		public KvorumCluster start() {
			Map<String, String> all = new LinkedHashMap<>();
			if (this.nodes > 1) {
				// Another cluster of this machine may once have had these ports.
				all.put("kvorum.cluster.secret", UUID.randomUUID().toString());
			}
			all.putAll(this.properties);
			Path foundJar = NodeJar.find(this.jar, System::getenv, classPath());
			NodeProgram program = new NodeProgram(NodeJava.find(this.java), foundJar, this.jvmOptions, all);
			KvorumCluster cluster = new KvorumCluster(this, program, Directories.create(this.directory, this.name));
			cluster.launch();
			return cluster;
		}

		private static ClassLoader classPath() {
			ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
			return (ofThread != null) ? ofThread : ClassLoader.getSystemClassLoader();
		}

	}

}
