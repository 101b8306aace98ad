package io.kvorum.cluster;

import java.util.List;

import io.kvorum.cluster.TopologyEdit.Node;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TopologyEditTests {

	private static final Topology THREE = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final Topology ZONES = Topology
		.ofMembers(List.of(new Member(0, 1, "http://a:1", "x", 1), new Member(0, 2, "http://b:1", "y", 1)), 2);

	private static TopologyEdit edit(List<Node> add, List<String> remove, @Nullable Integer factor) {
		return new TopologyEdit(add, remove, factor);
	}

	private static Node node(String address) {
		return new Node(address, null, null);
	}

	private static List<String> addresses(Topology topology) {
		return topology.members().stream().map(Member::address).toList();
	}

	@Test
	void nodesAreAddedRemovedAndReplaced() {
		Topology after = edit(List.of(node("https://D:1"), node("http://e:1")), List.of("http://b:1"), null)
			.applyTo(THREE);

		assertThat(addresses(after)).containsExactlyInAnyOrder("http://a:1", "http://c:1", "http://d:1", "http://e:1");
		assertThat(after.wantedFactor()).isEqualTo(3);
	}

	@Test
	void aNodeIsNamedByItsAddressInAnyForm() {
		assertThat(addresses(edit(List.of(), List.of("https://B:01"), 2).applyTo(THREE)))
			.containsExactlyInAnyOrder("http://a:1", "http://c:1");
	}

	@Test
	void aNodeIsAlsoNamedByItsIdentity() {
		String b = Long.toHexString(THREE.members().get(1).id());

		assertThat(addresses(edit(List.of(), List.of(b), 2).applyTo(THREE)))
			.doesNotContain(THREE.members().get(1).address())
			.hasSize(2);
	}

	@Test
	void zonesAndWeightsOfNodesChangeAndTheRestOfThemStays() {
		Topology after = edit(List.of(new Node("http://a:1", null, 5), new Node("http://b:1", "z", null)), List.of(),
				null)
			.applyTo(ZONES);

		assertThat(after.member("http://a:1")).extracting(Member::zone, Member::weight, Member::id)
			.containsExactly("x", 5, 1L);
		assertThat(after.member("http://b:1")).extracting(Member::zone, Member::weight, Member::id)
			.containsExactly("z", 1, 2L);
	}

	@Test
	void aFactorIsThatOfAllNodesAndAnEmptyZoneIsNone() {
		assertThat(edit(List.of(), List.of(), 2).applyTo(THREE)).extracting(Topology::factor, Topology::size)
			.containsExactly(2, 3);
		Topology plain = edit(List.of(new Node("http://a:1", "", null), new Node("http://b:1", "", null)), List.of(),
				null)
			.applyTo(ZONES);
		assertThat(plain.members()).extracting(Member::zone).containsOnly("");
		assertRefused(ZONES, edit(List.of(new Node("http://a:1", "", null)), List.of(), null),
				"without one is [http://a:1]");
	}

	@Test
	void aNodeThatIsRemovedTwiceIsRemoved() {
		String b = Long.toHexString(THREE.member("http://b:1").id());

		assertThat(addresses(edit(List.of(), List.of("http://b:1", b), 2).applyTo(THREE))).containsExactly("http://a:1",
				"http://c:1");
	}

	@Test
	void whatMakesNoSenseIsRefusedWithTheReason() {
		assertRefused(THREE, edit(List.of(), List.of("http://x:1"), null), "http://x:1 is none of the nodes");
		assertRefused(THREE, edit(List.of(node("http://a:1")), List.of("http://a:1"), null),
				"http://a:1 is to be added and to be removed");
		assertRefused(THREE, edit(List.of(node("http://d:1"), new Node("https://D:1", null, 2)), List.of(), null),
				"http://d:1 is to be added twice");
		assertRefused(THREE, edit(List.of(), List.of("http://a:1"), null), "stage a factor of 2 or less as well");
		assertRefused(THREE, edit(List.of(), List.of(), 5), "3 nodes would be left and each key has 5 replicas");
		assertRefused(THREE, edit(List.of(), List.of("http://a:1", "http://b:1", "http://c:1"), null),
				"no node would be left");
		assertRefused(THREE, edit(List.of(), List.of(), null), "nothing would change");
		assertRefused(THREE, edit(List.of(new Node("http://a:1", null, 1)), List.of(), null), "nothing would change");
		assertRefused(ZONES, edit(List.of(node("http://c:1")), List.of(), null),
				"either all nodes have a zone, or none");
	}

	/** The text of a layout has one line for each node, in words. */
	@Test
	void whatWouldNotFitIntoTheTextOfALayoutIsRefused() {
		for (String address : List.of("http://d:1 x", "http://d", "d:1", "http://d:1\nnext", "", "http://d:1/path")) {
			assertRefused(THREE, edit(List.of(node(address)), List.of(), null), "must be http://host:port");
		}
		for (String zone : List.of("rack 1", "a\nb", "~", "x".repeat(64))) {
			assertRefused(ZONES, edit(List.of(new Node("http://c:1", zone, null)), List.of(), null),
					"must be 1 to 63 letters");
		}
		for (int weight : List.of(0, -1, Member.MAX_WEIGHT + 1)) {
			assertRefused(ZONES, edit(List.of(new Node("http://c:1", "z", weight)), List.of(), null),
					"a weight is 1 to 1000");
		}
	}

	private static void assertRefused(Topology topology, TopologyEdit edit, String why) {
		assertThatThrownBy(() -> edit.applyTo(topology)).as(edit.toString())
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining(why);
	}

}
