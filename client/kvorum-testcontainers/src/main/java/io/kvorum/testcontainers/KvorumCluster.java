package io.kvorum.testcontainers;

import java.net.URI;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.testcontainers.containers.Network;
import org.testcontainers.lifecycle.Startable;
import org.testcontainers.utility.DockerImageName;

/**
 * Kvorum nodes in containers that are a cluster, and faults of them.
 *
 * <pre>
 * &#64;Container
 * static final KvorumCluster cluster = new KvorumCluster("kvorum:0.1.0");
 *
 * &#64;ServiceConnection // with Spring Boot: the URLs of all nodes
 * static final KvorumContainer kvorum = cluster.node(1);
 *
 * &#64;Test
 * void goesOnWithoutANode() {
 *     cluster.kill(1);
 *     …
 * }
 * </pre>
 *
 * Each node keeps its URL and its data from the start of the cluster to its stop, also
 * when it is killed and started again. While it is down, the port is free, and a start
 * fails if another program has taken it by then.
 * <p>
 * Nodes have numbers from 1. Methods that change the cluster wait for each other.
 */
public final class KvorumCluster implements Startable {

	private static final int MAX_NODES = 9;

	private final Network peers = Network.builder()
		.createNetworkCmdModifier((command) -> command.withInternal(true))
		.build();

	private final List<ClusterNode> nodes;

	/**
	 * A cluster of three nodes, which goes on without one of them.
	 * @param image for instance {@code kvorum:0.1.0}
	 */
	public KvorumCluster(String image) {
		this(DockerImageName.parse(image), 3);
	}

	/**
	 * A cluster.
	 * @param image as of {@link KvorumContainer#KvorumContainer(DockerImageName)}
	 * @param count of nodes, from 1 to 9. An even one goes on without as many of them as
	 * the odd one below it.
	 */
	public KvorumCluster(DockerImageName image, int count) {
		if (count < 1 || count > MAX_NODES) {
			throw new IllegalArgumentException("%d nodes: there can be from 1 to %d".formatted(count, MAX_NODES));
		}
		String id = UUID.randomUUID().toString();
		this.nodes = IntStream.rangeClosed(1, count)
			.mapToObj((number) -> new ClusterNode(this, image, this.peers, id, number))
			.toList();
		if (count > 1) {
			String all = this.nodes.stream().map(ClusterNode::peerUrl).collect(Collectors.joining(","));
			this.nodes.forEach((node) -> node.withEnv("KVORUM_CLUSTER_NODES", all)
				.withEnv("KVORUM_CLUSTER_SELF", node.peerUrl())
				.withEnv("KVORUM_CLUSTER_SECRET", id));
		}
	}

	/**
	 * Changes the containers of all nodes before they are started.
	 * @param change is called for each node, for instance
	 * {@code (node) -> node.withProperty("kvorum.storage.durability", "os")}. What makes
	 * the nodes a cluster stays as it is.
	 * @return this
	 */
	public KvorumCluster configureEach(Consumer<? super KvorumContainer> change) {
		this.nodes.forEach(change);
		return this;
	}

	/**
	 * Starts the nodes that do not run. Returns when all are ready, have joined, and are
	 * connected to each other. With an API key connections are not awaited. If one does
	 * not start, all are stopped.
	 */
	@Override
	public synchronized void start() {
		List<ClusterNode> down = this.nodes.stream().filter((node) -> !node.isUp()).toList();
		if (down.isEmpty()) {
			return;
		}
		try {
			launch(down);
			this.nodes.forEach(ClusterNode::awaitJoined);
			awaitConnected();
		}
		catch (RuntimeException ex) {
			stop();
			throw ex;
		}
	}

	private static void launch(List<ClusterNode> down) {
		// At once, since the first ones are not ready before a majority is there.
		CompletableFuture<?>[] launches = down.stream()
			.map((node) -> CompletableFuture.runAsync(node::launch,
					(launch) -> new Thread(launch, "start-" + node).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(launches).join();
	}

	/** Kills all nodes, and removes their containers, data and network. */
	@Override
	public synchronized void stop() {
		this.nodes.forEach(ClusterNode::kill);
		this.nodes.forEach(ClusterNode::removeData);
		this.peers.close();
	}

	/**
	 * One of the nodes. As a {@code @ServiceConnection} it stands for the cluster, and so
	 * do its {@link KvorumContainer#start() start} and {@link KvorumContainer#stop()
	 * stop}: they are those of the cluster.
	 * @param number from 1
	 * @return the node, which may be down
	 */
	public KvorumContainer node(int number) {
		return get(number);
	}

	private ClusterNode get(int number) {
		if (number < 1 || number > this.nodes.size()) {
			throw new IllegalArgumentException(
					"There is no node %d: the numbers go from 1 to %d".formatted(number, this.nodes.size()));
		}
		return this.nodes.get(number - 1);
	}

	/**
	 * Where clients call the nodes.
	 * @return a URL for each node, by its number; faults do not change it
	 * @throws IllegalStateException if the cluster has not been started
	 */
	public List<URI> urls() {
		return this.nodes.stream().map(ClusterNode::getUrl).toList();
	}

	/**
	 * What the nodes that run have printed.
	 * @return the log of each, below its name. That of a killed node is gone with its
	 * container, unless a log consumer has got it.
	 */
	public String logs() {
		return this.nodes.stream()
			.filter(ClusterNode::isUp)
			.map((node) -> node + ":\n" + node.getLogs())
			.collect(Collectors.joining("\n"));
	}

	/**
	 * Kills a node with SIGKILL, as a crash would, and removes its container. Its data
	 * stay. If it is down, nothing happens.
	 * @param number of the node, from 1
	 */
	public synchronized void kill(int number) {
		get(number).kill();
	}

	/**
	 * Starts a node that was killed, with its data and its URL. Returns when it is ready,
	 * and connected to all other nodes that answer.
	 * @param number of the node, from 1
	 * @throws IllegalStateException if it runs
	 */
	public synchronized void start(int number) {
		ClusterNode node = get(number);
		if (node.isUp()) {
			throw new IllegalStateException(node + " runs already");
		}
		node.launch();
		awaitConnected();
	}

	/**
	 * Freezes all processes of a node, as a long pause of its machine would: connections
	 * stay open, and nothing is answered.
	 * @param number of the node, from 1
	 * @throws IllegalStateException if it does not run
	 */
	public synchronized void pause(int number) {
		get(number).pause();
	}

	/**
	 * Ends {@link #pause}. Returns when the node is connected to all others that answer.
	 * If it is not paused, nothing happens.
	 * @param number of the node, from 1
	 */
	public synchronized void resume(int number) {
		get(number).resume();
		awaitConnected();
	}

	/**
	 * Cuts the network between a node and the other nodes, in both directions: nothing
	 * that they send to each other arrives, on connections that are open, too. Clients
	 * still reach the node at its URL. So a node that is cut off alone takes requests,
	 * and has no majority for them. Nodes that are cut off do not reach each other.
	 * @param number of the node, from 1
	 * @throws IllegalStateException if it does not run
	 */
	public synchronized void cut(int number) {
		get(number).cut();
	}

	/**
	 * Ends {@link #cut}. Returns when the node is connected to all others that answer. If
	 * it is not cut off, nothing happens.
	 * @param number of the node, from 1
	 */
	public synchronized void heal(int number) {
		get(number).heal();
		awaitConnected();
	}

	/**
	 * Undoes all faults: resumes, heals and starts the nodes. Data stay as they are. For
	 * instance after each test.
	 */
	public synchronized void restore() {
		this.nodes.forEach(ClusterNode::resume);
		this.nodes.forEach(ClusterNode::heal);
		start();
		awaitConnected();
	}

	private void awaitConnected() {
		List<ClusterNode> answering = this.nodes.stream().filter(ClusterNode::isAnswering).toList();
		List<String> all = answering.stream().map(ClusterNode::peerUrl).toList();
		answering.forEach((node) -> node.awaitConnected(all));
	}

}
