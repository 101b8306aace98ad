package io.kvorum.cluster;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LayoutTests {

	private static final String NODE = "node 0000000000000001 1 ~ http://a:1";

	private static final Topology BEFORE = Topology
		.ofMembers(List.of(new Member(0, 1, "http://a:1", "", 1), new Member(0, 2, "http://b:1", "", 1)), 3);

	private static final Topology AFTER = Topology
		.ofMembers(List.of(new Member(0, 1, "http://a:1", "r1", 1), new Member(0, 255, "http://c:1", "r2", 20)), 2);

	/** It is on disks and between nodes of different releases. */
	@Test
	void theTextStaysTheSame() {
		Layout moving = new Layout(7, BEFORE).movingTo(AFTER, 9);

		assertThat(moving.toText()).as("it gets the name of the topology before").isEqualTo("""
				layout 9
				founding %s
				factor 3
				node 0000000000000001 1 ~ http://a:1
				node 0000000000000002 1 ~ http://b:1
				next
				factor 2
				node 0000000000000001 1 r1 http://a:1
				node 00000000000000ff 20 r2 http://c:1
				""".formatted(HexFormat.of().toHexDigits(BEFORE.fingerprint())));
		assertThat(new LayoutDecision(12, new Layout(9, BEFORE), AFTER, false).toText()).isEqualTo("""
				decision 12
				layout 9
				factor 3
				node 0000000000000001 1 ~ http://a:1
				node 0000000000000002 1 ~ http://b:1
				staged
				factor 2
				node 0000000000000001 1 r1 http://a:1
				node 00000000000000ff 20 r2 http://c:1
				""");
		assertThat(new LayoutDecision(12, new Layout(9, BEFORE)).pausing(true).toText()).isEqualTo("""
				decision 13
				paused
				layout 9
				factor 3
				node 0000000000000001 1 ~ http://a:1
				node 0000000000000002 1 ~ http://b:1
				""");
	}

	@Test
	void itNamesTheCluster() {
		Layout founding = new Layout(0, BEFORE, 0x12ab);
		Layout moving = founding.movingTo(AFTER, 1);

		assertThat(moving.moved(2).toText()).isEqualTo("""
				layout 2
				founding 00000000000012ab
				factor 2
				node 0000000000000001 1 r1 http://a:1
				node 00000000000000ff 20 r2 http://c:1
				""");
		assertThat(List.of(moving, moving.moved(2), moving.aborted(2))).allSatisfy(layout -> {
			assertThat(layout.founding()).isEqualTo(0x12ab);
			assertThat(Layout.parse(layout.toText()).founding()).isEqualTo(0x12ab);
			assertThat(layout.isOfSameCluster(founding)).isTrue();
			assertThat(layout.isOfSameCluster(new Layout(1, AFTER, 0x12ac))).isFalse();
			assertThat(layout.isOfSameCluster(new Layout(1, AFTER))).as("a store that does not say").isTrue();
		});
	}

	@SeededTest
	void whatWasWrittenIsReadAgain(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 50; i++) {
			Layout layout = new Layout(random.below(1000), any(random));
			Layout read = random.chance(50) ? layout : layout.movingTo(any(random), layout.number() + 1);
			LayoutDecision decision = new LayoutDecision(2000, read, random.chance(50) ? any(random) : null,
					random.chance(50));

			assertThat(Layout.parse(read.toText()).toText()).isEqualTo(read.toText());
			assertThat(Layout.parse(read.toText()).topology().fingerprint()).isEqualTo(read.topology().fingerprint());
			assertThat(LayoutDecision.parse(decision.toText()).toText()).isEqualTo(decision.toText());
		}
	}

	private static Topology any(Generator random) {
		boolean zones = random.chance(50);
		List<Member> members = new ArrayList<>();
		for (int i = random.below(6); i >= 0; i--) {
			members.add(new Member(0, i * 7919L - 3, "http://n" + i + ":9090", zones ? "z" + random.below(3) : "",
					1 + random.below(Member.MAX_WEIGHT)));
		}
		return Topology.ofMembers(members, 1 + random.below(5));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "layout", "layout x\nfactor 3\nnode 1 1 ~ http://a:1", "layout 1", "layout 1\nfactor",
			"layout -1\nfactor 3\nnode 0000000000000001 1 ~ http://a:1", "layout 1\nfactor 3",
			"layout 1\nfactor 3\nnode 0000000000000001 1 http://a:1",
			"layout 1\nfactor 3\nnode 0000000000000001 1 ~ http://a:1\nnext",
			"layout 1\nfactor 3\nnode 0000000000000001 0 ~ http://a:1", "layout 1\nfactor 3\nnode g 1 ~ http://a:1",
			"waiting" })
	void anythingElseIsRefused(String text) {
		assertThatThrownBy(() -> Layout.parse(text)).isInstanceOf(IllegalArgumentException.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "decision", "decision 1", "decision x\nlayout 1\nfactor 3\n" + NODE,
			"layout 1\nfactor 3\n" + NODE, "decision 1\nlayout 2\nfactor 3\n" + NODE,
			"decision 2\nlayout 1\nfactor 3\n" + NODE + "\nstaged",
			"decision 2\nlayout 1\nfactor 3\n" + NODE + "\nstaged\nfactor 3",
			"decision 2\nlayout 1\nfactor 3\n" + NODE + "\nstaged\nfactor 3\n" + NODE + "\n" + NODE,
			"decision 2\nlayout 1\nfactor 3\n" + NODE + "\nnext\nfactor 3\n" + NODE })
	void anythingElseIsNoDecision(String text) {
		assertThatThrownBy(() -> LayoutDecision.parse(text)).isInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void eachDecisionHasAHigherNumberAndNamesTheLayoutItPutsInForce() {
		LayoutDecision founding = new LayoutDecision(0, new Layout(0, BEFORE));
		LayoutDecision staged = founding.staging(AFTER);
		assertThat(staged.number()).isEqualTo(1);
		assertThat(staged.layout().number()).isZero();

		LayoutDecision applied = staged.applying();
		assertThat(applied.number()).isEqualTo(2);
		assertThat(applied.staged()).isNull();
		assertThat(applied.layout().number()).isEqualTo(2);
		assertThat(applied.layout().isMoving()).isTrue();

		assertThat(applied.finishing().layout().number()).isEqualTo(3);
		assertThat(applied.finishing().layout().topology().fingerprint()).isEqualTo(AFTER.fingerprint());
		assertThat(applied.aborting().layout().number()).isEqualTo(3);
		assertThat(applied.aborting().layout().topology().fingerprint()).isEqualTo(BEFORE.fingerprint());
		assertThat(staged.aborting().layout().number()).as("nothing that was in force is given up").isZero();
		assertThatThrownBy(founding::applying).isInstanceOf(IllegalStateException.class);
	}

}
