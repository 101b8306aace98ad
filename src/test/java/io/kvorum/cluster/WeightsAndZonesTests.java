package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import io.kvorum.kv.Partitions;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

/** Placement on members that differ in weight, zone or both. */
class WeightsAndZonesTests {

	private static final int KEYS = 1_000_000;

	/** How much of the partitions a million keys give each; by partition. */
	private static final int[] KEYS_OF = keysOfPartitions();

	private static int[] keysOfPartitions() {
		int[] keys = new int[Partitions.COUNT];
		for (int i = 0; i < KEYS; i++) {
			keys[RendezvousPlacement.partitionOf(Generator.key("key-" + i))]++;
		}
		return keys;
	}

	private static Topology topology(int size, int factor, IntFunction<String> zone, IntUnaryOperator weight) {
		return Topology.ofMembers(IntStream.rangeClosed(1, size)
			.mapToObj(number -> member("http://10.0.0.%d:9090".formatted(number), zone.apply(number),
					weight.applyAsInt(number)))
			.toList(), factor);
	}

	private static Member member(String address, String zone, int weight) {
		return new Member(0, Member.idOf(address), address, zone, weight);
	}

	/** The copies of keys on each member. */
	private static long[] copiesOn(Topology topology) {
		RendezvousPlacement placement = new RendezvousPlacement(topology);
		long[] copies = new long[topology.size()];
		for (int partition = 0; partition < Partitions.COUNT; partition++) {
			for (Member member : placement.replicasOf(partition, topology.factor())) {
				copies[member.index()] += KEYS_OF[partition];
			}
		}
		return copies;
	}

	@ParameterizedTest
	@CsvSource({ "4, 1", "5, 2", "5, 3", "8, 3", "16, 3", "33, 3", "64, 3", "64, 5" })
	void membersHoldCopiesInProportionToTheirWeights(int size, int factor) {
		// No member would hold more than one copy of a key.
		Topology topology = topology(size, factor, _ -> "", number -> (number % 4 == 0) ? 3 : 2);

		long[] copies = copiesOn(topology);

		double total = topology.members().stream().mapToInt(Member::weight).sum();
		for (Member member : topology.members()) {
			double share = (double) KEYS * factor * member.weight() / total;
			assertThat(copies[member.index()] / share).as("%s", member).isEqualTo(1, within(0.05));
		}
	}

	@Test
	void aMemberHoldsOneCopyOfEachKeyAtMostAndTheOthersShareTheRest() {
		Topology topology = topology(4, 2, _ -> "", number -> (number == 4) ? 100 : 1);

		assertThat(copiesOn(topology)).satisfies(copies -> {
			assertThat(copies[3] / (double) KEYS).isEqualTo(1, within(0.05));
			for (int i = 0; i < 3; i++) {
				assertThat(copies[i] * 3 / (double) KEYS).isEqualTo(1, within(0.05));
			}
		});
	}

	@Test
	void membersOfTheLeastWeightAmongTheHeaviestHoldNextToNothing() {
		Topology topology = topology(66, 1, _ -> "", number -> (number % 8 == 0) ? 1 : Member.MAX_WEIGHT);

		long[] copies = copiesOn(topology);

		assertThat(topology.members()).filteredOn(member -> member.weight() == 1)
			.allSatisfy(member -> assertThat(copies[member.index()]).isLessThan(KEYS / 1000));
	}

	@ParameterizedTest
	@CsvSource({ "3, 3", "4, 3", "5, 3", "3, 5", "2, 3" })
	void copiesAreInDifferentZonesAndNoZoneHasTwoMoreThanAnother(int zones, int factor) {
		RendezvousPlacement placement = new RendezvousPlacement(
				topology(12, factor, number -> "zone-" + number % zones, number -> number % 2 + 1));

		for (int partition = 0; partition < Partitions.COUNT; partition += 97) {
			int[] copies = new int[zones];
			for (Member member : placement.replicasOf(partition, factor)) {
				copies[Integer.parseInt(member.zone().substring("zone-".length()))]++;
			}
			assertThat(Arrays.stream(copies).max().getAsInt() - Arrays.stream(copies).min().getAsInt())
				.as("copies of partition %d in zones: %s", partition, Arrays.toString(copies))
				.isLessThanOrEqualTo(1);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 4, 6, 16 })
	void zonesOfTheSameWeightAndMembersWithinThemHoldEqualShares(int zones) {
		Topology topology = topology(zones * 4, 3, number -> "zone-" + number % zones,
				number -> (number <= zones) ? 3 : 1);

		long[] copies = copiesOn(topology);

		for (Member member : topology.members()) {
			double share = KEYS * 3.0 / zones * member.weight() / 6;
			assertThat(copies[member.index()] / share).as("%s", member).isEqualTo(1, within(0.05));
		}
	}

	@Test
	void theListForFewerIsTheBeginningOfTheListForMore() {
		RendezvousPlacement placement = new RendezvousPlacement(
				topology(12, 3, number -> "zone-" + number % 5, number -> number));

		for (int partition = 0; partition < Partitions.COUNT; partition += 997) {
			List<Member> all = placement.replicasOf(partition, 12);
			assertThat(all).doesNotHaveDuplicates();
			for (int from = 1; from < 12; from++) {
				assertThat(placement.replicasOf(partition, from)).isEqualTo(all.subList(0, from));
			}
		}
	}

	@Test
	void aMemberWithAnotherAddressKeepsItsKeys() {
		Topology before = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1", "http://d:1"), 2);
		List<Member> moved = new ArrayList<>(before.members());
		moved.set(0, new Member(0, moved.getFirst().id(), "http://z:1", "", 1));

		assertThat(TopologyChange.between(before, Topology.ofMembers(moved, 2)).copies()).isZero();
	}

	/** What a node that comes has to get, and no more than a twentieth beside it. */
	@ParameterizedTest
	@CsvSource({ "3, 1, 2, 1", "4, 3, 2, 1", "10, 1, 2, 1", "10, 3, 2, 1", "63, 2, 2, 1", "20, 1, 1, 4",
			"20, 1, 1, 3" })
	void aNodeThatComesMovesItsShareOnly(int size, int weight, int weightOfSome, int zones) {
		IntFunction<String> zone = number -> "zone-" + number % zones;
		IntUnaryOperator weights = number -> (number > size) ? weight : (number % 2 == 0) ? weightOfSome : 1;
		Topology before = topology(size, 3, zone, weights);
		Topology after = topology(size + 1, 3, zone, weights);

		TopologyChange change = TopologyChange.between(before, after);

		long own = change.shareOf(Member.idOf("http://10.0.0.%d:9090".formatted(size + 1))).gained();
		assertThat(change.copies()).isBetween(own, (long) (own * 1.05));
	}

	@Test
	void aNodeThatGoesGivesUpWhatItHadAndTheOthersGetThat() {
		Topology before = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1", "http://d:1"), 3);
		Topology after = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

		TopologyChange change = TopologyChange.between(before, after);

		TopologyChange.Share gone = change.shareOf(Member.idOf("http://d:1"));
		assertThat(gone.gained()).isZero();
		assertThat(change.copies()).isEqualTo(gone.lost());
		assertThat(change.shares()).hasSize(4);
		assertThat(gone.lost()).isEqualTo(gone.held());
		assertThat(change.shares().values()).extracting(share -> share.held() + share.gained() - share.lost())
			.containsExactly(Partitions.COUNT, Partitions.COUNT, Partitions.COUNT, 0);
	}

	@Test
	void whatMakesNoMemberIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> member("http://a:1", "", 0))
			.withMessage("http://a:1 has a weight of 0; a weight is 1 to 1000");
		assertThatIllegalArgumentException().isThrownBy(() -> member("http://a:1", "", 1001))
			.withMessage("http://a:1 has a weight of 1001; a weight is 1 to 1000");
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.ofMembers(
				List.of(member("http://a:1", "", 1), new Member(0, Member.idOf("http://a:1"), "http://b:1", "", 1)), 1))
			.withMessageStartingWith("two members have the same identity");
	}

}
