package io.kvorum.testcontainers;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.ContainerNetwork;
import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import com.github.dockerjava.api.model.VolumeOptions;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Network;
import org.testcontainers.utility.DockerImageName;

/**
 * A node of a {@link KvorumCluster}. A launch after its end is a new container with the
 * same data, which are in a volume, and the same port. It is changed under the lock of
 * the cluster.
 * <p>
 * It is in two networks. The port of the API is published from Docker's default one. The
 * nodes know each other by names in an internal one, from which Docker publishes nothing,
 * so that a node without it is still reached by clients.
 */
final class ClusterNode extends KvorumContainer {

	private static final String DATA = "/var/lib/kvorum";

	private static final Set<String> RESERVED = Set.of("kvorum.storage.path", "kvorum.cluster.self",
			"kvorum.cluster.nodes", "kvorum.cluster.secret");

	private final KvorumCluster cluster;

	private final Network peers;

	private final String name;

	private final String volume;

	/** Docker chooses it at the first start, 0 until then. */
	private volatile int publishedPort;

	/** From the first start on; it may have failed. */
	private boolean hasData;

	private boolean isLaunching;

	private boolean isPaused;

	private boolean isCut;

	ClusterNode(KvorumCluster cluster, DockerImageName image, Network peers, String id, int number) {
		super(image);
		this.cluster = cluster;
		this.peers = peers;
		this.name = "node-" + number;
		this.volume = "kvorum-%s-%d".formatted(id, number);
		withCreateContainerCmdModifier(this::mountData);
	}

	/** With labels by which Testcontainers removes it even if this JVM is killed. */
	private void mountData(CreateContainerCmd command) {
		Map<String, String> labels = new HashMap<>(DockerClientFactory.DEFAULT_LABELS);
		labels.put(DockerClientFactory.TESTCONTAINERS_SESSION_ID_LABEL, DockerClientFactory.SESSION_ID);
		Mount mount = new Mount().withType(MountType.VOLUME)
			.withSource(this.volume)
			.withTarget(DATA)
			.withVolumeOptions(new VolumeOptions().withLabels(labels));
		Objects.requireNonNull(command.getHostConfig()).withMounts(List.of(mount));
	}

	@Override
	boolean isReserved(String property) {
		return super.isReserved(property) || RESERVED.contains(property);
	}

	/** Where the other nodes call this one. */
	String peerUrl() {
		return "http://" + this.name + ":9090";
	}

	@Override
	public URI getUrl() {
		return (this.publishedPort != 0) ? url(this.publishedPort) : super.getUrl();
	}

	@Override
	public List<URI> getUrls() {
		return this.cluster.urls();
	}

	/** Starts the whole cluster: a node that is alone does not get ready. */
	@Override
	public void start() {
		this.cluster.start();
	}

	/**
	 * Stops the whole cluster. Called while this node is launched it is Testcontainers
	 * that gives the container up.
	 */
	@Override
	public void stop() {
		if (this.isLaunching) {
			super.stop();
		}
		else {
			this.cluster.stop();
		}
	}

	/** Starts this node only. */
	void launch() {
		this.hasData = true;
		this.isLaunching = true;
		try {
			super.start();
		}
		finally {
			this.isLaunching = false;
		}
		if (this.publishedPort == 0) {
			int port = getMappedPort(API_PORT);
			addFixedExposedPort(port, API_PORT);
			this.publishedPort = port;
		}
	}

	/** Ends this node only. Testcontainers does not ask the process, but kills it. */
	void kill() {
		resume();
		super.stop();
		this.isCut = false;
	}

	@Override
	protected void containerIsCreated(String containerId) {
		connect(containerId);
	}

	private void connect(String containerId) {
		this.dockerClient.connectToNetworkCmd()
			.withContainerId(containerId)
			.withNetworkId(this.peers.getId())
			.withContainerNetwork(new ContainerNetwork().withAliases(this.name))
			.exec();
	}

	void removeData() {
		if (!this.hasData) {
			return;
		}
		try {
			this.dockerClient.removeVolumeCmd(this.volume).exec();
		}
		catch (NotFoundException ex) {
			logger().debug("There is no {}", this.volume);
		}
		this.hasData = false;
	}

	boolean isUp() {
		return getContainerId() != null;
	}

	/** Whether the other nodes get answers. */
	boolean isAnswering() {
		return isUp() && !this.isPaused && !this.isCut;
	}

	void pause() {
		String running = running();
		if (!this.isPaused) {
			this.dockerClient.pauseContainerCmd(running).exec();
			this.isPaused = true;
		}
	}

	void resume() {
		if (this.isPaused) {
			this.dockerClient.unpauseContainerCmd(running()).exec();
			this.isPaused = false;
		}
	}

	void cut() {
		String running = running();
		if (!this.isCut) {
			this.dockerClient.disconnectFromNetworkCmd()
				.withContainerId(running)
				.withNetworkId(this.peers.getId())
				.exec();
			this.isCut = true;
		}
	}

	void heal() {
		if (this.isCut) {
			connect(running());
			this.isCut = false;
		}
	}

	/** The id of the container. */
	private String running() {
		String id = getContainerId();
		if (id == null) {
			throw new IllegalStateException(this + " does not run");
		}
		return id;
	}

	void awaitJoined() {
		health("/actuator/health/joined").waitUntilReady(this);
	}

	/** With API keys nodes keep their connections for themselves, and this is true. */
	void awaitConnected(List<String> all) {
		List<String> connections = all.stream()
			.filter((node) -> !node.equals(peerUrl()))
			.map("\"%s\":\"there\""::formatted)
			.toList();
		health("/actuator/health").forStatusCodeMatching((status) -> true)
			.forResponsePredicate(
					(health) -> !health.contains("\"peers\"") || connections.stream().allMatch(health::contains))
			.waitUntilReady(this);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
