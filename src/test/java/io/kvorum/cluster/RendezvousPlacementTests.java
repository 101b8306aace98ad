package io.kvorum.cluster;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import com.dynatrace.hash4j.hashing.Hashing;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RendezvousPlacementTests {

	private static final int MOST_NODES = 64;

	/** Nodes that run different versions of Kvorum must agree on these. */
	@ParameterizedTest
	@CsvSource({ "a, 151071, 3 4 5 1 2", "greeting, 231233, 5 1 3 2 4", "user:42, 95402, 4 3 5 1 2",
			"photo, 74768, 3 2 4 5 1", "ключ, 89822, 1 3 5 2 4" })
	void theSameKeyHasTheSameOrderInEveryRunAndVersion(String name, int partition, String order) {
		Placement placement = placement(addresses("http://10.0.0.%d:9090", 5));

		assertThat(RendezvousPlacement.partitionOf(Generator.key(name))).isEqualTo(partition);
		assertThat(placement.replicasOf(Generator.key(name), 5)).extracting(Member::address)
			.containsExactly(
					Arrays.stream(order.split(" ")).map("http://10.0.0.%s:9090"::formatted).toArray(String[]::new));
	}

	@SeededTest
	void theOrderOfTheNodeListDoesNotMatter(long seed) {
		Generator random = new Generator(seed);
		List<String> addresses = someAddresses(random);
		List<String> shuffled = new ArrayList<>(addresses);
		Collections.shuffle(shuffled, new Random(seed));
		Placement one = placement(addresses);
		Placement other = placement(shuffled);

		for (int i = 0; i < 1000; i++) {
			Key key = random.key();
			assertThat(one.replicasOf(key, addresses.size())).isEqualTo(other.replicasOf(key, addresses.size()));
		}
	}

	@SeededTest
	void theListForFewerIsTheBeginningOfTheListForMore(long seed) {
		Generator random = new Generator(seed);
		Placement placement = placement(addresses("http://kvorum-%d.kvorum:9090", 12));

		for (int i = 0; i < 1000; i++) {
			Key key = random.key();
			List<Member> all = placement.replicasOf(key, 12);
			assertThat(all).doesNotHaveDuplicates();
			for (int from = 1; from < 12; from++) {
				assertThat(placement.replicasOf(key, from)).isEqualTo(all.subList(0, from));
			}
		}
	}

	@SeededTest
	void theOrderIsTheOneOfSortingAllMembersByTheirWeights(long seed) {
		Generator random = new Generator(seed);
		List<String> addresses = someAddresses(random);
		Placement placement = placement(addresses);

		for (int i = 0; i < 1000; i++) {
			Key key = random.key();
			int from = 1 + random.below(addresses.size());
			assertThat(placement.replicasOf(key, from)).extracting(Member::address)
				.containsExactlyElementsOf(sortedByWeight(addresses, key).subList(0, from));
		}
	}

	/** Written from the definition, without partitions in tables or ranks in numbers. */
	private static List<String> sortedByWeight(List<String> addresses, Key key) {
		long partition = Long.remainderUnsigned(Hashing.xxh3_64().hashBytesToLong(key.bytes()), 262_144);
		return addresses.stream()
			.sorted(Comparator
				.<String>comparingLong(address -> Hashing.xxh3_64()
					.hashStream()
					.putLong(Hashing.xxh3_64().hashBytesToLong(address.getBytes(StandardCharsets.UTF_8)))
					.putLong(partition)
					.getAsLong() >>> 9)
				.thenComparing(Comparator.naturalOrder()))
			.toList();
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 8, 20 })
	void aMemberThatLeavesChangesOnlyTheListsItWasIn(int size) {
		List<String> addresses = addresses("http://10.0.0.%d:9090", size);
		String leaving = addresses.get(size / 2);
		List<String> remaining = addresses.stream().filter(address -> !address.equals(leaving)).toList();
		Placement before = placement(addresses);
		Placement after = placement(remaining);

		for (Key key : oneKeyOfEachPartition()) {
			List<String> order = new ArrayList<>(addressesOf(before.replicasOf(key, size)));
			order.remove(leaving);
			if (!order.equals(addressesOf(after.replicasOf(key, size - 1)))) {
				throw new AssertionError("partition " + RendezvousPlacement.partitionOf(key) + " had " + order
						+ " and has " + after.replicasOf(key, size - 1));
			}
		}
	}

	/** Decision 8 has the figures. */
	@ParameterizedTest
	@CsvSource({ "3, http://10.0.0.%d:9090", "60, http://kvorum-%d.kvorum:9090", "60, http://127.0.0.1:90%02d" })
	void aMillionKeysAreSpreadEvenlyOverThreeToSixtyFourNodes(int smallest, String scheme) {
		int keys = 1_000_000;
		int replicas = 3;
		Key[] partitions = oneKeyOfEachPartition();
		int[] keysOf = new int[partitions.length];
		for (int i = 0; i < keys; i++) {
			keysOf[RendezvousPlacement.partitionOf(Generator.key("key-" + i))]++;
		}
		for (int size = smallest; size <= MOST_NODES; size += (size < 16) ? 1 : 4) {
			Placement placement = placement(addresses(scheme, size));
			long[] copies = new long[size];
			for (int partition = 0; partition < partitions.length; partition++) {
				for (Member member : placement.replicasOf(partitions[partition], replicas)) {
					copies[member.index()] += keysOf[partition];
				}
			}
			double mean = (double) keys * replicas / size;
			assertThat(Arrays.stream(copies).asDoubleStream().boxed()).as("copies on each of %d nodes", size)
				.allSatisfy(count -> assertThat(count).isBetween(0.95 * mean, 1.05 * mean));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 4 })
	void moreReplicasThanMembersAreRefusedAndSoAreNone(int from) {
		Placement placement = placement(addresses("http://10.0.0.%d:9090", 3));

		assertThatIllegalArgumentException().isThrownBy(() -> placement.replicasOf(Generator.key("a"), from))
			.withMessage("%d replicas of a key, where there are 3 members", from);
	}

	@Test
	void aNodeAloneHoldsEverything() {
		Placement placement = new RendezvousPlacement(Topology.alone());

		assertThat(placement.replicasOf(Generator.key("a"), 1)).containsExactly(new Member(0, "self"));
	}

	@Test
	void theLargestClusterCanAskAllItsMembers() {
		Placement placement = placement(addresses("http://10.0.0.%d:9090", Topology.MAX_MEMBERS));

		assertThat(placement.replicasOf(Generator.key("a"), Topology.MAX_MEMBERS)).hasSize(Topology.MAX_MEMBERS)
			.doesNotHaveDuplicates();
	}

	private static Placement placement(List<String> addresses) {
		return new RendezvousPlacement(Topology.of(addresses, 3));
	}

	private static List<String> addresses(String scheme, int count) {
		return IntStream.rangeClosed(1, count).mapToObj(scheme::formatted).toList();
	}

	private static List<String> addressesOf(List<Member> members) {
		return members.stream().map(Member::address).toList();
	}

	private static List<String> someAddresses(Generator random) {
		Set<String> addresses = new LinkedHashSet<>();
		int size = 1 + random.below(MOST_NODES);
		while (addresses.size() < size) {
			addresses.add("http://node%d:%d".formatted(random.below(100), 9000 + random.below(10)));
		}
		return List.copyOf(addresses);
	}

	/** At the index of its partition. */
	private static Key[] oneKeyOfEachPartition() {
		Key[] keys = new Key[Partitions.COUNT];
		int missing = keys.length;
		for (int i = 0; missing > 0; i++) {
			Key key = Generator.key("key " + i);
			int partition = RendezvousPlacement.partitionOf(key);
			if (keys[partition] == null) {
				keys[partition] = key;
				missing--;
			}
		}
		return keys;
	}

}
