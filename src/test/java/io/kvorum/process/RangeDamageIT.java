package io.kvorum.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.kvorum.testing.Cluster;
import io.kvorum.testing.Generator;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SortedEntries;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Ranges over damaged files: never silently short")
class RangeDamageIT {

	private static final RangeRequest ALL = RangeRequest.below("damage");

	/** About four values. */
	private static final int BLOCK = 4096;

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	private final SortedEntries stored = new SortedEntries();

	/** The same at all nodes, who lose what the test before has left. */
	@BeforeEach
	void putOnAll() throws InterruptedException {
		cluster.nodes().forEach(cluster::wipe);
		cluster.heal();
		Generator generator = new Generator(1);
		for (int i = 0; i < 400; i++) {
			String key = "damage/%03d".formatted(i);
			byte[] value = generator.bytes(1000);
			assertThat(cluster.client(1 + i % 3).put(key, value, "replicas=3/3").status()).isEqualTo(201);
			this.stored.put(key, value);
		}
	}

	@Test
	@DisplayName("a block of a node is damaged: its own range is broken off there, or 504 where it begins there, and counted; what lies before and behind is told")
	void rangeOfTheNode() throws InterruptedException, IOException {
		damage(3, 0.5, 0.5);
		int port = cluster.node(3).port();
		assertThat(cluster.client(3).metric("kvorum_storage_corruption_total")).isZero();

		int before = 0;
		for (RangeRequest request : List.of(ALL.atNode(), ALL.atNode().lines())) {
			RangeAnswer answer = request.read(port);
			assertThat(answer.isWhole()).as(answer.toString()).isFalse();
			before = answer.entries().size();
			assertThat(before).isBetween(100, 300);
			assertThat(answer.entries()).isEqualTo(this.stored.all().subList(0, before));
		}
		assertThat(cluster.client(3).metric("kvorum_storage_corruption_total")).isPositive();
		String last = this.stored.keys().get(before - 1);
		assertThat(ALL.atNode().limit(before - 1).read(port).isWhole()).isTrue();
		EntityApiIT.assertProblem(RangeRequest.from(last + "\0").atNode().read(port).problem(), 504);
		List<RangeEntry> behind = this.stored.all().subList(before + 50, 400);
		RangeAnswer answer = RangeRequest.from(behind.getFirst().key()).to("damage0").atNode().read(port);
		assertThat(answer.entries()).isEqualTo(behind);
		assertThat(answer.isWhole()).isTrue();
	}

	@Test
	@DisplayName("a block of one of three nodes is damaged: the range of the cluster is whole, at every node")
	void oneOfThree() throws InterruptedException, IOException {
		damage(3, 0.5, 0.5);

		assertWholeAtAllNodes();
	}

	@Test
	@DisplayName("blocks of all three nodes are damaged, each elsewhere: the range of the cluster is whole, at every node")
	void allElsewhere() throws InterruptedException, IOException {
		damage(1, 0.2, 0.2);
		damage(2, 0.5, 0.5);
		damage(3, 0.8, 0.8);

		assertWholeAtAllNodes();
	}

	@Test
	@DisplayName("the same blocks of two of three nodes are damaged: the range of the cluster is broken off, at every node, also where the third node has them")
	void sameBlocksOfTwo() throws InterruptedException, IOException {
		damage(2, 0.4, 0.6);
		damage(3, 0.4, 0.6);

		for (int node : cluster.nodes()) {
			for (RangeRequest request : List.of(ALL, ALL.lines())) {
				RangeAnswer answer = request.read(cluster.node(node).port());
				assertThat(answer.isWhole()).as("at node %d: %s", node, answer).isFalse();
				assertThat(answer.status()).isIn(200, 504);
				assertThat(answer.entries()).isEqualTo(this.stored.all().subList(0, answer.entries().size()));
			}
		}
		RangeRequest within = RangeRequest.from(this.stored.keys().get(200)).to("damage0");
		EntityApiIT.assertProblem(within.read(cluster.node(1).port()).problem(), 504);
	}

	private void assertWholeAtAllNodes() {
		for (int node : cluster.nodes()) {
			for (RangeRequest request : List.of(ALL, ALL.lines())) {
				RangeAnswer answer = request.read(cluster.node(node).port());
				assertThat(answer.status()).as("at node %d: %s", node, answer).isEqualTo(200);
				assertThat(this.stored.differenceTo(answer.entries())).as("at node %d", node).isEmpty();
				assertThat(answer.isWhole()).as("at node %d", node).isTrue();
			}
		}
	}

	/** Flips a bit in each block of the largest table between these parts of it. */
	private static void damage(int node, double from, double to) throws InterruptedException, IOException {
		cluster.stop(node);
		Path table = largestTable(cluster.spec(node).data());
		long size = Files.size(table);
		for (long position = (long) (size * from); position <= size * to; position += BLOCK / 2) {
			flip(table, position);
		}
		cluster.start(node);
		cluster.awaitTogether();
	}

	private static Path largestTable(Path data) throws IOException {
		try (Stream<Path> files = Files.walk(data)) {
			return files.filter(file -> file.getFileName().toString().endsWith(".sst"))
				.max(Comparator.comparingLong(file -> file.toFile().length()))
				.orElseThrow();
		}
	}

	private static void flip(Path file, long position) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			ByteBuffer one = ByteBuffer.allocate(1);
			channel.read(one, position);
			one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
			channel.write(one, position);
		}
	}

}
