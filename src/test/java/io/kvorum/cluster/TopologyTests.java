package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TopologyTests {

	private static final List<String> THREE = List.of("http://c:1", "http://a:1", "http://b:1");

	@Test
	void membersAreInTheOrderOfTheirAddresses() {
		assertThat(Topology.of(THREE, 3).members()).containsExactly(new Member(0, "http://a:1"),
				new Member(1, "http://b:1"), new Member(2, "http://c:1"));
	}

	@Test
	void theFactorIsCappedToTheNumberOfMembers() {
		assertThat(Topology.of(THREE, 2).factor()).isEqualTo(2);
		assertThat(Topology.of(THREE, 5).factor()).isEqualTo(3);
	}

	@Test
	void aNodeAloneIsATopologyOfOne() {
		assertThat(Topology.alone().members()).containsExactly(new Member(0, "self"));
		assertThat(Topology.alone().factor()).isEqualTo(1);
	}

	@Test
	void aMemberIsFoundByItsAddress() {
		assertThat(Topology.of(THREE, 3).member("http://b:1")).isEqualTo(new Member(1, "http://b:1"));
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.of(THREE, 3).member("http://d:1"))
			.withMessageStartingWith("http://d:1 is none of ");
	}

	@Test
	void whatMakesNoTopologyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.of(List.of("a", "b", "a"), 3))
			.withMessage("an address is there twice in [a, b, a]");
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.of(List.of(), 3))
			.withMessage("a topology has 1 to 255 members, this one has 0");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Topology.of(IntStream.range(0, 256).mapToObj(Integer::toString).toList(), 3))
			.withMessage("a topology has 1 to 255 members, this one has 256");
		assertThatIllegalArgumentException().isThrownBy(() -> Topology.of(THREE, 0))
			.withMessage("a key has at least 1 replica, not 0");
	}

	@SeededTest
	void nodesThatAreGivenTheSameAddressesInAnyOrderHaveTheSameFingerprint(long seed) {
		List<String> shuffled = new ArrayList<>(THREE);
		Collections.shuffle(shuffled, new Random(seed));

		assertThat(Topology.of(shuffled, 3).fingerprint()).isEqualTo(Topology.of(THREE, 3).fingerprint());
	}

	@Test
	void aFactorBeyondTheNumberOfMembersIsNoDifference() {
		assertThat(Topology.of(THREE, 5).fingerprint()).isEqualTo(Topology.of(THREE, 3).fingerprint());
	}

	@Test
	void anyDifferenceGivesAnotherFingerprint() {
		assertThat(List.of(Topology.of(THREE, 3), Topology.of(THREE, 2), Topology.alone(),
				Topology.of(List.of("http://a:1", "http://b:1"), 2), Topology.of(List.of("http://a:1"), 1),
				Topology.of(List.of("http://a:1", "http://b:1", "http://c:2"), 3),
				Topology.of(List.of("http://a:1", "http://b:1", "http://c:1", "http://d:1"), 3),
				Topology.of(List.of("http://a:1http://b:1", "http://c:1"), 2),
				Topology.of(List.of("http://a:1", "http://b:1http://c:1"), 2)))
			.extracting(Topology::fingerprint)
			.doesNotHaveDuplicates();
	}

	/** Between versions of Kvorum that work together it must not change. */
	@Test
	void theFingerprintIsTheSameInEveryRun() {
		assertThat(Topology.of(THREE, 3).fingerprint()).isEqualTo(6347676478509034525L);
	}

}
