package io.kvorum.process;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Poll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

/** Three nodes, each key on up to three of them. A paused node is one that is away. */
@DisplayName("What follows from ack/from")
class ClusterInvariantsIT {

	private static final String LINEARIZABLE = "linearizable";

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	@Test
	@DisplayName("overlap: every node reads at once what any other has put, deleted and put again")
	void overlap() {
		for (int writer : cluster.nodes()) {
			for (int reader : cluster.nodes()) {
				String key = "overlap " + writer + " " + reader;
				assertPut(writer, key, "one", "replicas=2/3");
				assertValue("one", reader, key, "replicas=2/3");
				assertDelete(writer, key, "replicas=2/3");
				assertAbsent(reader, key, "replicas=2/3");
				assertPut(writer, key, "two");
				assertValue("two", reader, key);
			}
		}
	}

	@Test
	@DisplayName("overlap: GET 1/2 and GET 1/3 see PUT 2/2 and 3/3, DELETE too, with one replica away")
	void allAcknowledgedOneAway() throws InterruptedException {
		String kept = cluster.keyOn("kept", 1, 2);
		String deleted = cluster.keyOn("deleted", 1, 2);
		String onAll = "kept on all";
		assertPut(3, kept, "value", "replicas=2/2");
		assertPut(3, deleted, "value", "replicas=2/2");
		assertDelete(1, deleted, "ack=2", "from=2");
		assertPut(2, onAll, "value", "replicas=3/3");

		for (int away : List.of(1, 2)) {
			cluster.silence(away);
			for (int reader : cluster.others(away)) {
				assertValue("value", reader, kept, "replicas=1/2");
				assertAbsent(reader, deleted, "replicas=1/2");
				assertValue("value", reader, onAll, "replicas=1/3");
			}
			cluster.heal();
		}
	}

	@ParameterizedTest(name = "node {0} away")
	@ValueSource(ints = { 1, 2, 3 })
	@DisplayName("overlap: GET 2/3 sees PUT and DELETE 2/3, whichever node went away in between; and the others go on")
	void majorityOneAway(int away) throws InterruptedException {
		List<String> keys = keys("majority " + away, 30);
		int writer = cluster.others(away).getFirst();
		for (String key : keys) {
			assertPut(away, key, "before");
			assertPut(writer, key, "value");
			assertPut(writer, key + " deleted", "value");
			assertDelete(away, key + " deleted");
		}

		cluster.silence(away);
		for (int reader : cluster.others(away)) {
			keys.forEach(key -> assertValue("value", reader, key));
			keys.forEach(key -> assertAbsent(reader, key + " deleted"));
			String own = "majority %d by %d".formatted(away, reader);
			assertPut(reader, own, "value");
			assertValue("value", reader, own);
			assertDelete(reader, own);
			assertAbsent(reader, own);
		}
	}

	@Test
	@DisplayName("a node killed during PUT, overwrite, DELETE and recreation: once back, quorum reads at every node see them; GET 1/3 may miss them")
	void missedWrites() throws InterruptedException {
		for (String key : List.of("overwritten", "deleted", "recreated")) {
			assertPut(3, "missed " + key, "old", "replicas=3/3");
		}
		cluster.kill9(3);
		assertPut(1, "missed new", "new");
		assertPut(1, "missed overwritten", "new");
		assertDelete(2, "missed deleted");
		assertDelete(1, "missed recreated");
		assertPut(2, "missed recreated", "new");

		cluster.start(3);
		cluster.awaitTogether();
		assertThat(cluster.client(3).get("missed overwritten", "replicas=1/3").text()).isIn("old", "new");
		assertThat(cluster.client(3).get("missed deleted", "replicas=1/3").status()).isIn(200, 404);
		for (int reader : List.of(3, 1, 2)) {
			assertValue("new", reader, "missed new");
			assertValue("new", reader, "missed overwritten");
			assertAbsent(reader, "missed deleted");
			assertValue("new", reader, "missed recreated");
		}
	}

	@Test
	@DisplayName("missed by one of two: PUT 1/2 with a replica away is seen by GET 2/2 when it is back, and from then on by GET 1/2")
	void missedByOneOfTwo() throws InterruptedException {
		String key = cluster.keyOn("one of two", 1, 2);
		assertPut(1, key, "old", "replicas=2/2");
		cluster.silence(2);
		assertPut(1, key, "new", "replicas=1/2");

		cluster.heal();
		assertThat(cluster.client(2).get(key, "replicas=1/2").text()).isIn("old", "new");
		assertValue("new", 3, key, "replicas=2/2");
		Poll.until(() -> "node 2 is repaired by the read 2/2", Duration.ofSeconds(20),
				() -> cluster.client(2).get(key, "replicas=1/2").text().equals("new"));
	}

	/**
	 * Written to all three, then to the first two, then to the first: where each set is a
	 * prefix of the next each node has another value, and which one is which follows from
	 * the placement.
	 */
	@Test
	@DisplayName("a write leaves exactly 'from' copies, on the first of the key's replicas, also when overwritten")
	void exactlyFromCopies() throws InterruptedException {
		List<String> keys = keys("copies", 40);
		for (String key : keys) {
			for (int from = 3; from >= 1; from--) {
				assertPut(1, key, "on " + from, "replicas=" + from + "/" + from);
			}
			for (int from = 1; from <= 3; from++) {
				assertPut(2, key + " only " + from, "value", "replicas=" + from + "/" + from);
			}
		}
		List<String> all = keys.stream()
			.flatMap(key -> List.of(key, key + " only 1", key + " only 2", key + " only 3").stream())
			.toList();

		for (int node : cluster.nodes()) {
			Map<String, Answer> held = cluster.heldBy(node, all);
			for (String key : keys) {
				int rank = cluster.replicasOf(key, 3).indexOf(node) + 1;
				Answer overwritten = requireNonNull(held.get(key));
				List<String> may = IntStream.rangeClosed(1, rank).mapToObj(from -> "on " + from).toList();
				assertThat(overwritten.status() == 404 ? "gone" : overwritten.text()).as("%s at node %d", key, node)
					.isIn((rank == 1) ? may : Stream.concat(may.stream(), Stream.of("gone")).toList());
				for (int from = 1; from <= 3; from++) {
					String only = key + " only " + from;
					assertThat(requireNonNull(held.get(only)).status()).as("%s at node %d", only, node)
						.isEqualTo(cluster.replicasOf(only, from).contains(node) ? 200 : 404);
				}
			}
		}
	}

	@Test
	@DisplayName("a PUT 1/3 that only one node has: once a quorum read has seen it all others do, without that node")
	void readsNeverGoBack() throws InterruptedException {
		assertPut(1, "back", "old", "replicas=3/3");
		cluster.pause(2);
		cluster.silence(3);
		cluster.awaitAway(2);
		assertPut(1, "back", "new", "replicas=1/3");
		cluster.heal();

		Poll.until(() -> "a quorum read sees the value", Duration.ofSeconds(20),
				() -> cluster.client(1).get("back").text().equals("new"));
		cluster.silence(1);
		assertValue("new", 2, "back");
		assertValue("new", 3, "back");
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource({ "'', linearizable", "2/3, linearizable", "3/3, linearizable", "1/3, eventual", "1/1, eventual",
			"1/2, eventual", "2/2, eventual" })
	@DisplayName("Kvorum-Consistency: linearizable at the default, and where ack is a majority of the factor")
	void consistency(String replicas, String consistency) {
		String[] parameters = replicas.isEmpty() ? new String[0] : new String[] { "replicas=" + replicas };
		String key = "consistency " + replicas;
		for (int node : cluster.nodes()) {
			List<Answer> answers = List.of(cluster.client(node).put(key, "value", parameters),
					cluster.client(node).get(key, parameters), cluster.client(node).head(key, parameters),
					cluster.client(node).delete(key, parameters), cluster.client(node).get(key, "replicas=3/3"));
			assertThat(answers.subList(0, 4)).extracting(answer -> answer.header("Kvorum-Consistency"))
				.containsOnly(consistency);
			assertThat(answers.getLast().header("Kvorum-Consistency")).isEqualTo(LINEARIZABLE);
		}
	}

	@Test
	@DisplayName("Kvorum-Consistency in a request: eventual with the same numbers, 400 where the numbers are too low, or for another word")
	void askedConsistency() {
		String header = "Kvorum-Consistency";
		for (String replicas : List.of("", "&replicas=3/3", "&replicas=1/3")) {
			String target = "/v0/entity?id=asked" + replicas;
			Answer put = cluster.client(1).exchange("PUT", target, header, "eventual");
			assertThat(put.status()).isEqualTo(201);
			assertThat(put.header(header)).isEqualTo("eventual");
			Answer get = cluster.client(2).exchange("GET", target, header, "eventual");
			assertThat(get.status()).isEqualTo(200);
			assertThat(get.header(header)).isEqualTo("eventual");
		}
		EntityApiIT.assertProblem(
				cluster.client(1).exchange("GET", "/v0/entity?id=asked&replicas=1/3", header, LINEARIZABLE), 400);
		EntityApiIT.assertProblem(cluster.client(1).exchange("GET", "/v0/entity?id=asked", header, "strong"), 400);
		EntityApiIT.assertProblem(
				cluster.client(1).exchange("PUT", "/v0/entity?id=asked", header, "eventual", "If-None-Match", "*"),
				400);
		assertThat(cluster.client(3).exchange("GET", "/v0/entity?id=asked", header, LINEARIZABLE).header(header))
			.isEqualTo(LINEARIZABLE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=1/4", "replicas=4/4", "replicas=0/1", "replicas=3/2", "ack=2&from=4", "ack=2",
			"from=2", "replicas=2/3&ack=2&from=3" })
	@DisplayName("more replicas than nodes, or none: 400")
	void impossibleReplicas(String parameters) {
		EntityApiIT.assertProblem(cluster.client(1).get("key", parameters), 400);
		EntityApiIT.assertProblem(cluster.client(2).put("key", "value", parameters), 400);
		EntityApiIT.assertProblem(cluster.client(3).delete("key", parameters), 400);
	}

	@Test
	@DisplayName("ttl: once the entry is gone on one node it is gone on all, at every level, and for HEAD")
	void ttl() throws InterruptedException {
		long put = System.nanoTime();
		assertPut(1, "ttl", "value", "ttl=3s", "replicas=3/3");
		for (int node : cluster.nodes()) {
			Answer answer = cluster.client(node).get("ttl");
			boolean early = System.nanoTime() - put < Duration.ofSeconds(3).toNanos();
			assertThat(answer.status()).isIn(early ? List.of(200) : List.of(200, 404));
		}

		Poll.until(() -> "the entry has expired at node 2", Duration.ofSeconds(30),
				() -> cluster.client(2).get("ttl").status() == 404);
		assertThat(System.nanoTime() - put).isGreaterThan(Duration.ofSeconds(3).toNanos());
		for (int node : cluster.nodes()) {
			assertAbsent(node, "ttl");
			assertAbsent(node, "ttl", "replicas=1/1");
			assertAbsent(node, "ttl", "replicas=3/3");
			assertThat(cluster.client(node).head("ttl").status()).isEqualTo(404);
		}
	}

	@Test
	@DisplayName("ETag, Last-Modified, Content-Type and HEAD are the same at every node; each write has an ETag of its own")
	void sameEverywhere() {
		for (int writer : cluster.nodes()) {
			// On all of them: one replica alone may be asked below.
			assertThat(cluster.client(writer).putAs("text/x-test", "tag", new byte[10], "replicas=3/3").status())
				.isEqualTo(201);
			Answer first = cluster.client(1).get("tag");
			assertThat(first.header("ETag")).isNotEmpty();
			assertThat(first.header("Last-Modified")).isNotEmpty();
			for (int reader : cluster.nodes()) {
				for (String replicas : List.of("1/1", "1/2", "2/3", "3/3")) {
					Answer get = cluster.client(reader).get("tag", "replicas=" + replicas);
					Answer head = cluster.client(reader).head("tag", "replicas=" + replicas);
					for (String header : List.of("ETag", "Last-Modified", "Content-Type", "Content-Length")) {
						assertThat(get.header(header)).as("%s at node %d", header, reader)
							.isEqualTo(first.header(header));
						assertThat(head.header(header)).as("%s of HEAD at node %d", header, reader)
							.isEqualTo(first.header(header));
					}
					assertThat(head.body()).isEmpty();
				}
			}
		}
		String before = cluster.client(1).get("tag").header("ETag");
		Answer put = cluster.client(3).put("tag", new byte[10]);
		assertThat(put.header("ETag")).isNotEmpty().isNotEqualTo(before);
		assertThat(cluster.client(2).get("tag").header("ETag")).isEqualTo(put.header("ETag"));
	}

	@ParameterizedTest(name = "{0} bytes")
	@ValueSource(ints = { 0, 1, (16 << 10) - 200, 16 << 10, (16 << 10) + 1, 100_000, 1 << 20 })
	@DisplayName("values of any size, by way of any node")
	void sizes(int length) {
		byte[] value = new byte[length];
		new Random(length).nextBytes(value);
		for (int writer : cluster.nodes()) {
			for (int from = 1; from <= 3; from++) {
				String key = "size %d %d %d".formatted(length, writer, from);
				String replicas = "replicas=" + from + "/" + from;
				assertThat(cluster.client(writer).put(key, value, replicas).status()).isEqualTo(201);
				for (int reader : cluster.nodes()) {
					Answer answer = cluster.client(reader).get(key, replicas);
					assertThat(answer.status()).as("%s at node %d", key, reader).isEqualTo(200);
					assertThat(Arrays.equals(answer.body(), value)).as("%s at node %d", key, reader).isTrue();
				}
			}
		}
	}

	private static List<String> keys(String name, int count) {
		return IntStream.range(0, count).mapToObj(i -> name + " " + i).toList();
	}

	private static void assertPut(int node, String key, String value, String... parameters) {
		Answer answer = cluster.client(node).put(key, value, parameters);
		assertThat(answer.status()).as("PUT %s at node %d: %s", key, node, answer).isEqualTo(201);
	}

	private static void assertDelete(int node, String key, String... parameters) {
		Answer answer = cluster.client(node).delete(key, parameters);
		assertThat(answer.status()).as("DELETE %s at node %d: %s", key, node, answer).isEqualTo(202);
	}

	private static void assertValue(String value, int node, String key, String... parameters) {
		Answer answer = cluster.client(node).get(key, parameters);
		assertThat(answer.status()).as("GET %s at node %d: %s", key, node, answer).isEqualTo(200);
		assertThat(answer.text()).as("GET %s at node %d", key, node).isEqualTo(value);
	}

	private static void assertAbsent(int node, String key, String... parameters) {
		Answer answer = cluster.client(node).get(key, parameters);
		assertThat(answer.status()).as("GET %s at node %d: %s", key, node, answer).isEqualTo(404);
	}

}
