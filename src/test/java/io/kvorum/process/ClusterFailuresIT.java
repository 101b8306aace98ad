package io.kvorum.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.CommandLine;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Load;
import io.kvorum.testing.NodeProcess.Exit;
import io.kvorum.testing.Poll;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What clients of the other nodes are told while a node fails. Every answer has an upper
 * bound, the deadline of its request, and a second for a busy machine.
 */
@DisplayName("Nodes that fail")
class ClusterFailuresIT {

	private static final int ENDED_BY_SIGTERM = 143;

	private static final Duration SLACK = Duration.ofSeconds(1);

	private static final Duration VIEW_DEADLINE = Duration.ofSeconds(2);

	private static final Duration BACK_DEADLINE = Duration.ofSeconds(10);

	private static final Duration LOAD_DEADLINE = Duration.ofSeconds(60);

	private static final int LOAD_STEP = 500;

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	@Test
	@DisplayName("a replica is down: all operations at the default level succeed; those that need it get 504 and change nothing")
	void downBefore() throws InterruptedException {
		putOnAll("down");
		cluster.kill9(3);
		cluster.awaitAway(3);

		assertAllSucceed("down works", List.of(1, 2));
		for (Op op : Op.values()) {
			assertNotApplied(send(op, 1, "down", "replicas=3/3"), 3, Map.of(3, List.of("away")));
		}
		cluster.heal();
		assertUnchanged("down");
	}

	@Test
	@DisplayName("any node shows all nodes; one that is down, or is silent, within two seconds")
	void shown() throws InterruptedException {
		for (int asked : cluster.nodes()) {
			awaitShown(asked, Map.of(1, "member", 2, "member", 3, "member"));
		}
		cluster.kill9(3);
		awaitShown(1, Map.of(1, "member", 2, "member", 3, "away"));
		CommandLine status = CommandLine.run(new byte[0], "status", "--url",
				"http://127.0.0.1:%d,http://127.0.0.1:%d".formatted(cluster.node(3).port(), cluster.node(1).port()));
		assertThat(status.exitCode()).isEqualTo(1);
		assertThat(status.printed()).contains(cluster.address(3) + " is away: ");
		cluster.heal();
		cluster.pause(2);
		awaitShown(3, Map.of(1, "member", 2, "away", 3, "member"));
		cluster.resume(2);
	}

	private static void awaitShown(int asked, Map<Integer, String> states) throws InterruptedException {
		Poll.until(() -> "node %d shows %s and not %s".formatted(asked, states, statesShownBy(asked)),
				VIEW_DEADLINE.plus(SLACK), () -> statesShownBy(asked).equals(states));
	}

	/** The states of the nodes by their number. */
	private static Map<Integer, String> statesShownBy(int asked) {
		Answer answer = cluster.client(asked).withPatience(VIEW_DEADLINE.plus(SLACK)).exchange("GET", "/v0/cluster");
		assertThat(answer.status()).isEqualTo(200);
		JsonNode nodes = new JsonMapper().readTree(answer.body()).path("nodes");
		Map<String, String> states = new HashMap<>();
		nodes.forEach(node -> states.put(node.path("address").asString(), node.path("state").asString()));
		assertThat(states).hasSize(3);
		return cluster.nodes()
			.stream()
			.collect(
					Collectors.toMap(Function.identity(), it -> states.getOrDefault(cluster.address(it), "not shown")));
	}

	@Test
	@DisplayName("kill -9 of a replica under load: no request at the others fails; restarted it is used again")
	void killedUnderLoad() throws InterruptedException {
		try (Load load = Load.on(cluster, List.of(1, 2), 4)) {
			awaitMore(load);
			cluster.kill9(3);
			awaitMore(load);
			cluster.start(3);
			Duration back = awaitBack(3);
			awaitMore(load);
			assertNoFailures(load);
			System.out.printf("kill -9 under load: %d requests, slowest %d ms, back %d ms after it was ready%n",
					load.succeeded(), load.slowestMillis(), back.toMillis());
		}
	}

	@Test
	@DisplayName("a replica is silent and nobody knows yet: all operations at the default level succeed, and the load does not notice")
	void silentUnderLoad() throws InterruptedException {
		try (Load load = Load.on(cluster, List.of(1, 2), 4)) {
			awaitMore(load);
			cluster.pause(3);
			awaitMore(load);
			Duration noticed = cluster.awaitAway(3);
			awaitMore(load);
			cluster.resume(3);
			Duration back = awaitBack(3);
			awaitMore(load);
			assertNoFailures(load);
			System.out.printf(
					"SIGSTOP under load: %d requests, slowest %d ms, last look for it %d ms, back after %d ms%n",
					load.succeeded(), load.slowestMillis(), noticed.toMillis(), back.toMillis());
		}
	}

	@Test
	@DisplayName("a replica is silent, nobody knows yet, and the operation needs it: 504 within the deadline; a write is of unknown outcome, and then one or the other for good")
	void silentBeforeItIsNoticed() throws InterruptedException {
		List<String> keys = Stream.of(Op.values()).map(op -> cluster.keyOn("needed " + op, 1, 3)).toList();
		for (String key : keys) {
			assertSucceeds(send(Op.PUT, 1, key, "replicas=2/2"));
		}
		cluster.pause(3);
		List<Result> results = Together.run(3, i -> () -> send(Op.values()[i], 1, keys.get(i), "replicas=2/2"));

		for (Result result : results) {
			boolean isWrite = result.op != Op.GET;
			assertFails(result, 2, isWrite ? "unknown" : "not-applied",
					Map.of(3, List.of("timeout", "disconnected", "away")));
			assertThat(result.answer.json()).as(result.toString()).containsEntry("acknowledged", 1);
		}
		cluster.heal();
		for (String key : keys) {
			Answer first = cluster.client(2).get(key, "replicas=2/2");
			assertThat(first.status()).isIn(200, 404);
			Poll.until(() -> "all nodes agree about " + key, BACK_DEADLINE,
					() -> cluster.nodes()
						.stream()
						.map(node -> cluster.client(node).get(key, "replicas=1/2"))
						.allMatch(answer -> answer.status() == first.status()
								&& (first.status() == 404 || Arrays.equals(answer.body(), first.body()))));
		}
	}

	@Test
	@DisplayName("a replica is silent and known to be: all goes on; what needs it fails at once, is not applied, and never shows")
	void silentAfterItIsNoticed() throws InterruptedException {
		String key = cluster.keyOn("silent", 1, 3);
		assertSucceeds(send(Op.PUT, 1, key, "replicas=2/2"));
		Answer before = cluster.client(1).get(key, "replicas=2/2");
		cluster.silence(3);

		assertAllSucceed("silent works", List.of(1, 2));
		for (Op op : Op.values()) {
			assertNotApplied(send(op, 1, key, "replicas=2/2"), 2, Map.of(3, List.of("away")));
			assertNotApplied(send(op, 2, key, "replicas=2/2"), 2, Map.of(3, List.of("away")));
		}
		cluster.resume(3);
		System.out.printf("SIGCONT: used again after %d ms%n", awaitBack(3).toMillis());
		assertAllSucceed("silent works", List.of(3));
		for (int node : cluster.nodes()) {
			assertThat(cluster.client(node).get(key, "replicas=2/2").header("ETag")).isEqualTo(before.header("ETag"));
		}
	}

	@Test
	@DisplayName("two of three are down: 504 that says which, nothing is applied; what one replica can do goes on; a restart ends it")
	void twoDown() throws InterruptedException {
		putOnAll("minority");
		String own = cluster.keyOn("minority alone", 1);
		cluster.kill9(2);
		cluster.kill9(3);
		cluster.awaitAway(2);
		cluster.awaitAway(3);

		for (Op op : Op.values()) {
			assertNotApplied(send(op, 1, "minority"), 2, Map.of(2, List.of("away"), 3, List.of("away")));
		}
		assertThat(send(Op.GET, 1, "minority", "replicas=1/3").answer.text()).isEqualTo("before");
		assertSucceeds(send(Op.PUT, 1, own, "replicas=1/1"));
		assertSucceeds(send(Op.GET, 1, own, "replicas=1/1"));
		assertSucceeds(send(Op.DELETE, 1, own, "replicas=1/1"));

		cluster.start(2);
		System.out.printf("restart: used again %d ms after it was ready%n", Poll
			.until(() -> "a majority serves", BACK_DEADLINE, () -> cluster.client(1).get("minority").status() == 200)
			.toMillis());
		assertAllSucceed("majority", List.of(1, 2));
		cluster.heal();
		assertUnchanged("minority");
	}

	@Test
	@DisplayName("two of three are silent and nobody knows yet: 504 within the deadline, nothing is applied, and never shows")
	void twoSilent() throws InterruptedException {
		putOnAll("silent minority");
		cluster.pause(2);
		cluster.pause(3);
		List<Result> results = Together.run(3, i -> () -> send(Op.values()[i], 1, "silent minority"));

		for (Result result : results) {
			List<String> reasons = List.of("timeout", "disconnected", "away", "pending");
			assertNotApplied(result, 2, Map.of(2, reasons, 3, reasons));
		}
		cluster.heal();
		assertUnchanged("silent minority");
	}

	@Test
	@DisplayName("a replica has no space: all operations at the other nodes succeed; a write that needs it says so")
	void noSpace() throws InterruptedException {
		putOnAll("full");
		cluster.restartWith(3, "kvorum.storage.min-free-space=1000TB");
		cluster.awaitTogether();

		assertAllSucceed("full works", List.of(1, 2));
		assertSucceeds(send(Op.GET, 3, "full"));
		for (Op op : List.of(Op.PUT, Op.DELETE)) {
			Result result = send(op, 1, "full", "replicas=3/3");
			assertThat(result.answer.status()).as(result.toString()).isEqualTo(507);
			assertProblem(result, 3, "unknown", Map.of(3, List.of("no-space")));
			Result there = send(op, 3, "full");
			assertThat(there.answer.status()).as(there.toString()).isIn(op.success, 507);
		}
	}

	@Test
	@DisplayName("a block of a replica is damaged: all operations succeed everywhere; the replica alone says 504, never 404 or other bytes")
	void damagedBlock() throws InterruptedException, IOException {
		Map<String, byte[]> values = new HashMap<>();
		Random random = new Random(1);
		for (int i = 0; i < 400; i++) {
			byte[] value = new byte[1000];
			random.nextBytes(value);
			values.put("block %03d".formatted(i), value);
		}
		values.forEach(
				(key, value) -> assertThat(cluster.client(1).put(key, value, "replicas=3/3").status()).isEqualTo(201));
		cluster.stop(3);
		flip(largestTable(cluster.spec(3).data()));
		cluster.start(3);
		cluster.awaitTogether();

		for (int node : cluster.nodes()) {
			values.forEach((key, value) -> assertHas(cluster.client(node).get(key), key, value));
		}
		List<String> unreadable = cluster.heldBy(3, List.copyOf(values.keySet()))
			.entrySet()
			.stream()
			.filter(held -> isUnreadable(held.getValue(), held.getKey(), values))
			.map(Map.Entry::getKey)
			.toList();
		assertThat(unreadable).hasSizeBetween(1, 50);
		assertSucceeds(send(Op.DELETE, 1, unreadable.getFirst()));
		assertThat(cluster.client(3).get(unreadable.getFirst()).status()).isEqualTo(404);
		assertSucceeds(send(Op.PUT, 3, unreadable.getLast()));
		assertSucceeds(send(Op.GET, 3, unreadable.getLast()));
		cluster.wipe(3);
	}

	@Test
	@DisplayName("kill -9 of all nodes at once under load: whatever was acknowledged is there after a restart")
	void allKilled() throws InterruptedException {
		List<String> keys = IntStream.range(0, 100).mapToObj(i -> "all killed " + i).toList();
		for (int i = 0; i < keys.size(); i++) {
			Answer answer = cluster.client(1 + i % 3).put(keys.get(i), "value " + i);
			assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
		}
		cluster.nodes().forEach(cluster::kill9);
		cluster.heal();

		for (int i = 0; i < keys.size(); i++) {
			for (int node : cluster.nodes()) {
				assertThat(cluster.client(node).get(keys.get(i)).text()).isEqualTo("value " + i);
			}
		}
	}

	@Test
	@DisplayName("SIGTERM of a node under load: no request at the others fails, it ends in under 10 s, and no log has more than that it is away")
	void stoppedUnderLoad() throws InterruptedException {
		Map<Integer, Integer> saidBefore = new HashMap<>();
		for (int node : cluster.nodes()) {
			saidBefore.put(node, cluster.node(node).log().length());
		}
		try (Load load = Load.on(cluster, List.of(1, 2), 6)) {
			awaitMore(load);
			Exit exit = cluster.stop(3);
			awaitMore(load);
			assertNoFailures(load);
			System.out.printf("SIGTERM under load: %d requests, slowest %d ms, ended after %d ms%n", load.succeeded(),
					load.slowestMillis(), exit.after().toMillis());
			assertThat(exit.code()).isEqualTo(ENDED_BY_SIGTERM);
			assertThat(exit.after()).isLessThan(Duration.ofSeconds(10));
		}
		for (int node : cluster.nodes()) {
			String said = cluster.node(node).log().substring(saidBefore.getOrDefault(node, 0));
			assertThat(said.lines().filter(line -> line.contains("ERROR") || line.contains("WARN"))).as("node %d", node)
				.allMatch(line -> node != 3 && line.contains(cluster.address(3) + " is away: "));
		}
	}

	private static void putOnAll(String key) {
		Answer answer = cluster.client(1).put(key, "before", "replicas=3/3");
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
	}

	private static void assertUnchanged(String key) {
		for (int node : cluster.nodes()) {
			assertThat(cluster.client(node).get(key).text()).as("at node %d", node).isEqualTo("before");
		}
	}

	private static void awaitMore(Load load) throws InterruptedException {
		long enough = load.succeeded() + LOAD_STEP;
		Poll.until(() -> LOAD_STEP + " more requests succeed", LOAD_DEADLINE, () -> load.succeeded() >= enough);
	}

	private static void assertNoFailures(Load load) throws InterruptedException {
		assertThat(load.stop()).isEmpty();
		assertThat(load.slowestMillis()).isLessThan(Op.PUT.deadline.plus(SLACK).toMillis());
	}

	private static Duration awaitBack(int node) throws InterruptedException {
		return Poll.until(() -> "node " + node + " is back", BACK_DEADLINE,
				() -> cluster.others(node)
					.stream()
					.allMatch(other -> "there".equals(cluster.peers(other).get(cluster.address(node)))));
	}

	private static void assertAllSucceed(String name, List<Integer> nodes) {
		for (int node : nodes) {
			for (int i = 0; i < 20; i++) {
				String key = name + " " + i;
				assertSucceeds(send(Op.PUT, node, key));
				assertSucceeds(send(Op.GET, node, key));
				assertSucceeds(send(Op.DELETE, node, key));
				assertThat(send(Op.GET, node, key).answer.status()).isEqualTo(404);
			}
		}
	}

	private static Result send(Op op, int node, String key, String... parameters) {
		KvorumClient client = cluster.client(node);
		long start = System.nanoTime();
		Answer answer = switch (op) {
			case GET -> client.get(key, parameters);
			case PUT -> client.put(key, "after", parameters);
			case DELETE -> client.delete(key, parameters);
		};
		return new Result(op, node, answer, Duration.ofNanos(System.nanoTime() - start));
	}

	private static void assertSucceeds(Result result) {
		assertThat(result.answer.status()).as(result.toString()).isEqualTo(result.op.success);
		assertThat(result.took).as(result.toString()).isLessThan(result.op.deadline.plus(SLACK));
	}

	private static void assertNotApplied(Result result, int required, Map<Integer, List<String>> replicas) {
		assertFails(result, required, "not-applied", replicas);
	}

	private static void assertFails(Result result, int required, String outcome, Map<Integer, List<String>> replicas) {
		EntityApiIT.assertProblem(result.answer, 504);
		assertProblem(result, required, outcome, replicas);
	}

	/** The reasons of each node that has to be told of are one of these. */
	private static void assertProblem(Result result, int required, String outcome,
			Map<Integer, List<String>> replicas) {
		Map<String, Object> problem = result.answer.json();
		assertThat(problem).as(result.toString())
			.containsEntry("required", required)
			.containsEntry("outcome", outcome)
			.containsEntry("retryable", true);
		assertThat((Integer) problem.get("acknowledged")).as(result.toString()).isBetween(0, required - 1);
		Map<Object, Object> reasons = new HashMap<>();
		if (problem.get("replicas") instanceof List<?> list) {
			list.forEach(
					replica -> reasons.put(((Map<?, ?>) replica).get("node"), ((Map<?, ?>) replica).get("outcome")));
		}
		replicas.forEach((node, expected) -> assertThat(reasons.get(cluster.address(node))).as(result.toString())
			.isIn(expected.toArray()));
		assertThat(result.took).as(result.toString()).isLessThan(result.op.deadline.plus(SLACK));
	}

	private static void assertHas(Answer answer, String key, byte[] value) {
		assertThat(answer.status()).as("%s: %s", key, answer).isEqualTo(200);
		assertThat(Arrays.equals(answer.body(), value)).as(key).isTrue();
	}

	private static boolean isUnreadable(Answer answer, String key, Map<String, byte[]> values) {
		if (answer.status() == 504) {
			assertThat(answer.text()).contains("unreadable");
			return true;
		}
		assertHas(answer, key, values.getOrDefault(key, new byte[0]));
		return false;
	}

	private static Path largestTable(Path data) throws IOException {
		try (Stream<Path> files = Files.walk(data)) {
			return files.filter(file -> file.getFileName().toString().endsWith(".sst"))
				.max(Comparator.comparingLong(file -> file.toFile().length()))
				.orElseThrow();
		}
	}

	private static void flip(Path file) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			ByteBuffer one = ByteBuffer.allocate(1);
			channel.read(one, channel.size() / 2);
			one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
			channel.write(one, channel.size() / 2);
		}
	}

	private enum Op {

		GET(200, Duration.ofSeconds(1)), PUT(201, Duration.ofSeconds(2)), DELETE(202, Duration.ofSeconds(2));

		private final int success;

		private final Duration deadline;

		Op(int success, Duration deadline) {
			this.success = success;
			this.deadline = deadline;
		}

	}

	private record Result(Op op, int node, Answer answer, Duration took) {

		@Override
		public String toString() {
			return "%s at node %d after %d ms: %s".formatted(this.op, this.node, this.took.toMillis(), this.answer);
		}

	}

}
