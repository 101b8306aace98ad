package io.kvorum.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Generator;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SortedEntries;
import io.kvorum.testing.Workers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

@Order(1) // It is long, and of the last by its name.
@DisplayName("Ranges over three nodes")
class RangeClusterIT {

	private static final List<String> ALL_REPLICAS = List.of("1/1", "1/2", "2/2", "1/3", "2/3", "3/3");

	/** Any two of these meet. */
	private static final List<String> MAJORITIES = List.of("2/3", "3/3");

	/** A second for the shortest ttl, and a busy machine. */
	private static final Duration SETTLE_DEADLINE = Duration.ofSeconds(30);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3,
			"management.endpoints.web.exposure.include=health,info,metrics,prometheus,convergence",
			"management.endpoint.convergence.access=unrestricted");

	/**
	 * Nodes compare themselves after a start, and then give a newer entry with fewer
	 * copies to all that have an older one.
	 */
	@BeforeEach
	void awaitConverged() throws InterruptedException {
		cluster.awaitConverged();
	}

	@SeededTest
	@DisplayName("puts, deletes and ttls at any level by any node: any range at any node, of node and cluster, is that of a sorted map")
	void likeASortedMap(long seed) throws InterruptedException {
		History history = new History("sorted map " + seed, new Generator(seed));
		for (int round = 0; round < 3; round++) {
			history.write("key", 120, ALL_REPLICAS, cluster.nodes());
			history.awaitSettled();
			assertAllRangesAre(history, 12);
		}
	}

	@SeededTest
	@LongTest
	@DisplayName("one of three is killed: ranges have all that a majority acknowledged, before and since, and nothing that never was; once it is back they are exact again")
	void oneAway(long seed) throws InterruptedException {
		History history = new History("one away " + seed, new Generator(seed));
		history.write("any level", 120, ALL_REPLICAS, cluster.nodes());
		history.write("majority", 120, MAJORITIES, cluster.nodes());
		history.awaitSettled();
		int away = 1 + (int) (seed % 3);
		cluster.kill9(away);
		assertHasMajorities(history, cluster.others(away));

		cluster.awaitAway(away);
		history.write("majority", 60, List.of("2/3"), cluster.others(away));
		history.awaitExpired(cluster.others(away));
		assertHasMajorities(history, cluster.others(away));

		cluster.start(away);
		cluster.awaitTogether();
		for (int node : List.of(away, 1, 2, 3)) {
			for (RangeRequest request : List.of(history.all(), history.all().lines())) {
				RangeAnswer answer = request.read(cluster.node(node).port());
				assertThat(answer.isWhole()).isTrue();
				assertThat(history.expected().differenceTo(answer.entries())).as("at node %d", node).isEmpty();
			}
		}
	}

	@Test
	@DisplayName("A listing without values has each key once, whatever its copies, with the size of its newest value, at every node")
	void listing() {
		Map<String, Integer> sizes = new TreeMap<>();
		for (int i = 0; i < 60; i++) {
			String key = "listed/%02d/%d".formatted(i / 6, i);
			int size = (i % 7 == 0) ? 50_000 : i;
			cluster.client(1).put(key, new byte[i % 3]);
			cluster.client(1 + i % 3).put(key, new byte[size], "replicas=" + MAJORITIES.get(i % 2));
			sizes.put(key, size);
		}
		for (int node : cluster.nodes()) {
			String lines = cluster.client(node)
				.exchange("GET", "/v0/entities?prefix=listed/&values=false", "Accept", RangeRequest.NDJSON)
				.text();
			sizes.forEach((key, size) -> assertThat(lines).containsOnlyOnce("\"id\":\"%s\"".formatted(key))
				.containsPattern("\"id\":\"%s\".*\"size\":%d}".formatted(key, size)));
			assertThat(cluster.client(node).exchange("GET", "/v0/entities?prefix=listed/&separator=/").text())
				.isEqualTo(IntStream.range(0, 10).mapToObj("listed/%02d/\n"::formatted).collect(Collectors.joining()));
		}
	}

	@Test
	@DisplayName("A range or a listing without room for a key is empty at every node, however its bounds say it")
	void noRoom() {
		assertThat(cluster.client(1).put("room", "value").status()).isEqualTo(201);
		for (int node : cluster.nodes()) {
			for (String bounds : List.of("start=room&end=room", "end=&values=false", "end=&prefix=room",
					"start=roon&prefix=room", "end=roo&prefix=room", "end=&prefix=room&separator=o")) {
				Answer answer = cluster.client(node).exchange("GET", "/v0/entities?" + bounds);
				assertThat(answer.status()).as("%s at node %d", bounds, node).isEqualTo(200);
				assertThat(answer.text()).as("%s at node %d", bounds, node).isEmpty();
			}
		}
	}

	@Test
	@DisplayName("written to one, two or three: each node has what it is a replica of, the cluster has it once, with the newest version of all")
	void eachOnItsReplicas() {
		List<String> keys = IntStream.range(0, 30).mapToObj("copies/%02d"::formatted).toList();
		SortedEntries newest = new SortedEntries();
		Map<Integer, SortedEntries> held = new HashMap<>();
		for (String key : keys) {
			for (int from = 3; from >= 1; from--) {
				RangeEntry entry = RangeEntry.of(key, "on " + from);
				assertThat(cluster.client(1).put(key, "on " + from, "replicas=" + from + "/" + from).status())
					.isEqualTo(201);
				newest.put(key, entry);
				cluster.replicasOf(key, from)
					.forEach(node -> held.computeIfAbsent(node, _ -> new SortedEntries()).put(key, entry));
			}
		}

		held.forEach((node, entries) -> {
			int port = cluster.node(node).port();
			assertThat(RangeRequest.below("copies").atNode().read(port).entries()).isEqualTo(entries.all());
			assertThat(RangeRequest.below("copies").read(port).entries()).isEqualTo(newest.all());
			assertThat(RangeRequest.below("copies").lines().read(port).entries()).isEqualTo(newest.all())
				.allMatch(entry -> cluster.client(1)
					.get(entry.key(), "replicas=3/3")
					.header("ETag")
					.equals('"' + entry.version() + '"'));
		});
	}

	@Test
	@DisplayName("deleted on one replica only, the newest: not in the range of the cluster, though two nodes still hold a value")
	void deletedOnOne() {
		String key = "deleted on one/key";
		cluster.client(1).put(key, "value", "replicas=3/3");
		cluster.client(1).delete(key, "replicas=1/1");

		for (int node : cluster.nodes()) {
			RangeAnswer answer = RangeRequest.below("deleted on one").read(cluster.node(node).port());
			assertThat(answer.entries()).isEmpty();
			assertThat(answer.isWhole()).isTrue();
			assertThat(RangeRequest.below("deleted on one").atNode().read(cluster.node(node).port()).entries())
				.hasSize(cluster.replicasOf(key, 1).contains(node) ? 0 : 1);
		}
	}

	@Test
	@DisplayName("deleted on one replica only, and repaired: it ends on the other nodes, too")
	void deletedOnOneAndRepaired() throws InterruptedException {
		String key = "repaired/key";
		cluster.client(1).put(key, "value", "replicas=3/3");
		cluster.client(1).delete(key, "replicas=1/1");

		for (int node : cluster.nodes()) {
			assertThat(cluster.client(node).exchange("POST", "/actuator/convergence").status()).isEqualTo(200);
		}
		for (int node : cluster.nodes()) {
			Poll.until(() -> "nothing below the name at node " + node, SETTLE_DEADLINE,
					() -> RangeRequest.below("repaired").atNode().read(cluster.node(node).port()).entries().isEmpty());
		}
	}

	@Test
	@LongTest
	@DisplayName("writes during ranges: what nobody touches is in each exactly once; what was acknowledged before is in it or a newer value; nothing else")
	void writesMeanwhile() throws InterruptedException {
		SortedEntries untouched = new SortedEntries();
		for (int i = 0; i < 600; i++) {
			String key = "meanwhile/%03d untouched".formatted(i);
			byte[] value = new byte[500 + (i % 20 == 0 ? 30_000 : 0)];
			assertThat(cluster.client(1 + i % 3).put(key, value).status()).isEqualTo(201);
			untouched.put(key, value);
		}

		try (Counters counters = new Counters("meanwhile", 8)) {
			for (int round = 0; round < 12; round++) {
				Map<String, Integer> before = counters.acknowledged();
				RangeRequest request = RangeRequest.below("meanwhile");
				RangeAnswer answer = ((round % 2 == 0) ? request : request.lines())
					.read(cluster.node(1 + round % 3).port());
				assertThat(answer.isWhole()).isTrue();
				assertAscends(answer);
				List<RangeEntry> touched = answer.entries().stream().filter(Counters::isOneOf).toList();
				assertThat(untouched
					.differenceTo(answer.entries().stream().filter(entry -> !touched.contains(entry)).toList()))
					.isEmpty();
				Map<String, Integer> found = new HashMap<>();
				touched.forEach(entry -> found.put(entry.key(), Counters.numberOf(entry)));
				before.forEach((key, number) -> assertThat(found.getOrDefault(key, -1)).as(key)
					.isGreaterThanOrEqualTo(number));
			}
			assertThat(counters.stop()).isEmpty();
			assertThat(counters.acknowledged()).hasSize(8);
		}
	}

	@Test
	@DisplayName("two of three are down: 504 before the first byte, in both formats; what the node holds is still told; a restart ends it")
	void twoDown() throws InterruptedException {
		SortedEntries stored = putOnAll("two down", 20);
		cluster.kill9(2);
		cluster.kill9(3);
		assertThat(RangeRequest.below("two down").read(cluster.node(1).port()).status()).isEqualTo(504);

		cluster.awaitAway(2);
		cluster.awaitAway(3);
		assertTooFew("two down");
		assertThat(RangeRequest.below("two down").atNode().read(cluster.node(1).port()).entries())
			.isEqualTo(stored.all());

		cluster.start(2);
		Poll.until(() -> "ranges are served by two of three", SETTLE_DEADLINE,
				() -> RangeRequest.below("two down").read(cluster.node(1).port()).status() == 200);
		assertThat(RangeRequest.below("two down").read(cluster.node(1).port()).entries()).isEqualTo(stored.all());
	}

	@Test
	@DisplayName("two of three are silent and nobody knows yet: 504 before the first byte")
	void twoSilent() throws InterruptedException {
		putOnAll("two silent", 20);
		cluster.pause(2);
		cluster.pause(3);

		assertTooFew("two silent");
	}

	@Test
	@DisplayName("one of three is silent and nobody knows yet: the range is whole")
	void oneSilent() throws InterruptedException {
		SortedEntries stored = putOnAll("one silent", 20);
		cluster.pause(3);

		RangeAnswer answer = RangeRequest.below("one silent").read(cluster.node(1).port());
		assertThat(answer.entries()).isEqualTo(stored.all());
		assertThat(answer.isWhole()).isTrue();
	}

	private static SortedEntries putOnAll(String name, int count) {
		SortedEntries stored = new SortedEntries();
		for (int i = 0; i < count; i++) {
			String key = "%s/%03d".formatted(name, i);
			byte[] value = new Generator(i).bytes(100);
			assertThat(cluster.client(1).put(key, value, "replicas=3/3").status()).isEqualTo(201);
			stored.put(key, value);
		}
		return stored;
	}

	private static void assertTooFew(String name) {
		for (RangeRequest request : List.of(RangeRequest.below(name), RangeRequest.below(name).lines())) {
			Answer answer = request.read(cluster.node(1).port()).problem();
			EntityApiIT.assertProblem(answer, 504);
			assertThat(answer.json()).containsEntry("required", 2);
		}
	}

	private static void assertAscends(RangeAnswer answer) {
		for (int i = 1; i < answer.entries().size(); i++) {
			assertThat(RangeEntry.BY_BYTES.compare(answer.keys().get(i - 1), answer.keys().get(i)))
				.as("%s before %s", answer.keys().get(i - 1), answer.keys().get(i))
				.isNegative();
		}
	}

	private static void assertAllRangesAre(History history, int count) {
		for (int node : cluster.nodes()) {
			for (int i = 0; i < count; i++) {
				history.assertSomeRange(node);
			}
		}
	}

	/** What was written with a majority is exact; of the others an older value may be. */
	private static void assertHasMajorities(History history, List<Integer> nodes) {
		for (int node : nodes) {
			RangeAnswer answer = history.all().lines().read(cluster.node(node).port());
			assertThat(answer.isWhole()).as("at node %d: %s", node, answer).isTrue();
			assertAscends(answer);
			Predicate<RangeEntry> isMajority = entry -> entry.key().startsWith(history.name + "/majority");
			assertThat(history.expected(isMajority).differenceTo(answer.entries().stream().filter(isMajority).toList()))
				.as("at node %d", node)
				.isEmpty();
			assertThat(history.everThere()).containsAll(answer.entries());
		}
	}

	/**
	 * What was acknowledged, one operation after the other; and so what every node holds
	 * when all that is under way has arrived.
	 */
	private static final class History {

		private final String name;

		private final Generator random;

		private final Map<String, List<Write>> writes = new TreeMap<>(RangeEntry.BY_BYTES);

		History(String name, Generator random) {
			this.name = name;
			this.random = random;
		}

		RangeRequest all() {
			return RangeRequest.below(this.name);
		}

		void write(String kind, int count, List<String> replicas, List<Integer> nodes) {
			for (int i = 0; i < count; i++) {
				String key = this.name + "/" + kind
						+ this.random.oneOf(List.of("", "é", "\uffff", "\ud83d\udd11", "\n")) + this.random.below(20);
				write(key, this.random.oneOf(levelsOf(key, replicas)), this.random.oneOf(nodes));
			}
		}

		/**
		 * The levels with one number of copies for each key. With several, nodes that
		 * compare themselves meanwhile could hold more of it, or less.
		 */
		private static List<String> levelsOf(String key, List<String> replicas) {
			Map<String, List<String>> byCopies = replicas.stream()
				.collect(Collectors.groupingBy(level -> level.substring(2), TreeMap::new, Collectors.toList()));
			return List.copyOf(byCopies.values()).get(Math.floorMod(key.hashCode(), byCopies.size()));
		}

		private void write(String key, String replicas, int node) {
			List<String> parameters = new ArrayList<>(List.of("replicas=" + replicas));
			boolean expires = false;
			Answer answer;
			RangeEntry entry = null;
			if (this.random.chance(20)) {
				answer = cluster.client(node).delete(key, parameters.getFirst());
				assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
			}
			else {
				expires = this.random.chance(15);
				if (expires || this.random.chance(15)) {
					parameters.add(expires ? "ttl=1s" : "ttl=1h");
				}
				byte[] value = this.random
					.bytes(this.random.chance(10) ? 16_000 + this.random.below(50_000) : this.random.below(300));
				answer = cluster.client(node).put(key, value, parameters.toArray(String[]::new));
				assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
				entry = RangeEntry.of(key, value);
			}
			int from = Integer.parseInt(replicas.substring(2));
			this.writes.computeIfAbsent(key, _ -> new ArrayList<>())
				.add(new Write(answer.header("ETag"), cluster.replicasOf(key, from), expires ? null : entry));
		}

		/** All nodes hold what they should, and what expires soon has expired. */
		void awaitSettled() throws InterruptedException {
			for (int node : cluster.nodes()) {
				SortedEntries held = heldBy(node);
				Poll.until(() -> "node %d holds what it should: %s".formatted(node, held.differenceTo(read(node))),
						SETTLE_DEADLINE, () -> held.differenceTo(read(node)).isEmpty());
			}
		}

		/** Nothing is told at these nodes that has been written to expire soon. */
		void awaitExpired(List<Integer> nodes) throws InterruptedException {
			for (int node : nodes) {
				Poll.until(() -> "what expires has expired at node " + node, SETTLE_DEADLINE,
						() -> everThere().containsAll(read(node)));
			}
		}

		private List<RangeEntry> read(int node) {
			return all().atNode().read(cluster.node(node).port()).entries();
		}

		SortedEntries expected() {
			return expected(_ -> true);
		}

		/** Of the cluster. */
		SortedEntries expected(Predicate<RangeEntry> which) {
			return newest(_ -> true, which);
		}

		/** What has expired counts as never seen. */
		Set<RangeEntry> everThere() {
			Set<RangeEntry> entries = new HashSet<>();
			this.writes.values().forEach(list -> list.forEach(write -> {
				if (write.entry != null) {
					entries.add(write.entry);
				}
			}));
			return entries;
		}

		private SortedEntries heldBy(int node) {
			return newest(write -> write.nodes.contains(node), _ -> true);
		}

		private SortedEntries newest(Predicate<Write> among, Predicate<RangeEntry> which) {
			SortedEntries entries = new SortedEntries();
			this.writes
				.forEach((key, list) -> list.stream().filter(among).max(Write::compareVersions).ifPresent(newest -> {
					RangeEntry entry = newest.entry;
					if (entry != null && which.test(entry)) {
						entries.put(key, entry);
					}
				}));
			return entries;
		}

		void assertSomeRange(int node) {
			String start = someBound();
			String end = someBound();
			if (RangeEntry.BY_BYTES.compare(start, end) > 0) {
				String swapped = start;
				start = end;
				end = swapped;
			}
			boolean isNode = this.random.chance(40);
			List<RangeEntry> inRange = (isNode ? heldBy(node) : expected()).between(start, end);
			RangeRequest request = RangeRequest.from(start).to(end);
			request = isNode ? request.atNode() : request;
			int limit = this.random.chance(50) ? 1 + this.random.below(inRange.size() + 2) : Integer.MAX_VALUE;
			request = (limit < Integer.MAX_VALUE) ? request.limit(limit) : request;
			boolean isLines = this.random.chance(50);
			request = isLines ? request.lines() : request;

			RangeAnswer answer = request.read(cluster.node(node).port());
			assertThat(answer.status()).as("%s at node %d: %s", request, node, answer).isEqualTo(200);
			assertThat(answer.isWhole()).as("%s at node %d", request, node).isTrue();
			assertThat(answer.entries()).as("%s at node %d", request, node)
				.isEqualTo(inRange.subList(0, Math.min(limit, inRange.size())));
			assertThat(answer.next()).as("%s at node %d", request, node)
				.isEqualTo((isLines && limit < inRange.size()) ? inRange.get(limit).key() : "");
		}

		/** A key, right behind one, right before some, or one of the ends. */
		private String someBound() {
			String key = this.random.oneOf(List.copyOf(this.writes.keySet()));
			return switch (this.random.below(5)) {
				case 0 -> key + "\0";
				case 1 -> key.substring(0, this.name.length() + 2);
				case 2 -> this.random.oneOf(List.of(this.name + "/", this.name + "0"));
				default -> key;
			};
		}

		/**
		 * A write.
		 *
		 * @param nodes the replicas that hold it in the end
		 * @param entry null where it is a delete, or expires soon
		 */
		private record Write(String version, List<Integer> nodes, @Nullable RangeEntry entry) {

			/** An ETag has hex digits of one length. */
			int compareVersions(Write other) {
				return this.version.compareTo(other.version);
			}

		}

	}

	/**
	 * Clients that write ascending numbers to a key of their own at the default level,
	 * short values and long ones, and put and delete another one beside it.
	 */
	private static final class Counters implements AutoCloseable {

		private static final String MARK = " counter";

		private static final int MAX_PAUSE_MILLIS = 5;

		private final Workers clients = new Workers();

		private final Map<String, Integer> acknowledged = new ConcurrentHashMap<>();

		private final Queue<Answer> failures = new ConcurrentLinkedQueue<>();

		Counters(String name, int count) {
			for (int i = 0; i < count; i++) {
				String key = "%s/%03d%s".formatted(name, 75 * i, MARK);
				String padding = " ".repeat((i % 2 == 0) ? 1 : 20_000);
				this.clients.start(MAX_PAUSE_MILLIS, round -> run(key, padding, round));
			}
		}

		private void run(String key, String padding, int round) {
			KvorumClient client = cluster.client(1 + round % 3);
			if (isDone(client.put(key, round + padding), 201)) {
				this.acknowledged.put(key, round);
			}
			isDone(client.put(key + " blinking", round + padding), 201);
			isDone(client.delete(key + " blinking"), 202);
		}

		private boolean isDone(Answer answer, int expected) {
			return answer.status() == expected || !this.failures.add(answer);
		}

		Map<String, Integer> acknowledged() {
			return Map.copyOf(this.acknowledged);
		}

		static boolean isOneOf(RangeEntry entry) {
			return entry.key().contains(MARK);
		}

		static int numberOf(RangeEntry entry) {
			return Integer.parseInt(new String(entry.value(), UTF_8).strip());
		}

		/** Lets the requests under way end; returns the answers that say no. */
		List<Answer> stop() throws InterruptedException {
			this.clients.stop();
			return List.copyOf(this.failures);
		}

		/** Sends nothing more. */
		@Override
		public void close() {
			this.clients.close();
		}

	}

}
