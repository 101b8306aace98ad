package io.kvorum.convergence.antientropy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MessagesTests {

	@SeededTest
	void everyMessageIsReadAsItWasWritten(long seed) {
		Generator random = new Generator(seed);
		List<Leaf> leaves = new ArrayList<>();
		List<Difference> differences = new ArrayList<>();
		List<Key> keys = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			long[] items = new long[random.below(5)];
			for (int j = 0; j < items.length; j++) {
				items[j] = random.anyLong();
			}
			leaves.add(new Leaf(random.below(Partitions.COUNT), items));
			List<EntryHeader> headers = new ArrayList<>();
			for (int j = random.below(4); j > 0; j--) {
				headers.add(new EntryHeader(random.key(), random.version(), 1 + random.below(255), random.chance(50)));
			}
			differences.add(new Difference(headers,
					(items.length > 0) ? new int[] { random.below(items.length) } : new int[0]));
			keys.add(random.key());
		}
		assertThat(Messages.readLeaves(Messages.compare(leaves).body())).usingRecursiveComparison().isEqualTo(leaves);
		byte[] answer = differences(differences);
		assertThat(answer).hasSize(differences.stream().mapToInt(Messages::lengthOf).sum());
		assertThat(Messages.readDifferences(answer, leaves)).usingRecursiveComparison().isEqualTo(differences);
		assertThat(Messages.readKeys(Messages.fetch(keys).body())).isEqualTo(keys);
	}

	@Test
	void digestsAndSlicesAndPagesAreReadAsTheyWereWritten() {
		long[] digests = { 1, Long.MIN_VALUE, -1 };
		assertThat(Messages.readDigests(Messages.digests(digests), 3)).isEqualTo(digests);
		assertThat(Messages.readSlices(Messages.askLeaves(7, List.of(0, 4095)).body().position(4))).containsExactly(0,
				4095);
		Page.Builder builder = new Page.Builder(Page.Limit.of(1000, 10));
		builder.add(Generator.key("a"), Generator.live(new Version(1, 1), "value"));
		Page page = Messages.readPage(Messages.page(builder.build(false)).bytes(), 3);
		assertThat(page.isLast()).isFalse();
		assertThat(page.cursor().advance()).isTrue();
	}

	@Test
	void aStubWithoutANumberOfCopiesIsSentWithTheNumberOfTheLayout() {
		EntryHeader header = new EntryHeader(Generator.key("a"), new Version(1, 1), Copies.DEFAULT, false);
		byte[] answer = differences(List.of(new Difference(List.of(header), new int[0])));

		assertThat(Messages.readDifferences(answer, List.of(new Leaf(1, new long[0]))).getFirst().theirs)
			.containsExactly(new EntryHeader(header.key(), header.version(), 2, false));
	}

	@Test
	void answersThatAreNoneAreRefused() {
		List<Leaf> asked = List.of(new Leaf(1, new long[] { 5 }));
		assertThatThrownBy(() -> Messages.readDigests(new byte[7], 1)).isInstanceOf(IllegalArgumentException.class);
		assertThatThrownBy(() -> Messages.readDifferences(new byte[] { 127, 0, 0, 0 }, asked))
			.isInstanceOf(IllegalArgumentException.class);
		byte[] noSuchItem = differences(List.of(new Difference(List.of(), new int[] { 1 })));
		assertThatThrownBy(() -> Messages.readDifferences(noSuchItem, asked))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("no item 1");
		byte[] tooMany = differences(
				List.of(new Difference(List.of(), new int[0]), new Difference(List.of(), new int[0])));
		assertThatThrownBy(() -> Messages.readDifferences(tooMany, asked)).isInstanceOf(RuntimeException.class);
	}

	@SeededTest
	void whateverBytesComeReadingThemEndsWithoutHarm(long seed) {
		Generator random = new Generator(seed);
		List<Leaf> asked = List.of(new Leaf(1, new long[] { 5 }), new Leaf(2, new long[0]));
		for (int i = 0; i < 2_000; i++) {
			byte[] bytes = random.bytes(random.below(60));
			tryTo(() -> Messages.readDifferences(bytes, asked));
			tryTo(() -> Messages.readLeaves(ByteBuffer.wrap(bytes)));
			tryTo(() -> Messages.readKeys(ByteBuffer.wrap(bytes)));
			tryTo(() -> Messages.readPage(bytes, 3));
		}
	}

	/** An answer of a node on which a key has two replicas by default. */
	private static byte[] differences(List<Difference> differences) {
		return Messages.differences(differences, copies -> copies.orDefault(2));
	}

	private static void tryTo(Runnable reading) {
		try {
			reading.run();
		}
		catch (RuntimeException ex) {
			assertThat(ex).isNotInstanceOf(NegativeArraySizeException.class);
		}
	}

}
