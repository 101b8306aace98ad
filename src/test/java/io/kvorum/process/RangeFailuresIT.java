package io.kvorum.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Generator;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeReader;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SortedEntries;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A range that is far longer than what all buffers between a node and a client hold: a
 * client that does not read leaves most of it at the nodes.
 */
@DisplayName("Nodes and clients that fail in the middle of a range")
@LongTest
class RangeFailuresIT {

	private static final int ENDED_BY_SIGTERM = 143;

	private static final int ENTRIES = 1_600;

	private static final int CLIENTS = 8;

	/** Of a few hundred bytes to 50 KB, together about 40 MB. */
	private static final int MAX_VALUE_BYTES = 50_000;

	private static final RangeRequest ALL = RangeRequest.below("long");

	private static final SortedEntries stored = new SortedEntries();

	/** {@code kvorum.range.max-concurrent}, if nobody says otherwise. */
	private static final int MAX_CONCURRENT = 8;

	private static final Duration OVER_DEADLINE = Duration.ofSeconds(20);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "spring.netty.leak-detection=paranoid",
			// Readers pause while a node starts; eight ranges of 40 MB run beside a GET.
			"kvorum.range.stall-timeout=2m", "kvorum.replication.read-timeout=10s");

	/** Ranges of this test of which the first entries have been read. */
	private final List<RangeReader> begun = new ArrayList<>();

	@BeforeAll
	static void putOnAll() {
		Generator generator = new Generator(1);
		for (int i = 0; i < ENTRIES; i++) {
			stored.put("long/%05d".formatted(i), generator.bytes(200 + generator.below(MAX_VALUE_BYTES)));
		}
		List<RangeEntry> entries = stored.all();
		Together.run(CLIENTS, client -> () -> {
			for (int i = client; i < ENTRIES; i += CLIENTS) {
				Answer answer = cluster.client(1 + i % 3)
					.put(entries.get(i).key(), entries.get(i).value(), "replicas=3/3");
				assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
			}
			return client;
		});
	}

	private List<RangeReader> begin(int node, RangeRequest... requests) {
		List<RangeReader> readers = new ArrayList<>();
		for (RangeRequest request : requests) {
			RangeReader reader = request.open(cluster.node(node).port());
			this.begun.add(reader);
			readers.add(reader.read(20));
		}
		return readers;
	}

	@AfterEach
	void close() {
		this.begun.forEach(RangeReader::close);
	}

	@Test
	@DisplayName("kill -9 of the node that is read: its range is broken off, of node and cluster, in both formats")
	void killedNode() throws InterruptedException {
		begin(3, ALL, ALL.lines(), ALL.atNode(), ALL.atNode().lines());
		cluster.kill9(3);
		this.begun.forEach(reader -> assertBrokenOff(reader.rest()));
	}

	@Test
	@DisplayName("kill -9 of another node: the range of the cluster is whole")
	void killedReplica() throws InterruptedException {
		begin(1, ALL, ALL.lines());
		cluster.kill9(3);
		this.begun.forEach(reader -> assertWhole(reader.rest()));
	}

	@Test
	@DisplayName("another node falls silent: the range of the cluster is whole")
	void silentReplica() throws InterruptedException {
		try (RangeReader reader = ALL.open(cluster.node(1).port()).read(20)) {
			cluster.pause(3);
			assertWhole(reader.rest());
		}
	}

	@Test
	@DisplayName("kill -9 of both other nodes: the range of the cluster is broken off, that of the node is whole")
	void killedMajority() throws InterruptedException {
		List<RangeReader> ofCluster = begin(1, ALL, ALL.lines());
		List<RangeReader> ofNode = begin(1, ALL.atNode(), ALL.atNode().lines());
		cluster.kill9(2);
		cluster.kill9(3);
		ofCluster.forEach(reader -> assertBrokenOff(reader.rest()));
		ofNode.forEach(reader -> assertWhole(reader.rest()));
	}

	@Test
	@DisplayName("SIGTERM of the node while nobody reads its ranges: it ends without an error, and the ranges are broken off")
	void stoppedNode() throws InterruptedException {
		try (RangeReader ofCluster = ALL.open(cluster.node(3).port()).read(20);
				RangeReader ofNode = ALL.atNode().lines().open(cluster.node(3).port()).read(20)) {
			assertThat(cluster.stop(3).code()).isEqualTo(ENDED_BY_SIGTERM);
			assertThat(cluster.node(3).log().lines()).noneMatch(line -> line.contains("ERROR"));
			assertBrokenOff(ofCluster.rest());
			assertBrokenOff(ofNode.rest());
		}
	}

	@Test
	@DisplayName("the other nodes are killed and come back one after the other: the range of the cluster is whole")
	void rollingRestart() throws InterruptedException {
		double missing = missing();
		try (RangeReader reader = ALL.open(cluster.node(1).port()).read(20)) {
			for (int node : List.of(2, 3)) {
				cluster.kill9(node);
				reader.read(200);
				cluster.start(node);
				cluster.awaitTogether();
				awaitMissing(missing, reader);
			}
			assertWhole(reader.rest());
		}
	}

	/**
	 * Reads on, an entry now and then, until no more replicas are missing: one that was
	 * lost is asked again when the client wants more.
	 */
	private static void awaitMissing(double count, RangeReader reader) throws InterruptedException {
		Poll.until(() -> "the replicas that were lost take part again: %s lost, %s back".formatted(replicas("lost"),
				replicas("back")), OVER_DEADLINE, () -> reader.read(1).status() == 200 && missing() == count);
	}

	/** Replicas that ranges at node 1 have lost for good, also those that are over. */
	private static double missing() {
		return replicas("lost") - replicas("back");
	}

	private static double replicas(String change) {
		return cluster.client(1).metric("kvorum_range_replicas_total{change=\"" + change + "\"}");
	}

	@SeededTest
	@DisplayName("clients that disconnect, anywhere in it: no range is left, as many as may be are served, and no log has a warning or a leak")
	void disconnects(long seed) throws InterruptedException {
		Map<Integer, Integer> saidBefore = new HashMap<>();
		for (int node : cluster.nodes()) {
			saidBefore.put(node, cluster.node(node).log().length());
		}
		Generator generator = new Generator(seed);
		for (int i = 0; i < 40; i++) {
			RangeRequest request = generator.oneOf(List.of(ALL, ALL.lines(), ALL.atNode(), ALL.atNode().lines()));
			RangeReader reader = request.open(cluster.node(1 + generator.below(3)).port());
			assertThat(reader.status()).isIn(200, 503);
			if (reader.status() == 200) {
				reader.read(generator.below(generator.chance(20) ? 400 : 10));
			}
			if (generator.chance(50)) {
				reader.reset();
			}
			else {
				reader.close();
			}
		}

		for (int node : cluster.nodes()) {
			awaitNoneActive(node);
			assertThatSoManyAreServed(node, MAX_CONCURRENT);
			for (int i = 0; i <= 2 * MAX_CONCURRENT; i++) {
				RangeAnswer answer = ALL.limit(1 + i).read(cluster.node(node).port());
				assertThat(answer.entries()).isEqualTo(stored.all().subList(0, 1 + i));
			}
			awaitNoneActive(node);
		}
		for (int node : cluster.nodes()) {
			String said = cluster.node(node).log().substring(saidBefore.getOrDefault(node, 0));
			assertThat(said.lines()).as("node %d", node)
				.noneMatch(line -> line.contains("ERROR") || line.contains("WARN") || line.contains("LEAK"));
		}
	}

	@Test
	@DisplayName("one range more than kvorum.range.max-concurrent: 503 that says when to come again, for both scopes; other requests are served, and so is a range when another has ended")
	void tooMany() throws InterruptedException {
		int port = cluster.node(1).port();
		awaitNoneActive(1);
		List<RangeReader> readers = begin(1, ALL, ALL.atNode());
		while (readers.size() < MAX_CONCURRENT) {
			readers.addAll(begin(1, ALL));
		}
		for (RangeRequest request : List.of(ALL.limit(1), ALL.lines(), ALL.atNode())) {
			RangeAnswer answer = request.read(port);
			EntityApiIT.assertProblem(answer.problem(), 503);
			assertThat(answer.header("Retry-After")).matches("\\d+");
		}
		assertThat(cluster.client(1).get("long/00000").status()).isEqualTo(200);
		assertThat(ALL.limit(1).read(cluster.node(2).port()).status()).isEqualTo(200);

		assertWhole(readers.get(0).rest());
		Poll.until(() -> "the place of the first is free", OVER_DEADLINE,
				() -> ALL.limit(1).read(port).status() == 200);
		assertWhole(readers.get(1).rest());
	}

	@Test
	@DisplayName("a client that never reads is cut off after kvorum.range.stall-timeout, and its place is free, for both scopes")
	void stalled() throws InterruptedException {
		cluster.restartWith(1, "kvorum.range.max-concurrent=1", "kvorum.range.stall-timeout=1s");
		cluster.awaitTogether();
		for (RangeRequest request : List.of(ALL, ALL.atNode())) {
			try (RangeReader stalled = request.open(cluster.node(1).port())) {
				assertThat(stalled.status()).isEqualTo(200);
				awaitNoneActive(1);
				assertWhole(request.read(cluster.node(1).port()));
				assertBrokenOff(stalled.rest());
			}
			awaitNoneActive(1);
		}
	}

	/** Without any of them being read; and not one more. */
	private static void assertThatSoManyAreServed(int node, int count) throws InterruptedException {
		int port = cluster.node(node).port();
		List<RangeReader> readers = new ArrayList<>();
		try {
			for (int i = 0; i < count; i++) {
				readers.add(((i % 2 == 0) ? ALL : ALL.atNode()).open(port));
			}
			assertThat(readers).extracting(RangeReader::status).containsOnly(200);
			assertThat(active(node)).isEqualTo(count);
			assertThat(ALL.read(port).status()).isEqualTo(503);
		}
		finally {
			readers.forEach(RangeReader::close);
		}
		awaitNoneActive(node);
	}

	private static void awaitNoneActive(int node) throws InterruptedException {
		Poll.until(() -> "node %d has no range under way: %f".formatted(node, active(node)), OVER_DEADLINE,
				() -> active(node) == 0);
	}

	private static double active(int node) {
		return cluster.client(node).metric("kvorum_range_active_ranges");
	}

	private static void assertWhole(RangeAnswer answer) {
		assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
		assertThat(stored.differenceTo(answer.entries())).isEmpty();
		assertThat(answer.isWhole()).isTrue();
	}

	private static void assertBrokenOff(RangeAnswer answer) {
		assertThat(answer.isWhole()).as(answer.toString()).isFalse();
		assertThat(answer.entries()).hasSizeLessThan(ENTRIES)
			.isEqualTo(stored.all().subList(0, answer.entries().size()));
	}

}
