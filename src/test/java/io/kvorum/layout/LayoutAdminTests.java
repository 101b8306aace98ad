package io.kvorum.layout;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyEdit;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.testing.ConditionalStore;
import io.kvorum.testing.Now;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** An operator changes the nodes of a cluster of three. */
class LayoutAdminTests {

	private static final Topology THREE = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final TopologyEdit ADD_D = add("http://d:1");

	private final ConditionalStore store = new ConditionalStore();

	private final OneNode node = new OneNode();

	private final LayoutAdmin admin = new LayoutAdmin(
			new LayoutRegister(this.store, () -> new LayoutDecision(this.node.own.number(), this.node.own)), this.node);

	private static TopologyEdit add(String address) {
		return new TopologyEdit(List.of(new TopologyEdit.Node(address, null, null)), List.of(), null);
	}

	private static TopologyEdit replace(String dead, String by) {
		return new TopologyEdit(List.of(new TopologyEdit.Node(by, null, null)), List.of(dead), null);
	}

	private LayoutDecision stage(TopologyEdit edit) {
		return Objects.requireNonNull(Now.of(this.admin.stage(edit)));
	}

	private LayoutDecision apply(long number) {
		return Objects.requireNonNull(Now.of(this.admin.apply(number)));
	}

	private LayoutDecision shown() {
		return Objects.requireNonNull(Now.of(this.admin.show()));
	}

	private void assertRefused(Mono<?> step, boolean isConflict, String why) {
		String before = shown().toText();
		assertThatThrownBy(() -> Now.of(step)).isInstanceOfSatisfying(LayoutRefusedException.class, refused -> {
			assertThat(refused).hasMessageContaining(why);
			assertThat(refused.isConflict()).isEqualTo(isConflict);
		});
		assertThat(shown().toText()).as("nothing was changed").isEqualTo(before);
	}

	@Test
	void untilSomethingIsDecidedTheLayoutIsThatOfTheConfiguration() {
		assertThat(shown()).isEqualTo(new LayoutDecision(0, new Layout(0, THREE)));
	}

	@Test
	void whatIsStagedIsAppliedAndEndsWithTheNextTopology() {
		LayoutDecision staged = stage(ADD_D);
		assertThat(this.node.told).as("nothing is in force yet").isEmpty();
		LayoutDecision applied = apply(staged.number());
		assertThat(applied.layout().isMoving()).isTrue();
		assertThat(this.node.told).containsExactly(applied);

		LayoutDecision over = Now.of(this.admin.finish(applied.layout()));
		assertThat(shown().toText()).isEqualTo(Objects.requireNonNull(over).toText());
		assertThat(shown().layout().isMoving()).isFalse();
		assertThat(shown().layout().topology().size()).isEqualTo(4);
		assertThat(this.node.told).hasSize(2);
	}

	@Test
	void whatIsDecidedAlreadyIsNotWrittenAgain() {
		Layout moving = apply(stage(ADD_D).number()).layout();
		LayoutDecision over = Objects.requireNonNull(Now.of(this.admin.finish(moving)));
		int written = this.store.options().size();

		assertThat(Now.of(this.admin.finish(moving))).extracting(LayoutDecision::number).isEqualTo(over.number());
		assertThat(this.store.options()).hasSize(written);
	}

	@Test
	void aChangeUnderWayIsFollowedByNoOther() {
		LayoutDecision applied = apply(stage(ADD_D).number());

		assertRefused(this.admin.stage(add("http://e:1")), true, "The change to layout 2 is under way");
		assertRefused(this.admin.apply(applied.number()), true, "The change to layout 2 is under way");
	}

	@Test
	void whatIsUnderWayOrStagedIsGivenUpAndNothingElse() {
		assertRefused(this.admin.abort(null), true, "There is nothing to abort");
		LayoutDecision staged = stage(ADD_D);
		assertThat(Objects.requireNonNull(Now.of(this.admin.abort(null))).staged()).isNull();
		assertRefused(this.admin.apply(staged.number()), true, "Nothing is staged.");

		Layout moving = apply(stage(ADD_D).number()).layout();
		assertRefused(this.admin.abort(staged.number()), true, "Another decision was made meanwhile, as 4.");
		LayoutDecision aborted = Objects.requireNonNull(Now.of(this.admin.abort(4L)));
		assertThat(aborted.layout().topology().fingerprint()).isEqualTo(THREE.fingerprint());
		assertThat(aborted.layout().number()).isGreaterThan(moving.number());

		Now.of(this.admin.finish(moving));
		assertThat(shown().toText()).as("a node that did not know").isEqualTo(aborted.toText());
	}

	@Test
	void aChangeUnderWayIsPausedAndResumed() {
		assertRefused(this.admin.pause(true), true, "No change is under way.");
		LayoutDecision applied = apply(stage(ADD_D).number());

		LayoutDecision paused = Objects.requireNonNull(Now.of(this.admin.pause(true)));
		assertThat(shown().isPaused()).isTrue();
		assertThat(paused.layout().number()).as("the change is the same").isEqualTo(applied.layout().number());
		assertThat(Objects.requireNonNull(Now.of(this.admin.pause(true))).number()).as("it is paused already")
			.isEqualTo(paused.number());
		Now.of(this.admin.pause(false));
		assertThat(shown().isPaused()).isFalse();
		Now.of(this.admin.pause(true));
		Now.of(this.admin.abort(null));
		assertThat(shown().isPaused()).isFalse();
		assertThat(this.node.told).hasSize(6);
	}

	@Test
	void ofTwoOperatorsOneWinsAndTheOtherIsTold() {
		LayoutDecision mine = stage(ADD_D);
		LayoutDecision theirs = stage(add("http://e:1"));

		assertRefused(this.admin.apply(mine.number()), true, "Another change was staged meanwhile, as 2");
		this.store.beforeNextWrite(() -> stage(add("http://f:1")));
		assertRefusedMeanwhile(this.admin.apply(theirs.number()));
	}

	/** The other one staged on what was in force: so does this one. */
	@Test
	void whatIsStagedMeanwhileByAnotherOperatorIsReplaced() {
		this.store.beforeNextWrite(() -> stage(add("http://e:1")));
		LayoutDecision staged = stage(ADD_D);

		assertThat(staged.number()).isEqualTo(2);
		assertThat(Objects.requireNonNull(shown().staged()).has("http://d:1")).isTrue();
		assertThat(Objects.requireNonNull(shown().staged()).has("http://e:1")).isFalse();
	}

	@Test
	void ofAnEndAndAnAbortAtOnceTheEarlierOneHolds() {
		Layout moving = apply(stage(ADD_D).number()).layout();
		this.store.beforeNextWrite(() -> Now.of(this.admin.finish(moving)));

		assertThatThrownBy(() -> Now.of(this.admin.abort(null))).isInstanceOf(LayoutRefusedException.class)
			.hasMessage(
					"There is nothing to abort: no change is under way, and nothing is staged. To take back a change that is done, stage another one.");
		assertThat(shown().layout().topology().size()).isEqualTo(4);
		assertThat(this.node.told).extracting(decision -> decision.layout().number()).containsExactly(2L, 3L);
	}

	@Test
	void aChangeOfTooManyNodesInAllIsNotEvenStaged() {
		List<TopologyEdit.Node> many = IntStream.range(0, Topology.MAX_MEMBERS)
			.mapToObj(i -> new TopologyEdit.Node("http://n%d:1".formatted(i), null, null))
			.toList();

		assertRefused(this.admin.stage(new TopologyEdit(many, List.of(), null)), false,
				"a topology has 1 to 255 members, this one has 258");
		assertRefused(this.admin.stage(new TopologyEdit(many, List.of("http://a:1", "http://b:1", "http://c:1"), null)),
				false, "a topology has 1 to 255 members, these two have 258");
	}

	private static void assertRefusedMeanwhile(Mono<?> step) {
		assertThatThrownBy(() -> Now.of(step)).isInstanceOfSatisfying(LayoutRefusedException.class,
				refused -> assertThat(refused.isConflict()).isTrue());
	}

	@Test
	void whoAlwaysLosesIsToldToo() {
		this.store.failWrites(new ConditionNotMetException(null));

		assertRefused(this.admin.stage(ADD_D), true, "Other decisions were made meanwhile");
	}

	@Test
	void anEditThatMakesNoSenseIsRefused() {
		assertRefused(this.admin.stage(add("http://d")), false, "must be http://host:port");
		assertRefused(this.admin.stage(add("http://a:1")), false, "nothing would change");
	}

	@Test
	void aNodeIsAddedOnlyIfItWaitsForThatWithAnEmptyStore() {
		long number = stage(ADD_D).number();
		this.node.answers.put("http://d:1", LayoutPeers.NOT_EMPTY);
		assertRefused(this.admin.apply(number), false, "its store is not empty");
		this.node.answers.put("http://d:1", new Layout(9, THREE).toText());
		assertRefused(this.admin.apply(number), false, "it belongs to a cluster already");
		this.node.answers.remove("http://d:1");
		assertRefused(this.admin.apply(number), false, "http://d:1 cannot be added: it does not answer");
	}

	@Test
	void nodesThatStayHaveToBeThereAndSoHasAMajorityOfEachKey() {
		this.node.answers.remove("http://c:1");
		assertRefused(this.admin.apply(stage(ADD_D).number()), false, "[http://c:1] do not answer and are to stay");

		assertThat(apply(stage(replace("http://c:1", "http://d:1")).number()).layout().isMoving()).isTrue();
	}

	@Test
	void nodesThatAskForItAreAddedAsFarAsTheyAnswerAndAskStill() {
		asks("http://d:1?weight=2");
		this.node.answers.remove("http://e:1");
		this.node.answers.put("http://f:1", LayoutPeers.NOT_EMPTY);
		this.node.answers.put("http://g:1", LayoutPeers.ASKING + "http://h:1?weight=1");
		this.node.answers.put("http://i:1", LayoutPeers.WAITING);

		LayoutDecision joined = Objects.requireNonNull(Now.of(this.admin
			.join(List.of("http://a:1", "http://d:1", "http://e:1", "http://f:1", "http://g:1", "http://i:1"))));
		assertThat(joined.layout().isMoving()).isTrue();
		assertThat(joined.layout().after().members()).extracting(member -> member.address() + " " + member.weight())
			.containsExactly("http://a:1 1", "http://b:1 1", "http://c:1 1", "http://d:1 2");
		assertThat(shown().toText()).isEqualTo(joined.toText());
		assertThat(this.node.told).containsExactly(joined);
	}

	private void asks(String node) {
		this.node.answers.put(node.substring(0, node.indexOf('?')), LayoutPeers.ASKING + node);
	}

	@Test
	void aNodeThatDoesNotFitHoldsUpNoOther() {
		asks("http://d:1?zone=x&weight=1");
		asks("http://e:1?weight=1");

		assertRefused(this.admin.join(List.of("http://d:1")), false, "either all nodes have a zone, or none");
		LayoutDecision joined = Objects.requireNonNull(Now.of(this.admin.join(List.of("http://d:1", "http://e:1"))));
		assertThat(joined.layout().after().members()).extracting(Member::address)
			.containsExactly("http://a:1", "http://b:1", "http://c:1", "http://e:1");
	}

	@Test
	void whoAsksIsNotAddedWhileAnOperatorChangesSomethingOrANodeIsAway() {
		asks("http://d:1?weight=1");
		asks("http://e:1?weight=1");
		List<String> asking = List.of("http://d:1");
		assertThat(Now.of(this.admin.join(List.of("http://a:1")))).as("it is there").isNull();
		stage(add("http://f:1"));
		assertRefused(this.admin.join(asking), false, "A change is staged already, as 1");
		Now.of(this.admin.abort(null));
		this.node.answers.remove("http://c:1");
		assertRefused(this.admin.join(asking), false, "[http://c:1] do not answer and are to stay");
		this.node.answers.put("http://c:1", "");
		Now.of(this.admin.join(asking));
		assertRefused(this.admin.join(List.of("http://e:1")), true, "is under way");
	}

	@Test
	void moreThanAMinorityThatIsGoneIsNotReplaced() {
		this.node.answers.remove("http://b:1");
		this.node.answers.remove("http://c:1");
		TopologyEdit both = new TopologyEdit(List.of(new TopologyEdit.Node("http://d:1", null, null),
				new TopologyEdit.Node("http://e:1", null, null)), List.of("http://b:1", "http://c:1"), null);

		assertRefused(this.admin.apply(stage(both).number()), false, "what only they hold would be lost");
	}

	/** As after the restore of a backup of the store alone. */
	@Test
	void aDecisionThatIsOlderThanTheLayoutOfTheNodeIsNotFollowed() {
		stage(ADD_D);
		this.node.own = new Layout(7, THREE);

		assertThat(shown().layout()).isEqualTo(this.node.own);
		assertThat(stage(ADD_D).number()).isEqualTo(8);
	}

	/** The node that the operator talks to, and what the others answer. */
	private static final class OneNode implements LayoutPeers {

		private final Map<String, String> answers = new HashMap<>(Map.of("http://a:1", "", "http://b:1", "",
				"http://c:1", "", "http://d:1", WAITING, "http://e:1", WAITING, "http://f:1", WAITING));

		private final List<LayoutDecision> told = new ArrayList<>();

		private Layout own = new Layout(0, THREE);

		@Override
		public void decided(LayoutDecision decision) {
			this.told.add(decision);
		}

		@Override
		public Mono<String> ask(String address) {
			String answer = this.answers.get(address);
			return (answer != null) ? Mono.just(answer) : Mono.error(new IllegalStateException("connection refused"));
		}

	}

}
