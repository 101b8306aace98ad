package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Both topologies of a cluster that changes from one to the other. */
class ChangedTopologyTests {

	private static final Topology ABC = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final Topology BCDE = Topology.of(List.of("http://b:1", "http://c:1", "http://d:1", "http://e:1"),
			3);

	private static final RendezvousPlacement PLACED_ABC = new RendezvousPlacement(ABC);

	private static final RendezvousPlacement PLACED_BCDE = new RendezvousPlacement(BCDE);

	private static final Topology ALONE = Topology.of(List.of("http://a:1"), 3);

	@Test
	void itsMembersAreThoseOfBothByAddress() {
		Topology change = Topology.changing(BCDE, ABC);

		assertThat(change.members()).extracting(Member::address)
			.containsExactly("http://a:1", "http://b:1", "http://c:1", "http://d:1", "http://e:1");
		assertThat(change.members()).extracting(Member::index).containsExactly(0, 1, 2, 3, 4);
		assertThat(change.parts()).containsExactly(BCDE, ABC);
		assertThat(change.isChanging()).isTrue();
		assertThat(ABC.isChanging()).isFalse();
		assertThat(ABC.parts()).containsExactly(ABC);
	}

	/** Nodes that go from one to the other, and those that go back, are not together. */
	@Test
	void theChangeBackIsAnother() {
		long change = Topology.changing(ABC, BCDE).fingerprint();

		assertThat(change).isEqualTo(Topology.changing(ABC, BCDE).fingerprint())
			.isNotEqualTo(Topology.changing(BCDE, ABC).fingerprint())
			.isNotEqualTo(ABC.fingerprint())
			.isNotEqualTo(BCDE.fingerprint());
	}

	@Test
	void asManyMayBeAwayAsEitherTolerates() {
		assertThat(Topology.changing(ABC, BCDE).tolerance()).isEqualTo(1);
		assertThat(Topology.changing(ALONE, ABC).tolerance()).isZero();
		assertThat(Topology.changing(ABC, ALONE).tolerance()).isZero();
		assertThat(Topology.changing(ALONE, ABC).factor()).isEqualTo(3);
	}

	@Test
	void aMemberIsFoundByItsIndexOrByItsTag() {
		Topology change = Topology.changing(ABC, BCDE);
		Member d = change.member("http://d:1");

		assertThat(change.memberOf(3)).isEqualTo(d);
		assertThat(change.memberOf(d.tag())).isEqualTo(d);
		assertThat(BCDE.member("http://d:1").tag()).isEqualTo(d.tag()).isNegative();
		assertThatIllegalArgumentException().isThrownBy(() -> ABC.memberOf(d.tag()));
		assertThatIllegalArgumentException().isThrownBy(() -> ABC.memberOf(3));
	}

	@Test
	void whatIsNoChangeFromOneToOneOtherIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.changing(ABC, ABC))
			.withMessageStartingWith("there is nothing to change: both topologies are ");
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.changing(Topology.changing(ABC, BCDE), ALONE))
			.withMessage("a change is from one topology to one other");
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.changing(many(0), many(100)))
			.withMessage("a topology has 1 to 255 members, these two have 300");
	}

	private static Topology many(int first) {
		return Topology.of(IntStream.range(first, first + 200).mapToObj("http://10.0.0.%d:9090"::formatted).toList(),
				3);
	}

	@SeededTest
	void eachPartPlacesAKeyAsItDoesAlone(long seed) {
		Generator random = new Generator(seed);
		RendezvousPlacement both = new RendezvousPlacement(Topology.changing(ABC, BCDE));
		List<RendezvousPlacement> alone = List.of(PLACED_ABC, PLACED_BCDE);
		for (int i = 0; i < 1_000; i++) {
			Key key = random.key();
			for (int part = 0; part < 2; part++) {
				for (int from = 1; from <= 3; from++) {
					assertThat(addresses(both.replicasOf(key, part, from)))
						.isEqualTo(addresses(alone.get(part).replicasOf(key, 0, from)));
				}
			}
		}
	}

	/** Anti-entropy, hints and collected copies go by the rank. */
	@SeededTest
	void aMemberRanksAsInThePartWhereItIsNearerToTheKey(long seed) {
		Generator random = new Generator(seed);
		Topology change = Topology.changing(ABC, BCDE);
		RendezvousPlacement both = new RendezvousPlacement(change);
		for (int i = 0; i < 1_000; i++) {
			int partition = RendezvousPlacement.partitionOf(random.key());
			for (int copies = 1; copies <= 3; copies++) {
				List<String> expected = new ArrayList<>(addresses(PLACED_ABC.replicasOf(partition, copies)));
				PLACED_BCDE.replicasOf(partition, copies)
					.stream()
					.map(Member::address)
					.filter(address -> !expected.contains(address))
					.forEach(expected::add);
				assertThat(addresses(both.replicasOf(partition, copies))).containsExactlyInAnyOrderElementsOf(expected);
				for (Member member : change.members()) {
					assertThat(both.rankOf(partition, member) < copies).isEqualTo(expected.contains(member.address()));
				}
			}
		}
		assertThat(both.copiesOf(Copies.DEFAULT)).isEqualTo(3);
	}

	private static List<String> addresses(List<Member> members) {
		return members.stream().map(Member::address).toList();
	}

}
