package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Load;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.Ports;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Another number of nodes, or another factor: once the nodes have converged each key is read at each node")
@LongTest
@Execution(ExecutionMode.CONCURRENT)
class ChangedLayoutIT {

	private static final int KEYS_AT_A_TIME = 100;

	private static final Duration CONVERGED_DEADLINE = Duration.ofMinutes(2);

	/** Of operations. A change waits for as long, and so does a new node. */
	private static final String TIMEOUT = "5s";

	@RegisterExtension
	final Nodes nodes = new Nodes();

	private final List<Integer> apiPorts = ports();

	private final List<String> addresses = ports().stream().map(port -> "http://127.0.0.1:" + port).toList();

	/** What follows the address of a node in the list of nodes, by its number. */
	private final Map<Integer, String> attributes = new TreeMap<>();

	/** By the number of the node. */
	private final Map<Integer, NodeProcess> running = new TreeMap<>();

	private List<String> properties = List.of();

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
	@DisplayName("from three nodes to four others and to three, under load: no request fails, and all is read at each node")
	void withoutAStop() throws Exception {
		start(3, 1, 2, 3);
		write(1, "of three");
		change(List.of(1, 2, 3), List.of(2, 3, 4, 5), 3);
		write(5, "of four");
		change(List.of(2, 3, 4, 5), List.of(1, 4, 5), 3);
		kill(4);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("from one node to three and back, under load: no request fails, and all is read at each node")
	void fromOneNodeAndBack() throws Exception {
		start(3, 1);
		write(1, "of one");
		change(List.of(1), List.of(1, 2, 3), 3);
		write(2, "of three");
		change(List.of(1, 2, 3), List.of(3), 1);
	}

	@Test
	@DisplayName("factor 1 to 3, to 5 and back to 3, under load: no request fails, each key is on as many nodes, and no longer on more")
	void anotherFactorWithoutAStop() throws Exception {
		start(1, 1);
		write(1, "of factor 1");
		change(List.of(1), List.of(1, 2, 3), 3);
		write(2, "of factor 3");
		change(List.of(1, 2, 3), List.of(1, 2, 3, 4, 5), 5);
		write(4, "of factor 5");
		change(List.of(1, 2, 3, 4, 5), List.of(1, 2, 3, 4, 5), 3);
		Poll.until(() -> "three nodes hold each key, not %d copies of %d".formatted(copies(), this.keys.size()),
				CONVERGED_DEADLINE, () -> copies() == 3L * this.keys.size());
		kill(1);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("A node is replaced: once the change is done the new one has everything, though two of three would do")
	void aLoneNewNodeHasAllInTheEnd() throws Exception {
		this.properties = List.of("kvorum.anti-entropy.max-rate=300KB");
		start(3, 1, 2, 3);
		byte[] value = new byte[100_000];
		new Random(1).nextBytes(value);
		String text = HexFormat.of().formatHex(value);
		for (int i = 0; i < 50; i++) {
			String key = "of large " + i;
			assertThat(client(1).put(key, key + text).status()).isEqualTo(201);
			this.keys.add(key);
		}
		write(1, "of three");
		change(List.of(1, 2, 3), List.of(1, 2, 4), 3);
	}

	@Test
	@DisplayName("A disk is lost after the lists of the configuration were brought up to date: the node is rebuilt, and the next change is done")
	void aDiskIsLostAfterAChange() throws Exception {
		start(3, 1, 2, 3);
		write(1, "of three");
		change(List.of(1, 2, 3), List.of(1, 2, 3, 4), 3);
		kill(2);
		deleteData(2);
		launch(2, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3, 4))).awaitReady();
		awaitStable(List.of(1, 2, 3, 4), 3);
		Poll.until(() -> "node 2 is a member: " + convergence(), CONVERGED_DEADLINE,
				() -> convergence().stream().allMatch(told -> "member".equals(told.get("membership"))));
		write(2, "of four");
		change(List.of(1, 2, 3, 4), List.of(2, 3, 4), 3);
	}

	@Test
	@DisplayName("The first node of a cluster that has grown loses its disk, with its old list of one: it begins no second cluster, and is rebuilt")
	void theFounderLosesItsDisk() throws Exception {
		start(3, 1);
		write(1, "of one");
		change(List.of(1), List.of(1, 2, 3), 3);
		write(2, "of three");
		kill(1);
		deleteData(1);
		launch(1, 3, "kvorum.cluster.nodes=" + list(List.of(1)));
		Poll.until(() -> "node 1 answers", CONVERGED_DEADLINE, () -> answersStatus(1));
		Poll.until(() -> "node 1 is rebuilt: " + convergence(), CONVERGED_DEADLINE, () -> {
			assertThat(client(1).get(this.keys.getFirst()).status()).as("never 404").isNotEqualTo(404);
			assertThat(client(1).putWith("of one 0", "another", "If-None-Match", "*").status()).as("created once")
				.isNotEqualTo(201);
			return topologyAt(1).get("nodes") instanceof List<?> members && members.size() == 3
					&& convergence().stream().allMatch(told -> "member".equals(told.get("membership")));
		});
		assertThat(Objects.requireNonNull(this.running.get(1)).log()).contains("it has an older disk");
		kill(2);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("Founders that were removed and the last one that was not are emptied and begin again with their list: no acknowledged write is lost")
	void foundersBeginAgain() throws Exception {
		start(3, 1, 2, 3);
		write(1, "of three");
		change(List.of(1, 2, 3), List.of(3, 4, 5), 3);
		write(4, "of the next");
		kill(3);
		kill(4);
		kill(5);
		for (int founder : List.of(1, 2, 3)) {
			deleteData(founder);
			launch(founder, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3)));
		}
		Objects.requireNonNull(this.running.get(3)).awaitReady();
		launch(4, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3)));
		launch(5, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3)));
		Poll.until(() -> "node 3 hears of the cluster in which it was", CONVERGED_DEADLINE,
				() -> hasLogged(3, " of another cluster, "));
		Poll.until(() -> "nodes 4 and 5 serve", CONVERGED_DEADLINE,
				() -> answersStatus(4) && answersStatus(5) && client(4).get(this.keys.getFirst()).status() == 200
						&& client(5).get(this.keys.getFirst()).status() == 200);
		assertThat(client(3).get(this.keys.getFirst()).status()).as("in the new cluster").isEqualTo(404);

		for (int founder : List.of(1, 2, 3)) {
			kill(founder);
			deleteData(founder);
		}
		launch(3, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3)));
		Poll.until(() -> "node 3 is rebuilt: " + convergence(), CONVERGED_DEADLINE, () -> answersStatus(3)
				&& convergence().stream().allMatch(told -> "member".equals(told.get("membership"))));
		kill(4);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("An old copy of the disk of the first node, of the time before the cluster has grown: it votes for nothing, and is rebuilt")
	void theFounderHasAnOldDisk() throws Exception {
		start(3, 1);
		write(1, "of one");
		theOnlyNodeHasAnOldDisk();
	}

	@Test
	@DisplayName("An old copy of the disk of a node that was alone for a while: it votes for nothing, and is rebuilt")
	void theLastNodeHasAnOldDisk() throws Exception {
		start(3, 1);
		write(1, "of one");
		change(List.of(1), List.of(1, 2), 2);
		change(List.of(1, 2), List.of(1), 1);
		theOnlyNodeHasAnOldDisk();
	}

	private void theOnlyNodeHasAnOldDisk() throws Exception {
		kill(1);
		Path data = this.nodes.spec().data().resolve("node-1");
		Path copy = data.resolveSibling("copy");
		FileSystemUtils.copyRecursively(data, copy);
		launch(1, 3, "kvorum.cluster.nodes=" + list(List.of(1))).awaitReady();
		change(List.of(1), List.of(1, 2, 3), 3);
		write(2, "of three");
		kill(1);
		deleteData(1);
		FileSystemUtils.copyRecursively(copy, data);
		launch(1, 3, "kvorum.cluster.nodes=" + list(List.of(1)));
		Poll.until(() -> "node 1 has taken the layout and is rebuilt: " + convergence(), CONVERGED_DEADLINE,
				() -> answersStatus(1) && topologyAt(1).get("nodes") instanceof List<?> members && members.size() == 3
						&& convergence().stream().allMatch(told -> "member".equals(told.get("membership"))));
		assertThat(Objects.requireNonNull(this.running.get(1)).log()).contains("it has an older disk");
		kill(2);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("A node that was removed and not switched off serves for a quarter of kvorum.gc-grace, then says that it was removed; the others go on")
	void aRemovedNodeIsNotSwitchedOff() throws Exception {
		this.properties = List.of("kvorum.gc-grace=1m");
		start(3, 1, 2, 3, 4);
		write(1, "of four");
		long staged = staged(1, "{\"stage\":{\"remove\":[\"%s\"]}}".formatted(this.addresses.get(3)));
		assertThat(layout(2, "{\"apply\":%d}".formatted(staged)).status()).isEqualTo(202);
		Poll.until(() -> "node 4 answers no more requests", CONVERGED_DEADLINE, () -> {
			Answer answer = client(4).get(this.keys.getFirst());
			if (answer.status() == 200) {
				return false;
			}
			assertThat(answer.text()).contains("this node was removed from the cluster by layout",
					"serves no requests any more");
			return true;
		});
		awaitStable(List.of(1, 2, 3), 3);
		assertThat(client(4).exchange("GET", "/actuator/health/readiness").status()).isEqualTo(503);
		NodeProcess removed = Objects.requireNonNull(this.running.remove(4));
		assertAllIsReadAtEachNode();
		kill(2);
		assertAllIsReadAtEachNode();
		removed.kill9();
	}

	@Test
	@DisplayName("Two nodes ask to be added, and are, with the zones that they say; one without a zone is not, until it says one")
	void joiningByThemselves() throws Exception {
		this.properties = List.of("kvorum.cluster.join=auto", "kvorum.cluster.secret=correct-horse-battery");
		this.attributes.putAll(Map.of(1, "?zone=a", 2, "?zone=b", 3, "?zone=c"));
		start(3, 1, 2, 3);
		write(1, "of three");
		ask(4, "");
		ask(5, "?zone=b");
		awaitStable(List.of(1, 2, 3, 5), 3);
		Objects.requireNonNull(this.running.get(4)).kill9();
		ask(4, "?zone=a&weight=2");
		awaitStable(List.of(1, 2, 3, 4, 5), 3);
		write(4, "of five");
		assertAllIsReadAtEachNode();
		assertThat(String.valueOf(client(1).exchange("GET", "/actuator/layout").json())).contains("zone=a, weight=2");
	}

	/** Starts a node that asks the first three to be added. */
	private void ask(int node, String attributes) {
		launch(node, 3, "kvorum.cluster.self=" + this.addresses.get(node - 1) + attributes,
				"kvorum.cluster.nodes=" + this.addresses.subList(0, 3).stream().collect(Collectors.joining(",")));
	}

	@Test
	@DisplayName("A change waits for a new node that is dead, is given up; that node, emptied, replaces one that is dead")
	void givenUp() throws Exception {
		start(3, 1, 2, 3);
		write(1, "of three");
		await(4);
		long staged = staged(1, "{\"stage\":{\"add\":[{\"address\":\"%s\"}]}}".formatted(this.addresses.get(3)));
		kill(4);
		assertThat(layout(1, "{\"apply\":%d}".formatted(staged)).status()).as("a dead node cannot be added")
			.isEqualTo(422);
		await(4);
		assertThat(layout(1, "{\"apply\":%d}".formatted(staged - 1)).status()).as("something else is staged")
			.isEqualTo(409);
		assertThat(layout(1, "{\"apply\":%d}".formatted(staged)).status()).isEqualTo(202);
		assertThat(layout(2, "{\"stage\":{\"factor\":2}}").status()).as("a change is under way").isEqualTo(409);
		Poll.until(() -> "node 4 is known to node 1", CONVERGED_DEADLINE,
				() -> client(1).exchange("GET", "/actuator/health")
					.text()
					.contains("\"%s\":\"there\"".formatted(this.addresses.get(3))));
		kill(4);
		write(2, "while it waits");
		assertThat(layout(3, "{\"abort\":true}").status()).isEqualTo(202);
		awaitStable(List.of(1, 2, 3), 3);
		assertAllIsReadAtEachNode();

		kill(2);
		deleteData(4);
		await(4);
		staged = staged(1, "{\"stage\":{\"replace\":[{\"dead\":\"%s\",\"by\":\"%s\"}]}}"
			.formatted(this.addresses.get(1), this.addresses.get(3)));
		Answer replaced = layout(3, "{\"apply\":%d}".formatted(staged));
		assertThat(replaced.status()).as(replaced.text()).isEqualTo(202);
		awaitStable(List.of(1, 3, 4), 3);
		assertAllIsReadAtEachNode();
		kill(1);
		assertAllIsReadAtEachNode();
	}

	@Test
	@DisplayName("A node that restarts while all new nodes are dead serves on, and the change is given up")
	void restartedWhileNewNodesAreDead() throws Exception {
		start(3, 1);
		write(1, "alone");
		await(2);
		await(3);
		long staged = staged(1, "{\"stage\":{\"add\":[{\"address\":\"%s\"},{\"address\":\"%s\"}]}}"
			.formatted(this.addresses.get(1), this.addresses.get(2)));
		assertThat(layout(1, "{\"apply\":%d}".formatted(staged)).status()).isEqualTo(202);
		kill(2);
		kill(3);
		kill(1);
		launch(1, 3, "kvorum.cluster.nodes=" + list(List.of(1)));
		Poll.until(() -> "node 1 serves", CONVERGED_DEADLINE,
				() -> answersStatus(1) && client(1).put("served", "served").status() == 201);

		// It may have been killed before it had the layout on disk, and reads it again.
		Poll.until(() -> "the change goes on: " + topologyAt(1), CONVERGED_DEADLINE,
				() -> "moving".equals(topologyAt(1).get("state")));
		write(1, "while it waits");
		assertThat(layout(1, "{\"abort\":true}").status()).isEqualTo(202);
		Poll.until(() -> "the change is given up: " + topologyAt(1), CONVERGED_DEADLINE,
				() -> "stable".equals(topologyAt(1).get("state")));
		assertAllIsReadAtEachNode();
	}

	/** Starts a node that is to be added, with the first three as those it asks. */
	private void await(int node) throws InterruptedException {
		launch(node, 3, "kvorum.cluster.nodes=" + list(List.of(1, 2, 3).stream().filter(it -> it != node).toList()));
		Poll.until(() -> "node %d waits to be added".formatted(node), CONVERGED_DEADLINE, () -> answersStatus(node)
				&& client(node).exchange("GET", "/actuator/health/readiness").status() == 503);
	}

	private boolean answersStatus(int node) {
		try {
			return client(node).exchange("GET", "/v0/status").status() == 200;
		}
		catch (RuntimeException _) {
			return false;
		}
	}

	/** Changes the nodes while clients read and write at those that stay. */
	private void change(List<Integer> from, List<Integer> to, int factor) throws Exception {
		for (int node : to) {
			if (!from.contains(node)) {
				deleteData(node);
				launch(node, 3, "kvorum.cluster.nodes=" + list(from));
				Poll.until(() -> "node %d waits to be added".formatted(node), CONVERGED_DEADLINE,
						() -> answersStatus(node));
			}
		}
		String added = to.stream()
			.filter(node -> !from.contains(node))
			.map(node -> "{\"address\":\"%s\"}".formatted(this.addresses.get(node - 1)))
			.collect(Collectors.joining(","));
		String removed = from.stream()
			.filter(node -> !to.contains(node))
			.map(node -> '"' + this.addresses.get(node - 1) + '"')
			.collect(Collectors.joining(","));
		try (Load load = Load.on(this::client, from, 1)) {
			long staged = staged(from.getFirst(),
					"{\"stage\":{\"add\":[%s],\"remove\":[%s],\"factor\":%d}}".formatted(added, removed, factor));
			Answer applied = layout(from.getLast(), "{\"apply\":%d}".formatted(staged));
			assertThat(applied.status()).as(applied.text()).isEqualTo(202);
			awaitStable(to, factor);
			if (to.size() == factor) {
				assertThat(to).as("nodes that hold each key")
					.allSatisfy(node -> assertThat(heldBy(node)).contains(this.keys));
			}
			assertThat(load.stop()).as("requests that failed").isEmpty();
			assertThat(load.succeeded()).isPositive();
		}
		for (int node : from) {
			if (!to.contains(node)) {
				Poll.until(() -> "node %d says that it was removed".formatted(node), CONVERGED_DEADLINE,
						() -> client(node).exchange("GET", "/actuator/health/readiness").status() == 503);
				kill(node);
			}
		}
		assertAllIsReadAtEachNode();
	}

	/** Keys and values that a node holds itself, of what {@link #write} has written. */
	private String heldBy(int node) {
		return client(node).exchange("GET", "/v0/entities?start=of&end=og&scope=node").text();
	}

	/** How many entries all nodes have together, of what {@link #write} has written. */
	private long copies() {
		return this.running.keySet()
			.stream()
			.mapToLong(node -> client(node).exchange("GET", "/v0/entities?start=of&end=og&scope=node&values=false")
				.text()
				.lines()
				.count())
			.sum();
	}

	private void deleteData(int node) throws IOException {
		FileSystemUtils.deleteRecursively(this.nodes.spec().data().resolve("node-" + node));
	}

	private Answer layout(int node, String body) {
		return client(node).post("/actuator/layout", body);
	}

	/** Stages and returns the number under which it is staged. */
	private long staged(int node, String body) {
		Answer answer = layout(node, body);
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return ((Number) Objects.requireNonNull(((Map<?, ?>) Objects.requireNonNull(answer.json())).get("version")))
			.longValue();
	}

	private void awaitStable(List<Integer> nodes, int factor) throws InterruptedException {
		List<String> members = nodes.stream().map(node -> this.addresses.get(node - 1)).sorted().toList();
		Poll.until(() -> "the change is done: " + nodes.stream().map(this::topologyAt).toList(), CONVERGED_DEADLINE,
				() -> nodes.stream()
					.map(this::topologyAt)
					.allMatch(
							topology -> "stable".equals(topology.get("state")) && members.equals(topology.get("nodes"))
									&& Integer.valueOf(factor).equals(topology.get("replicationFactor"))));
	}

	private Map<?, ?> topologyAt(int node) {
		Object told = client(node).exchange("GET", "/v0/status").json();
		return (told instanceof Map<?, ?> map && map.get("topology") instanceof Map<?, ?> topology) ? topology
				: Map.of();
	}

	private boolean hasLogged(int node, String text) {
		try {
			return Objects.requireNonNull(this.running.get(node)).log().contains(text);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
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
					"kvorum.replication.write-timeout=" + TIMEOUT, "kvorum.replication.read-timeout=" + TIMEOUT,
					// No node is silent here but one that the machine has no time for.
					"kvorum.cluster.silence-timeout=4s",
					"management.endpoints.web.exposure.include=health,topology,layout",
					"management.endpoint.layout.access=unrestricted",
					"kvorum.cluster.self=" + this.addresses.get(node - 1))
			.with(this.properties.toArray(String[]::new))
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
				.allSatisfy(key -> assertThat(client.get(key).text()).startsWith(key));
			assertThat(this.deleted).as("deleted, at node %d", node)
				.allSatisfy(key -> assertThat(client.get(key).status()).isEqualTo(404));
		}
	}

}
