package io.kvorum.testing;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The nodes 1, 2, … of a cluster that changes while it serves, each a process in the
 * directory of its test.
 */
public final class LiveCluster {

	private static final Duration DEADLINE = Duration.ofMinutes(4);

	private final Nodes nodes;

	private final int factor;

	private final String[] properties;

	private final List<Integer> ports;

	private final List<String> addresses;

	/** The nodes that are not dead, by their number. */
	private final Map<Integer, NodeProcess> running = new TreeMap<>();

	private final List<NodeProcess> lives = new ArrayList<>();

	/** What repairs have moved by nodes that are dead, or that have had another life. */
	private double movedBefore;

	/**
	 * A cluster without nodes.
	 * @param most the highest number of a node
	 * @param factor of its first nodes
	 * @param properties of all nodes, each {@code name=value}
	 */
	public LiveCluster(Nodes nodes, int most, int factor, String... properties) {
		this.nodes = nodes;
		this.factor = factor;
		this.properties = properties.clone();
		this.ports = IntStream.rangeClosed(1, most).mapToObj(_ -> Ports.free()).toList();
		this.addresses = IntStream.rangeClosed(1, most).mapToObj(_ -> "http://127.0.0.1:" + Ports.free()).toList();
	}

	public int port(int node) {
		return this.ports.get(node - 1);
	}

	/** Of the node with this number, also after a restart. */
	public KvorumClient client(int node) {
		return new KvorumClient(port(node));
	}

	/** The replica address of a node. */
	public String address(int node) {
		return this.addresses.get(node - 1);
	}

	/** Starts the first nodes; returns when all of them vote. */
	public void found(List<Integer> members) throws InterruptedException {
		for (int node : members) {
			launch(node, members);
		}
		for (int node : members) {
			process(node).awaitReady();
		}
		awaitTogether(members);
	}

	/** Starts an empty node; returns when it waits to be added. */
	public void startNewcomer(int node, List<Integer> members) throws InterruptedException {
		launch(node, members);
		Poll.until(() -> "node %d waits to be added".formatted(node), DEADLINE, client(node)::isAnswering);
	}

	private void launch(int node, List<Integer> members) {
		String list = members.stream().map(this::address).collect(Collectors.joining(","));
		start(node,
				NodeSpec.on(this.nodes.spec().data().resolve("node-" + node))
					.withJvm("-Xmx160m", "-Dreactor.netty.ioWorkerCount=2")
					.with("server.port=" + port(node), "kvorum.cluster.self=" + address(node),
							"kvorum.cluster.nodes=" + list, "kvorum.replication.factor=" + this.factor,
							"management.endpoints.web.exposure.include=health,layout,prometheus",
							"management.endpoint.layout.access=unrestricted")
					.with(this.properties));
	}

	private void start(int node, NodeSpec spec) {
		NodeProcess process = this.nodes.launch(spec);
		this.running.put(node, process);
		this.lives.add(process);
	}

	private NodeProcess process(int node) {
		NodeProcess process = this.running.get(node);
		if (process == null) {
			throw new IllegalStateException("node " + node + " does not run");
		}
		return process;
	}

	/** SIGKILL. */
	public void kill9(int node) {
		NodeProcess process = process(node);
		this.movedBefore += movedBytesOf(node);
		process.kill9();
		this.running.remove(node);
	}

	/** SIGKILL, and a start after some time. */
	public void killAndRestart(int node, Pause pause) throws InterruptedException {
		NodeSpec spec = process(node).spec();
		kill9(node);
		pause.run();
		start(node, spec);
		Poll.until(() -> "node %d answers".formatted(node), DEADLINE, client(node)::isAnswering);
	}

	/** SIGSTOP, and SIGCONT after some time. */
	public void stopAndContinue(int node, Pause pause) throws InterruptedException {
		process(node).pause();
		pause.run();
		process(node).resume();
	}

	/**
	 * Cuts the connections to the replica port of a node; returns how many there were.
	 */
	public long cut(int node) throws InterruptedException {
		return Ports.cutConnectionsTo(URI.create(address(node)).getPort());
	}

	/** SIGTERM. */
	public void stop(int node) throws InterruptedException {
		this.movedBefore += movedBytesOf(node);
		process(node).stop();
		this.running.remove(node);
	}

	/**
	 * Stages an edit of the nodes, JSON, and applies it; returns the number of the layout
	 * that was decided.
	 */
	public long apply(int asked, String edit) {
		JsonNode staged = layout(client(asked).post("/actuator/layout", "{\"stage\":" + edit + "}"), 202);
		return layout(
				client(asked).post("/actuator/layout", "{\"apply\":%d}".formatted(staged.path("version").asLong())),
				202)
			.path("layout")
			.asLong();
	}

	private static JsonNode layout(Answer answer, int status) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		return JsonMapper.shared().readTree(answer.body());
	}

	private JsonNode layout(int node) {
		return layout(client(node).exchange("GET", "/actuator/layout"), 200);
	}

	/** The topology as it was decided, or that before the change. */
	public Topology topology(int asked) {
		JsonNode layout = layout(asked);
		List<Member> members = new ArrayList<>();
		for (JsonNode member : layout.path("members")) {
			members.add(new Member(0, Long.parseUnsignedLong(member.path("node").asString(), 16),
					member.path("address").asString(), member.path("zone").asString(""),
					member.path("weight").asInt()));
		}
		return Topology.ofMembers(members, layout.path("factor").asInt());
	}

	/**
	 * The step of a node in the change, {@code before} if it has not heard of it,
	 * {@code stable} if it is through it.
	 * @param change the number of the layout that was applied
	 */
	public String step(int node, long change) {
		JsonNode topology = topologyTold(node);
		if (topology.path("layout").asLong() < change) {
			return "before";
		}
		if (!"moving".equals(topology.path("state").asString(""))) {
			return "stable";
		}
		Answer answer = client(node).exchange("GET", "/actuator/layout");
		// A new node is in no layout until its parts are made.
		return (answer.status() == 200)
				? JsonMapper.shared().readTree(answer.body()).path("moving").path("step").asString("") : "before";
	}

	/**
	 * Waits until these nodes are all, with this factor, and nothing changes.
	 * @param change the number of the layout that was applied
	 */
	public void awaitStable(long change, Collection<Integer> members, int factor) throws InterruptedException {
		List<String> expected = members.stream().map(this::address).sorted().toList();
		Poll.until(() -> "the change is done: " + members.stream().map(this::topologyTold).toList(), DEADLINE,
				() -> members.stream().map(this::topologyTold).allMatch(told -> {
					List<String> nodes = new ArrayList<>();
					told.path("nodes").forEach(node -> nodes.add(node.asString()));
					return told.path("layout").asLong() > change && "stable".equals(told.path("state").asString(""))
							&& expected.equals(nodes) && told.path("replicationFactor").asInt() == factor;
				}));
	}

	private JsonNode topologyTold(int node) {
		return JsonMapper.shared().readTree(client(node).exchange("GET", "/v0/status").body()).path("topology");
	}

	/** Waits until these nodes have streams to one another, and all of them vote. */
	public void awaitTogether(Collection<Integer> members) throws InterruptedException {
		List<String> others = members.stream().map(this::address).toList();
		Poll.until(() -> "all nodes are there and vote: " + members.stream().map(this::health).toList(), DEADLINE,
				() -> members.stream().allMatch(node -> isTogether(health(node), address(node), others)));
	}

	private static boolean isTogether(JsonNode health, String own, List<String> all) {
		JsonNode peers = health.path("cluster").path("details").path("peers");
		return all.stream()
			.filter(address -> !address.equals(own))
			.allMatch(address -> "there".equals(peers.path(address).asString("")))
				&& "member".equals(health.path("convergence").path("details").path("membership").asString("member"));
	}

	/** Waits until these nodes know that a node is away. */
	public void awaitAway(int node, Collection<Integer> witnesses) throws InterruptedException {
		Poll.until(() -> "node %d is away: %s".formatted(node, witnesses.stream().map(this::health).toList()), DEADLINE,
				() -> witnesses.stream()
					.allMatch(witness -> health(witness).path("cluster")
						.path("details")
						.path("peers")
						.path(address(node))
						.asString("")
						.startsWith("away")));
	}

	private JsonNode health(int node) {
		return JsonMapper.shared().readTree(client(node).exchange("GET", "/actuator/health").body()).path("components");
	}

	/** What repairs have moved since the cluster began, also by nodes that are gone. */
	public long movedBytes() {
		return (long) (this.movedBefore + this.running.keySet().stream().mapToDouble(this::movedBytesOf).sum());
	}

	private double movedBytesOf(int node) {
		return client(node).metric("kvorum_repair_moved_size_bytes_total");
	}

	/**
	 * The first line that a node has said of an error or of a leak; null if there is
	 * none.
	 */
	public @Nullable String firstError() throws InterruptedException {
		for (NodeProcess life : this.lives) {
			String line = life.log()
				.lines()
				.filter(said -> said.contains("ERROR") || said.contains("LEAK"))
				.findFirst()
				.orElse(null);
			if (line != null) {
				return line;
			}
		}
		return null;
	}

	/** What happens between two signals. */
	@FunctionalInterface
	public interface Pause {

		void run() throws InterruptedException;

	}

}
