package io.kvorum.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A node of a {@link KvorumCluster}: a process, and its data and ports, which stay the
 * same when the process ends and another one is started.
 * <p>
 * Methods that change the node wait for each other. The others never wait.
 */
public final class KvorumNode {

	private static final Duration STOP_DEADLINE = Duration.ofMinutes(1);

	/** A probe takes the node some milliseconds of its processor. */
	private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

	private final int number;

	private final Path directory;

	private final NodeProgram program;

	private final List<KvorumNode> all;

	/** The properties that the other nodes do not have. */
	private final Map<String, String> own;

	private final Duration startTimeout;

	private final URI api;

	private final @Nullable String replicaAddress;

	private final @Nullable Relay relay;

	private final NodeLog log;

	private final Health health;

	private volatile @Nullable Child process;

	private volatile boolean isPaused;

	/** Whether a test wanted the process to end. */
	private volatile boolean wasEnded = true;

	/**
	 * Creates a node that is not started.
	 * @param all nodes of the cluster, which may not have been created yet
	 * @param replicaAddresses of all nodes of the cluster; empty for a cluster of one
	 */
	KvorumNode(int number, Path cluster, NodeProgram program, List<KvorumNode> all, List<String> replicaAddresses,
			boolean isRelayed, Duration startTimeout) {
		int port = Ports.free();
		this.number = number;
		this.directory = cluster.resolve("node-" + number);
		this.program = program;
		this.all = all;
		this.startTimeout = startTimeout;
		this.api = URI.create("http://127.0.0.1:" + port);
		this.relay = isRelayed ? new Relay(Ports.free(), port) : null;
		this.replicaAddress = replicaAddresses.isEmpty() ? null : replicaAddresses.get(number - 1);
		this.log = new NodeLog(cluster.resolve("node-%d.log".formatted(number)));
		this.health = new Health(this.api);
		this.own = new LinkedHashMap<>();
		this.own.put("server.port", Integer.toString(port));
		this.own.put("server.address", "127.0.0.1");
		this.own.put("kvorum.storage.path", data().toString());
		if (this.replicaAddress != null) {
			this.own.put("kvorum.cluster.self", this.replicaAddress);
			this.own.put("kvorum.cluster.nodes", String.join(",", replicaAddresses));
		}
	}

	/**
	 * The number of the node in its cluster.
	 * @return from 1
	 */
	public int number() {
		return this.number;
	}

	/**
	 * Where clients call the node.
	 * @return {@code http://127.0.0.1:port}, the same for all processes of the node
	 */
	public URI url() {
		return (this.relay != null) ? URI.create("http://127.0.0.1:" + this.relay.port()) : this.api;
	}

	/**
	 * The directory of the node's data.
	 * @return {@code kvorum.storage.path}
	 */
	public Path data() {
		return this.directory.resolve("data");
	}

	/**
	 * The last lines that the node has printed, those of earlier processes included.
	 * @return the name of the file and up to 60 of its lines
	 */
	public String log() {
		return this.log.tail();
	}

	/**
	 * Whether the node has a process. A paused one has, too.
	 * @return false after its end
	 */
	public boolean isAlive() {
		Child child = this.process;
		return child != null && child.isAlive();
	}

	/**
	 * Starts a node that has ended, with the same ports and data. Returns when it is
	 * ready, and connected to all other nodes that run.
	 * @throws IllegalStateException if it runs, or does not get ready in time
	 */
	public synchronized void start() {
		Deadline deadline = Deadline.after(this.startTimeout);
		launch();
		awaitReady(deadline);
		awaitConnected(deadline);
	}

	/**
	 * Ends the process with SIGKILL, as a crash would. Returns when it is gone.
	 */
	public synchronized void kill() {
		this.wasEnded = true;
		Child child = this.process;
		if (child != null) {
			child.kill();
		}
		ended();
	}

	/**
	 * Ends the process with SIGTERM, so that the node answers the requests that it has.
	 * Returns when it is gone. A paused node is resumed first. On Windows this is
	 * {@link #kill()}.
	 * @throws IllegalStateException if it still runs after a minute
	 */
	public synchronized void stop() {
		resume();
		this.wasEnded = true;
		Child child = this.process;
		if (child != null) {
			child.terminate();
			if (!child.endsWithin(STOP_DEADLINE)) {
				throw new IllegalStateException(
						"%s still runs %s after SIGTERM. %s".formatted(this, STOP_DEADLINE, log()));
			}
		}
		ended();
	}

	/**
	 * Ends the process with SIGTERM and starts another one, as an update does.
	 */
	public synchronized void restart() {
		stop();
		start();
	}

	/**
	 * Stops the process with SIGSTOP, as a long pause of its machine would: connections
	 * stay open, and nothing is answered.
	 * @throws UnsupportedOperationException if the operating system cannot, as Windows
	 */
	public synchronized void pause() {
		// First: the thread may be interrupted while it waits for the signal.
		this.isPaused = true;
		running().signal("STOP");
	}

	/** Goes on after a {@link #pause()}, with SIGCONT. Otherwise it does nothing. */
	public synchronized void resume() {
		if (this.isPaused && isAlive()) {
			running().signal("CONT");
		}
		this.isPaused = false;
	}

	/**
	 * Cuts the network between clients and the node: connections stay open, new ones are
	 * accepted, no byte gets through, and requests run into their timeouts. The node
	 * itself runs on, and the other nodes still reach it.
	 * @throws IllegalStateException if the cluster is not
	 * {@link KvorumCluster.Builder#relayed() relayed}
	 */
	public synchronized void cutFromClients() {
		if (this.relay == null) {
			throw new IllegalStateException("A node can be cut from its clients only if the cluster is relayed()");
		}
		this.relay.cut();
	}

	/**
	 * Ends {@link #cutFromClients()}. The connections that were cut are closed. Otherwise
	 * it does nothing.
	 */
	public synchronized void heal() {
		if (this.relay != null) {
			this.relay.heal();
		}
	}

	@Override
	public String toString() {
		return "node " + this.number + " at " + url();
	}

	Health health() {
		return this.health;
	}

	/** Starts the process, and does not wait. */
	synchronized void launch() {
		if (isAlive()) {
			throw new IllegalStateException(this + " runs already");
		}
		Child child = Child.start(this.program.command(temporaryDirectory(), this.own), this.directory,
				this.log.file());
		this.process = child;
		this.wasEnded = false;
		child.onEnd(() -> endedByItself(child));
	}

	private Path temporaryDirectory() {
		try {
			return Files.createDirectories(this.directory.resolve("tmp"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private synchronized void endedByItself(Child child) {
		if (this.process == child) {
			ended();
		}
	}

	private void ended() {
		this.isPaused = false;
		if (this.relay != null) {
			this.relay.targetIsDown();
		}
	}

	synchronized void awaitReady(Deadline deadline) {
		await("is not ready", this.health::isReady, deadline);
		if (this.relay != null) {
			this.relay.targetIsUp();
		}
	}

	void awaitJoined(Deadline deadline) {
		await("has not joined its peers", this.health::hasJoined, deadline);
	}

	/**
	 * Waits until this node and each other node that runs are connected to each other.
	 */
	void awaitConnected(Deadline deadline) {
		List<KvorumNode> others = this.all.stream().filter((node) -> node != this && node.isAnswering()).toList();
		List<String> addresses = others.stream().map(KvorumNode::replicaAddress).toList();
		await("is not connected to " + others, () -> this.health.isConnectedTo(addresses), deadline);
		for (KvorumNode other : others) {
			other.await("is not connected to " + this,
					() -> !other.isAnswering() || other.health.isConnectedTo(List.of(replicaAddress())), deadline);
		}
	}

	private boolean isAnswering() {
		return isAlive() && !this.isPaused;
	}

	private String replicaAddress() {
		return (this.replicaAddress != null) ? this.replicaAddress : "";
	}

	private void await(String lack, BooleanSupplier condition, Deadline deadline) {
		Child child = running();
		while (!condition.getAsBoolean()) {
			// A process has no event for what is awaited, except for its end.
			if (child.endsWithin(POLL_INTERVAL)) {
				throw new IllegalStateException(
						"%s has ended with exit code %d. %s".formatted(this, child.exitCode(), log()));
			}
			if (deadline.isOver()) {
				throw new IllegalStateException("%s %s after %s. Its health: %s. %s".formatted(this, lack,
						deadline.within(), this.health.text(), log()));
			}
		}
	}

	private Child running() {
		Child child = this.process;
		if (child == null || !child.isAlive()) {
			throw new IllegalStateException(this + " does not run. " + log());
		}
		return child;
	}

	/** Undoes what a test did to the node; a start is not awaited. */
	synchronized void restore() {
		heal();
		resume();
		if (isAlive()) {
			return;
		}
		if (!this.wasEnded) {
			throw new IllegalStateException(this + " has ended by itself. " + log());
		}
		launch();
	}

	/** Kills the process, and gives the ports of the node up. */
	synchronized void close() {
		kill();
		Ports.release(this.api.getPort());
		if (this.relay != null) {
			this.relay.close();
			Ports.release(this.relay.port());
		}
		if (this.replicaAddress != null) {
			Ports.release(URI.create(this.replicaAddress).getPort());
		}
	}

}
