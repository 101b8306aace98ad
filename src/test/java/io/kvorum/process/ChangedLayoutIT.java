package io.kvorum.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.Ports;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Another number of nodes, or another factor: once the nodes have converged each key is read at each node")
@LongTest
class ChangedLayoutIT {

	private static final int KEYS_AT_A_TIME = 100;

	private static final Duration CONVERGED_DEADLINE = Duration.ofMinutes(2);

	@RegisterExtension
	final Nodes nodes = new Nodes();

	private final List<Integer> apiPorts = ports();

	private final List<String> addresses = ports().stream().map(port -> "http://127.0.0.1:" + port).toList();

	/** What follows the address of a node in the list of nodes, by its number. */
	private final Map<Integer, String> attributes = new TreeMap<>();

	/** By the number of the node. */
	private final Map<Integer, NodeProcess> running = new TreeMap<>();

	/** Restarts so far, in names of keys. */
	private int restarts;

	private final List<String> keys = new ArrayList<>();

	private final List<String> deleted = new ArrayList<>();

	private static List<Integer> ports() {
		return IntStream.rangeClosed(1, 5).mapToObj(_ -> Ports.free()).toList();
	}

	@Test
	@DisplayName("from one node to two and to three: what one node or two had is on all, also while one is away")
	void moreNodes() throws InterruptedException {
		start(3, 1);
		write(1, "of one");
		become(3, 1, 2);
		assertAllIsReadAtEachNode();
		write(2, "of two");
		become(3, 1, 2, 3);
		assertAllIsReadAtEachNode();
		kill(1);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("from three nodes to four and back: what the fourth had is on the three")
	void oneMoreAndOneLess() throws InterruptedException {
		start(3, 1, 2, 3);
		write(1, "of three");
		become(3, 1, 2, 3, 4);
		assertAllIsReadAtEachNode();
		write(4, "of four");
		become(3, 1, 2, 3);
		assertAllIsReadAtEachNode();
		kill(2);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("factor 1 to 3 and to 5, of five nodes: as many may be away as the factor says")
	void anotherFactor() throws InterruptedException {
		start(1, 1, 2, 3, 4, 5);
		write(1, "of factor 1");
		become(3, 1, 2, 3, 4, 5);
		assertAllIsReadAtEachNode();
		write(2, "of factor 3");
		become(5, 1, 2, 3, 4, 5);
		assertAllIsReadAtEachNode();
		kill(1);
		kill(3);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("three zones are given to five nodes: once converged, one copy of each key is in each zone, so a zone of two nodes may be away")
	void zones() throws InterruptedException {
		start(3, 1, 2, 3, 4, 5);
		write(1, "without zones");
		this.attributes.putAll(Map.of(1, "?zone=a", 2, "?zone=a", 3, "?zone=b", 4, "?zone=b", 5, "?zone=c&weight=2"));
		become(3, 1, 2, 3, 4, 5);
		assertAllIsReadAtEachNode();
		write(3, "with zones");
		kill(1);
		kill(2);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("from three nodes to four others and back to three without a stop: all is read and written at each node meanwhile")
	void withoutAStop() throws InterruptedException {
		start(3, 1, 2, 3);
		write(1, "of three");
		change(List.of(1, 2, 3), List.of(2, 3, 4, 5));
		write(5, "of four");
		change(List.of(2, 3, 4, 5), List.of(1, 4, 5));
		kill(4);
		assertAllIsReadAtEachNode();
	}

	/** Changes the nodes by two restarts of each. */
	private void change(List<Integer> from, List<Integer> to) throws InterruptedException {
		String[] lists = { "kvorum.cluster.nodes=" + list(from), "kvorum.cluster.next-nodes=" + list(to) };
		// The new nodes first: keys that two of them are to hold need one of these.
		Set<Integer> both = new LinkedHashSet<>(to);
		both.removeAll(from);
		both.forEach(node -> launch(node, 3, lists));
		for (int node : both) {
			awaitJoined(node);
		}
		for (int node : from) {
			restart(node, lists);
			awaitJoined(node);
			both.add(node);
		}
		Poll.until(() -> "the change is done: " + both.stream().map(this::changeAt).toList(), CONVERGED_DEADLINE,
				() -> both.stream().allMatch(node -> "done".equals(changeAt(node).get("step"))));
		assertAllIsReadAtEachNode();
		for (int node : to) {
			restart(node, "kvorum.cluster.nodes=" + list(to));
		}
		both.removeAll(to);
		both.forEach(this::kill);
		assertAllIsReadAtEachNode();
	}

	/** While it is down, the others serve. */
	private void restart(int node, String... properties) throws InterruptedException {
		Objects.requireNonNull(this.running.remove(node)).stop();
		write(this.running.keySet().iterator().next(), "while %d restarts, %d".formatted(node, this.restarts++));
		assertAllIsReadAtEachNode();
		launch(node, 3, properties).awaitReady();
	}

	/** What a rolling update waits for. */
	private void awaitJoined(int node) throws InterruptedException {
		Objects.requireNonNull(this.running.get(node)).awaitReady();
		Poll.until(() -> "node %d has joined: %s".formatted(node, joined(node).text()), CONVERGED_DEADLINE,
				() -> joined(node).status() == 200);
	}

	private Answer joined(int node) {
		return client(node).exchange("GET", "/actuator/health/joined");
	}

	private Map<?, ?> changeAt(int node) {
		Object told = client(node).exchange("GET", "/actuator/topology").json();
		return (told instanceof Map<?, ?> map && map.get("change") instanceof Map<?, ?> change) ? change : Map.of();
	}

	private void kill(int node) {
		Objects.requireNonNull(this.running.remove(node)).kill9();
	}

	private void become(int factor, Integer... members) throws InterruptedException {
		for (NodeProcess node : this.running.values()) {
			node.stop();
		}
		this.running.clear();
		start(factor, members);
	}

	/** Starts nodes together; returns when they have converged. */
	private void start(int factor, Integer... members) throws InterruptedException {
		for (int node : members) {
			launch(node, factor, "kvorum.cluster.nodes=" + list(List.of(members)));
		}
		for (NodeProcess node : this.running.values()) {
			node.awaitReady();
		}
		if (members.length > 1) {
			Poll.until(() -> "all nodes have converged: " + convergence(), CONVERGED_DEADLINE, () -> convergence()
				.stream()
				.allMatch(
						told -> Boolean.TRUE.equals(told.get("converged")) && "member".equals(told.get("membership"))));
		}
	}

	private String list(List<Integer> members) {
		return members.stream()
			.map(node -> this.addresses.get(node - 1) + this.attributes.getOrDefault(node, ""))
			.collect(Collectors.joining(","));
	}

	private NodeProcess launch(int node, int factor, String... properties) {
		NodeSpec spec = NodeSpec.on(this.nodes.spec().data().resolve("node-" + node))
			.withJvm("-Xmx128m", "-Dreactor.netty.ioWorkerCount=2")
			.with("server.port=" + this.apiPorts.get(node - 1), "kvorum.replication.factor=" + factor,
					"kvorum.replication.write-timeout=20s", "kvorum.replication.read-timeout=20s",
					"management.endpoints.web.exposure.include=health,topology",
					"kvorum.cluster.self=" + this.addresses.get(node - 1))
			.with(properties);
		NodeProcess process = this.nodes.launch(spec);
		this.running.put(node, process);
		return process;
	}

	private List<Map<?, ?>> convergence() {
		return this.running.keySet().stream().<Map<?, ?>>map(node -> {
			Object told = client(node).exchange("GET", "/actuator/health").json();
			for (String name : List.of("components", "convergence", "details")) {
				told = (told instanceof Map<?, ?> map) ? map.get(name) : null;
			}
			return (told instanceof Map<?, ?> details) ? details : Map.of();
		}).toList();
	}

	private KvorumClient client(int node) {
		return new KvorumClient(this.apiPorts.get(node - 1));
	}

	private void write(int node, String name) {
		for (int i = 0; i < KEYS_AT_A_TIME; i++) {
			String key = name + " " + i;
			assertThat(client(node).put(key, key).status()).as(key).isEqualTo(201);
			this.keys.add(key);
		}
		String gone = this.keys.removeLast();
		assertThat(client(node).delete(gone).status()).isEqualTo(202);
		this.deleted.add(gone);
	}

	/** At the default level. */
	private void assertAllIsReadAtEachNode() {
		for (int node : this.running.keySet()) {
			KvorumClient client = client(node);
			assertThat(this.keys).as("read at node %d of %s", node, this.running.keySet())
				.allSatisfy(key -> assertThat(client.get(key).text()).isEqualTo(key));
			assertThat(this.deleted).as("deleted, at node %d", node)
				.allSatisfy(key -> assertThat(client.get(key).status()).isEqualTo(404));
		}
	}

}
