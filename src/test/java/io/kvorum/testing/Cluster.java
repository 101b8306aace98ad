package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.cluster.Placement;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Key;
import io.kvorum.testing.NodeProcess.Exit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.util.FileSystemUtils;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The nodes 1, 2, … of a cluster, each a process, that the tests of a class share, in
 * {@code target/it/<class>}: started together, all there before each test, whatever the
 * one before did to them. A failure prints what they said.
 */
public final class Cluster
		implements BeforeAllCallback, BeforeEachCallback, AfterTestExecutionCallback, AfterAllCallback, AutoCloseable {

	private static final int FACTOR = 3;

	/** Of each node; each has a stream to each peer, beside one for large values. */
	private static final int EVENT_LOOPS = 2;

	/** Far beyond the second in which a peer that is back is found. */
	private static final Duration TOGETHER_DEADLINE = Duration.ofSeconds(60);

	private static final Duration CONVERGED_DEADLINE = Duration.ofSeconds(60);

	private static final Duration AWAY_DEADLINE = Duration.ofSeconds(20);

	private final List<Seat> seats;

	private final Placement placement;

	private Path directory = Path.of("target", "it");

	/**
	 * A cluster that is not started.
	 * @param properties of all nodes, each {@code name=value}
	 */
	public Cluster(int nodes, String... properties) {
		List<String> addresses = IntStream.range(0, nodes).mapToObj(_ -> "http://127.0.0.1:" + Ports.free()).toList();
		this.placement = new RendezvousPlacement(Topology.of(addresses, FACTOR));
		this.seats = addresses.stream().map(address -> new Seat(address, addresses, properties)).toList();
	}

	@Override
	public void beforeAll(ExtensionContext context) throws IOException, InterruptedException {
		this.directory = Nodes.directoryOf(context);
		FileSystemUtils.deleteRecursively(this.directory);
		heal();
	}

	@Override
	public void beforeEach(ExtensionContext context) throws InterruptedException {
		heal();
	}

	/**
	 * Whoever was paused, has ended or has other properties is as at first. One that has
	 * ended by itself is a failure.
	 */
	public void heal() throws InterruptedException {
		for (Seat seat : this.seats) {
			seat.resume();
			if (seat.isSpecial) {
				seat.kill9();
			}
			if (!seat.isRunning()) {
				seat.assertWasEnded();
				seat.launch();
			}
		}
		for (Seat seat : this.seats) {
			seat.process().awaitReady();
		}
		awaitTogether();
	}

	@Override
	public void afterTestExecution(ExtensionContext context) {
		context.getExecutionException().ifPresent(_ -> System.out.println(logTails()));
	}

	@Override
	public void afterAll(ExtensionContext context) {
		close();
		this.seats.forEach(Seat::deleteData);
	}

	@Override
	public void close() {
		this.seats.forEach(Seat::kill9);
	}

	private Seat seat(int node) {
		return this.seats.get(node - 1);
	}

	/** The numbers of all nodes. */
	public List<Integer> nodes() {
		return IntStream.rangeClosed(1, this.seats.size()).boxed().toList();
	}

	/** The numbers of all nodes but this one. */
	public List<Integer> others(int node) {
		return nodes().stream().filter(other -> other != node).toList();
	}

	/** Of the node with this number, also after a restart. */
	public KvorumClient client(int node) {
		return seat(node).client;
	}

	public NodeProcess node(int node) {
		return seat(node).process();
	}

	/** The replica address of a node. */
	public String address(int node) {
		return seat(node).address;
	}

	/** The addresses of these nodes as {@code kvorum.cluster.nodes} has them. */
	public String addresses(List<Integer> nodes) {
		return nodes.stream().map(this::address).collect(Collectors.joining(","));
	}

	/** SIGKILL. */
	public void kill9(int node) {
		seat(node).kill9();
	}

	/** SIGTERM, and waits for the end. */
	public Exit stop(int node) throws InterruptedException {
		seat(node).wasEnded = true;
		return node(node).stop();
	}

	/** SIGSTOP: connections stay open, nothing answers. */
	public void pause(int node) throws InterruptedException {
		seat(node).pause();
	}

	/** SIGCONT. */
	public void resume(int node) throws InterruptedException {
		seat(node).resume();
	}

	/** Starts a node that has ended; returns when it is ready. */
	public void start(int node) throws InterruptedException {
		seat(node).launch().awaitReady();
	}

	/**
	 * Kills a node and starts it with other properties, which are gone with the test.
	 */
	public void restartWith(int node, String... properties) throws InterruptedException {
		restartAs(node, spec(node).with(properties));
	}

	/**
	 * Cuts the connections between nodes that go to this one's replica port; returns how
	 * many there were, none where this machine cannot.
	 */
	public long cut(int node) throws InterruptedException {
		return Ports.cutConnectionsTo(URI.create(address(node)).getPort());
	}

	/** Kills a node and starts it in another way, until the test is over. */
	public void restartAs(int node, NodeSpec spec) throws InterruptedException {
		kill9(node);
		seat(node).launchAs(spec).awaitReady();
	}

	/**
	 * Kills a node and starts it in a way that makes the others refuse it, until the test
	 * is over: it answers, and does not get ready.
	 */
	public void restartAsStranger(int node, NodeSpec spec) throws InterruptedException {
		kill9(node);
		seat(node).launchAs(spec).awaitAnswers();
	}

	/** Kills a node and takes its data away; the next test starts it with none. */
	public void wipe(int node) {
		kill9(node);
		seat(node).deleteData();
	}

	public NodeSpec spec(int node) {
		return seat(node).spec();
	}

	/**
	 * Waits until all nodes say of all others that they are there, and all vote: a new
	 * cluster agrees on being new, a node that was wiped is rebuilt.
	 */
	public Duration awaitTogether() throws InterruptedException {
		return Poll.until(() -> "all nodes are there and members: " + peersOf(nodes()) + " " + convergenceOf(nodes()),
				TOGETHER_DEADLINE, () -> nodes().stream().allMatch(this::isTogether));
	}

	/** Waits until all nodes say that they are equal to all others, and keep no hints. */
	public Duration awaitConverged() throws InterruptedException {
		return Poll.until(() -> "all nodes have converged: " + convergenceOf(nodes()), CONVERGED_DEADLINE,
				() -> nodes().stream().allMatch(node -> Boolean.TRUE.equals(convergence(node).get("converged"))));
	}

	/** Whether a node votes. */
	public boolean isMember(int node) {
		return isMember(convergence(node));
	}

	private static boolean isMember(Map<String, Object> convergence) {
		return "member".equals(convergence.get("membership")) && !convergence.containsKey("doubt");
	}

	/** What a node says of how far it has converged. */
	public Map<String, Object> convergence(int node) {
		return detailsOf(node, "convergence");
	}

	/** What a node says of its store. */
	public Map<String, Object> storage(int node) {
		return detailsOf(node, "storage");
	}

	private Map<Integer, Map<String, Object>> convergenceOf(List<Integer> witnesses) {
		return witnesses.stream().collect(Collectors.toMap(witness -> witness, this::convergence));
	}

	/** Whether a node votes and has all peers, by one look at its health. */
	private boolean isTogether(int node) {
		Object health = health(node);
		return peersIn(health).values().stream().allMatch("there"::equals)
				&& isMember(detailsIn(health, "convergence"));
	}

	/** Waits until the others that run say that a node is away. */
	public Duration awaitAway(int node) throws InterruptedException {
		List<Integer> witnesses = others(node).stream().filter(other -> seat(other).isAnswering()).toList();
		return Poll.until(() -> "node " + node + " is away: " + peersOf(witnesses), AWAY_DEADLINE,
				() -> witnesses.stream()
					.allMatch(witness -> peers(witness).getOrDefault(address(node), "").startsWith("away")));
	}

	/** Pauses a node and waits until the others know. */
	public void silence(int node) throws InterruptedException {
		pause(node);
		awaitAway(node);
	}

	private Map<Integer, Map<String, String>> peersOf(List<Integer> witnesses) {
		return witnesses.stream().collect(Collectors.toMap(witness -> witness, this::peers));
	}

	/** What a node says of its peers, by address. */
	public Map<String, String> peers(int node) {
		return peersIn(health(node));
	}

	private static Map<String, String> peersIn(Object health) {
		Object peers = member(detailsIn(health, "cluster"), "peers");
		Map<String, String> states = new TreeMap<>();
		((Map<?, ?>) peers).forEach((address, state) -> states.put(String.valueOf(address), String.valueOf(state)));
		return states;
	}

	private Map<String, Object> detailsOf(int node, String component) {
		return detailsIn(health(node), component);
	}

	private Object health(int node) {
		return client(node).exchange("GET", "/actuator/health").json();
	}

	private static Map<String, Object> detailsIn(Object health, String component) {
		Map<String, Object> details = new TreeMap<>();
		((Map<?, ?>) member(member(member(health, "components"), component), "details"))
			.forEach((name, detail) -> details.put(String.valueOf(name), detail));
		return details;
	}

	private static Object member(@Nullable Object object, String name) {
		Object member = (object instanceof Map<?, ?> map) ? map.get(name) : null;
		if (member == null) {
			throw new AssertionError("The health has no \"" + name + "\": " + object);
		}
		return member;
	}

	/** The nodes of the first replicas of a key, by the placement. */
	public List<Integer> replicasOf(String key, int from) {
		return this.placement.replicasOf(Key.of(key.getBytes(UTF_8)), from)
			.stream()
			.map(member -> nodes().stream().filter(node -> address(node).equals(member.address())).findFirst())
			.map(node -> node.orElseThrow())
			.toList();
	}

	/** A key that begins with this name and has its first replicas on these nodes. */
	public String keyOn(String name, Integer... nodes) {
		for (int i = 0;; i++) {
			String key = name + " " + i;
			if (Set.copyOf(replicasOf(key, nodes.length)).equals(Set.of(nodes))) {
				return key;
			}
		}
	}

	/**
	 * What a node holds itself: it is asked while all others are stopped and cannot
	 * answer in its place.
	 */
	public Map<String, Answer> heldBy(int node, List<String> keys) throws InterruptedException {
		for (int other : others(node)) {
			pause(other);
		}
		for (int other : others(node)) {
			awaitAway(other);
		}
		Map<String, Answer> held = new LinkedHashMap<>();
		keys.forEach(key -> held.put(key, client(node).get(key, "replicas=1/" + this.seats.size())));
		for (int other : others(node)) {
			resume(other);
		}
		awaitTogether();
		return held;
	}

	/** Of the keys below a name: the same bytes and versions on each node. */
	public void assertSameBelow(String name) {
		List<List<String>> told = new ArrayList<>();
		for (int node : nodes()) {
			RangeAnswer answer = RangeRequest.from(name).to(name + "0").atNode().lines().read(node(node).port());
			assertThat(answer.isWhole()).as("at node %d: %s", node, answer).isTrue();
			told.add(answer.entries().stream().map(entry -> entry + " " + entry.version()).toList());
		}
		assertThat(told).allSatisfy(entries -> assertThat(entries).isEqualTo(told.getFirst()));
	}

	/** What all nodes said last. */
	public String logTails() {
		return this.seats.stream()
			.filter(seat -> !seat.lives.isEmpty())
			.map(seat -> seat.process().logTail())
			.collect(Collectors.joining("\n"));
	}

	/** All that a node has said, before restarts too. */
	public String wholeLog(int node) throws InterruptedException {
		StringBuilder whole = new StringBuilder();
		for (NodeProcess life : seat(node).lives) {
			whole.append(life.log()).append('\n');
		}
		return whole.toString();
	}

	/** The place of a node, which has several processes, one after the other. */
	private final class Seat {

		private final String address;

		private final List<String> properties;

		private final int port = Ports.free();

		private final KvorumClient client = new KvorumClient(this.port);

		private final List<NodeProcess> lives = new ArrayList<>();

		private boolean isPaused;

		/** Whether somebody asked for its end. */
		private boolean wasEnded = true;

		/** Whether it has properties that are not those of the cluster. */
		private boolean isSpecial;

		Seat(String address, List<String> addresses, String... properties) {
			this.address = address;
			this.properties = Stream.concat(Stream.of("server.port=" + this.port, "kvorum.cluster.self=" + address,
					"kvorum.cluster.nodes=" + String.join(",", addresses)), Stream.of(properties))
				.toList();
		}

		NodeSpec spec() {
			return NodeSpec.on(data())
				.withJvm("-Xmx128m", "-Dreactor.netty.ioWorkerCount=" + EVENT_LOOPS)
				.with(this.properties.toArray(String[]::new));
		}

		private Path data() {
			return Cluster.this.directory.resolve("node-" + number());
		}

		private int number() {
			return Cluster.this.seats.indexOf(this) + 1;
		}

		NodeProcess launch() {
			this.isSpecial = false;
			return launch(spec());
		}

		NodeProcess launchAs(NodeSpec special) {
			this.isSpecial = true;
			return launch(special);
		}

		private NodeProcess launch(NodeSpec spec) {
			String name = "node-%d-%d.log".formatted(number(), this.lives.size() + 1);
			this.wasEnded = false;
			this.lives.add(NodeProcess.launch(spec, NodeLog.createFile(Cluster.this.directory, name)));
			return process();
		}

		NodeProcess process() {
			return this.lives.getLast();
		}

		boolean isRunning() {
			return !this.lives.isEmpty() && process().isAlive();
		}

		boolean isAnswering() {
			return isRunning() && !this.isPaused;
		}

		void pause() throws InterruptedException {
			process().pause();
			this.isPaused = true;
		}

		void resume() throws InterruptedException {
			if (this.isPaused && isRunning()) {
				process().resume();
			}
			this.isPaused = false;
		}

		void assertWasEnded() {
			if (!this.wasEnded) {
				throw new AssertionError("node " + number() + " has ended by itself. " + process().logTail());
			}
		}

		void kill9() {
			this.wasEnded = true;
			if (!this.lives.isEmpty()) {
				process().kill9();
			}
			this.isPaused = false;
		}

		void deleteData() {
			try {
				FileSystemUtils.deleteRecursively(data());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
