package io.kvorum.convergence.change;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.StoreSize;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A node that goes from topology A to B, and its disk. */
class ChangeStateTests {

	private static final Topology A = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final Topology B = Topology.of(List.of("http://b:1", "http://c:1", "http://d:1"), 3);

	private static final Topology C = Topology.of(List.of("http://c:1", "http://d:1", "http://e:1"), 3);

	private static final Topology FROM_A_TO_B = Topology.changing(A, B);

	/** In which B is one of both. */
	private static final List<Topology> CHANGES = List.of(FROM_A_TO_B, Topology.changing(B, A),
			Topology.changing(B, C));

	private final Disk disk = new Disk();

	private ChangeState at(Layout layout) {
		ChangeState state = new ChangeState(layout, this.disk, StoreSize.NONE);
		state.load();
		state.announce();
		return state;
	}

	private ChangeState adopted(Layout layout, Topology of, boolean mayVote) {
		ChangeState state = new ChangeState(layout, this.disk, StoreSize.NONE);
		Now.of(state.adopt(of.members().getLast(), mayVote, null));
		return state;
	}

	private ChangeState adoptedAfter(ChangeState before, Layout layout) {
		ChangeState state = new ChangeState(layout, this.disk, StoreSize.NONE);
		Now.of(state.adopt(layout.before().members().getLast(), true, before));
		return state;
	}

	private ChangeState started(Topology topology) {
		return at(new Layout(topology.isChanging() ? 1 : 0, topology));
	}

	private void changed(Step step) {
		Now.of(started(FROM_A_TO_B).take(step));
	}

	@Test
	void aNodeWithoutAChangeIsDone() {
		ChangeState state = started(A);

		assertThat(state.step()).isEqualTo(Step.DONE);
		assertThat(accepted(state)).containsExactly(A, FROM_A_TO_B, CHANGES.get(1));
		assertThat(this.disk.recorded(ChangeState.RECORD)).isNull();
		assertThat(ChangeState.layoutIn(this.disk)).isNull();
	}

	@Test
	void aNodeOfBeforeThatVotesBeginsOpenAndAnyOtherClosed() {
		Layout change = new Layout(1, FROM_A_TO_B);

		ChangeState open = adopted(change, A, true);
		assertThat(open.step()).isEqualTo(Step.OPEN);
		assertThat(accepted(open)).containsExactly(A, FROM_A_TO_B, CHANGES.get(1));
		for (ChangeState closed : List.of(adopted(change, A, false), adopted(change, B, true))) {
			assertThat(closed.step()).isEqualTo(Step.CLOSED);
			assertThat(accepted(closed)).containsExactlyInAnyOrderElementsOf(CHANGES);
		}
	}

	@Test
	void whatIsAdoptedIsOnDisk() {
		adopted(new Layout(7, FROM_A_TO_B), A, true);

		assertThat(ChangeState.layoutIn(this.disk)).satisfies(layout -> {
			assertThat(layout.number()).isEqualTo(7);
			assertThat(layout.topology().fingerprint()).isEqualTo(FROM_A_TO_B.fingerprint());
		});
		assertThat(at(new Layout(7, FROM_A_TO_B)).step()).isEqualTo(Step.OPEN);
	}

	/** The same change may have been made once, given up and made again. */
	@Test
	void aStepIsThatOfOneLayoutAndOfNoOtherWithTheSameNodes() {
		Now.of(at(new Layout(1, FROM_A_TO_B)).take(Step.SYNCED));

		assertThat(at(new Layout(4, FROM_A_TO_B)).step()).isEqualTo(Step.CLOSED);
		ChangeState again = adopted(new Layout(4, FROM_A_TO_B), A, true);
		assertThat(again.step()).isEqualTo(Step.OPEN);
		again.announce();
		assertThat(told(again, new Layout(4, FROM_A_TO_B))).isEqualTo(Step.OPEN);
		assertThat(told(again, new Layout(1, FROM_A_TO_B))).isNull();
	}

	@Test
	void othersLearnOfALayoutOnceItIsAnnounced() {
		Layout change = new Layout(1, FROM_A_TO_B);
		ChangeState state = adopted(change, A, true);
		assertThat(told(state, change)).isNull();

		state.announce();
		assertThat(told(state, change)).isEqualTo(Step.OPEN);
	}

	@Test
	void othersLearnWhatItHadAndWhatRepairsHaveBroughtSince() {
		Layout change = new Layout(1, FROM_A_TO_B);
		AtomicLong repaired = new AtomicLong(500);
		ChangeState state = new ChangeState(change, this.disk, new StoreSize() {

			@Override
			public Mono<Long> liveBytes() {
				return Mono.just(7_000L);
			}

			@Override
			public long repairedBytes() {
				return repaired.get();
			}

		});
		state.announce();
		Now.of(state.measure());
		repaired.set(800);

		Member self = A.members().getFirst();
		assertThat(ChangeState.reportOf(self, answer(state), change))
			.isEqualTo(new CopyProgress.Report(self, Step.CLOSED, 7_000, 300))
			.isEqualTo(state.report(self));
	}

	private static @Nullable Step told(ChangeState state, Layout layout) {
		return ChangeState.reportOf(A.members().getFirst(), answer(state), layout).step();
	}

	private static byte[] answer(ChangeState state) {
		PeerQueries queries = state.orElse(PeerQueries.NONE);
		return ((Answered) Objects.requireNonNull(Now.of(queries.answer(ChangeState.query(), soon())))).bytes();
	}

	/** Nodes of other releases read them. */
	@Test
	void theRecordOnDiskAndTheAnswerToOthersStayTheSame() {
		Topology before = Topology.ofMembers(List.of(new Member(0, 10, "http://a:1", "", 1)), 3);
		Topology after = Topology.ofMembers(List.of(new Member(0, -1, "http://b:1", "x", 2)), 1);
		Layout layout = new Layout(0x0102, Topology.changing(before, after));
		ChangeState state = adopted(layout, before, true);
		String text = """
				layout 258
				factor 3
				node 000000000000000a 1 ~ http://a:1
				next
				factor 1
				node ffffffffffffffff 2 x http://b:1
				""";

		assertThat(this.disk.recorded("layout")).asString(StandardCharsets.UTF_8).isEqualTo("\u0001" + text);
		assertThat(answer(state)).as("until it is announced").startsWith(1, -1, -1, -1, -1, -1, -1, -1, -1);

		state.announce();
		byte[] answer = answer(state);
		assertThat(answer).startsWith(1, 0, 0, 0, 0, 0, 0, 1, 2).endsWith(0, 0, 0, 0, 0, 0, 1, 2).hasSize(33);
		assertThat(ChangeState.reportOf(before.members().getFirst(), Arrays.copyOf(answer, 9), layout))
			.as("of an earlier release, without sizes")
			.isEqualTo(new CopyProgress.Report(before.members().getFirst(), Step.OPEN, 0, 0));
		Now.of(state.take(Step.DONE));
		assertThat(this.disk.recorded("layout")).asString(StandardCharsets.UTF_8).isEqualTo("\u0004" + text);
		assertThat(answer(state)).startsWith(4, 0, 0, 0, 0, 0, 0, 1, 2);
	}

	@Test
	void theCodesOfStepsStayTheSame() {
		assertThat(Step.values()).extracting(Step::code)
			.containsExactly((byte) 1, (byte) 2, (byte) 3, (byte) 4)
			.allSatisfy(code -> assertThat(Step.ofCode(code).code()).isEqualTo(code));
		assertThatIllegalArgumentException().isThrownBy(() -> Step.ofCode((byte) 5))
			.withMessage("no step of a change has the code 5");
	}

	@Test
	void ofARestoredClusterOnlyTheLayoutIsKeptAndItsChangeBeginsClosed() {
		changed(Step.SYNCED);
		byte[] synced = Objects.requireNonNull(this.disk.recorded(ChangeState.RECORD));
		Map<String, byte[]> kept = ChangeState.restored(Map.of(ChangeState.RECORD, synced, "other", new byte[] { 1 }));
		assertThat(kept).containsOnlyKeys(ChangeState.RECORD);
		Now.of(this.disk.record(ChangeState.RECORD, Objects.requireNonNull(kept.get(ChangeState.RECORD))));
		assertThat(started(FROM_A_TO_B).step()).isEqualTo(Step.CLOSED);
		assertThat(synced[0]).as("the backup itself").isEqualTo(Step.SYNCED.code());

		adopted(new Layout(3, B), B, true);
		byte[] stable = Objects.requireNonNull(this.disk.recorded(ChangeState.RECORD));
		assertThat(ChangeState.restored(Map.of(ChangeState.RECORD, stable)).get(ChangeState.RECORD)).isEqualTo(stable);
		assertThat(ChangeState.restored(Map.of("other", new byte[] { 1 }))).isEmpty();
	}

	@Test
	void beforeItIsReadItRefusesNodesBefore() {
		assertThat(accepted(new ChangeState(new Layout(1, FROM_A_TO_B), this.disk, StoreSize.NONE)))
			.containsExactlyInAnyOrderElementsOf(CHANGES);
	}

	@Test
	void itRefusesNodesBeforeFromTheMomentItCloses() {
		ChangeState state = adopted(new Layout(1, FROM_A_TO_B), A, true);
		state.close();

		assertThat(state.step()).isEqualTo(Step.OPEN);
		assertThat(accepted(state)).containsExactlyInAnyOrderElementsOf(CHANGES);
	}

	/** Before, such a node has the topology after the change too early. */
	@Test
	void onceItIsDoneItAlsoWorksWithNodesThatHaveTheTopologyAfterAlone() {
		changed(Step.SYNCED);
		assertThat(accepted(started(FROM_A_TO_B))).containsExactlyInAnyOrderElementsOf(CHANGES);

		changed(Step.DONE);
		assertThat(accepted(started(FROM_A_TO_B))).contains(B).containsAll(CHANGES).doesNotContain(A, C);
	}

	/** As after a change there and back: the node has missed the layout in between. */
	@Test
	void onceItIsDoneItRefusesNodesThatHaveTheTopologyAfterOfAnEarlierLayout() {
		ChangeState done = adopted(new Layout(4, FROM_A_TO_B), A, false);
		Now.of(done.take(Step.DONE));

		assertThat(accepted(done, 5)).contains(B);
		assertThat(accepted(done, 4)).doesNotContain(B);
		assertThat(accepted(done, 0)).doesNotContain(B);
	}

	/** Of a change that was given up, and of the one before a change that is over. */
	@Test
	void itRefusesNodesInAnEarlierChangeWithTheSameNodes() {
		ChangeState closed = adopted(new Layout(4, FROM_A_TO_B), A, false);
		assertThat(accepted(closed, 4)).containsExactlyInAnyOrderElementsOf(CHANGES);
		assertThat(accepted(closed, 3)).isEmpty();

		ChangeState over = adoptedAfter(closed, new Layout(5, B));
		assertThat(accepted(over, 4)).containsExactlyInAnyOrder(B, FROM_A_TO_B, CHANGES.get(1), CHANGES.get(2));
		assertThat(accepted(over, 3)).containsExactly(B);
	}

	/** They also ask nodes that are no members any more. */
	@Test
	void itRefusesNodesInAnEarlierChangeOnceTheyHadTheirTimeAndAfterARestart() {
		ChangeState over = adoptedAfter(at(new Layout(4, FROM_A_TO_B)), new Layout(5, B));
		assertThat(over.acceptsEarlier()).isTrue();
		assertThat(accepted(over, 4)).contains(FROM_A_TO_B);
		over.refuseEarlier();
		for (ChangeState each : List.of(over, at(new Layout(5, B)))) {
			assertThat(each.acceptsEarlier()).isFalse();
			assertThat(accepted(each, 4)).containsExactly(B);
			assertThat(accepted(each, 6)).containsExactly(B, FROM_A_TO_B, CHANGES.get(1), CHANGES.get(2));
		}
	}

	@Test
	void itRefusesInTheNextChangeWhomItHasRefusedBefore() {
		Layout next = new Layout(7, Topology.changing(B, C));
		ChangeState over = adoptedAfter(at(new Layout(4, FROM_A_TO_B)), new Layout(5, B));
		assertThat(accepted(adoptedAfter(over, next), 4)).contains(FROM_A_TO_B);
		over.refuseEarlier();
		assertThat(accepted(adoptedAfter(over, next), 4)).containsExactly(B);
		assertThat(accepted(adoptedAfter(over, next), 7)).contains(CHANGES.get(2));
	}

	@Test
	void aNodeThatDoesNotVoteRefusesAtOnce() {
		ChangeState over = new ChangeState(new Layout(5, B), this.disk, StoreSize.NONE);
		Now.of(over.adopt(B.members().getLast(), false, at(new Layout(4, FROM_A_TO_B))));
		assertThat(accepted(over, 4)).containsExactly(B);
	}

	@Test
	void itTellsFromWhichChangeOnItAcceptsOthers() {
		ChangeState over = adoptedAfter(at(new Layout(4, FROM_A_TO_B)), new Layout(5, B));
		assertThat(over.isRefusedBy(answer(over))).isFalse();
		assertThat(at(new Layout(4, FROM_A_TO_B)).isRefusedBy(answer(over))).isTrue();
		over.refuseEarlier();
		assertThat(over.isRefusedBy(answer(over))).isTrue();
		assertThat(over.isRefusedBy(Arrays.copyOf(answer(over), 25))).as("of an earlier release").isFalse();
	}

	private static List<Topology> accepted(ChangeState state) {
		return accepted(state, Long.MAX_VALUE);
	}

	/** The topologies of other nodes, in a layout of this number, that it works with. */
	private static List<Topology> accepted(ChangeState state, long number) {
		return Stream.concat(Stream.of(A, B, C), CHANGES.stream())
			.filter(topology -> state.accepts(number, topology.parts().stream().map(Topology::fingerprint).toList()))
			.toList();
	}

	@ParameterizedTest
	@EnumSource(Step.class)
	void theStepOutlivesARestart(Step step) {
		changed(step);

		assertThat(started(FROM_A_TO_B).step()).isEqualTo(step);
	}

	@Test
	void otherQuestionsAreLeftToOthers() {
		PeerQueries queries = started(A).orElse(PeerQueries.NONE);
		PeerQuery other = new PeerQuery(PeerQuery.Kind.INTRODUCTION, new byte[0]);

		assertThat(Now.of(queries.answer(other, soon()))).isEqualTo(Now.of(PeerQueries.NONE.answer(other, soon())));
	}

	private static Deadline soon() {
		return Deadline.after(new SteeredTime(), Duration.ofSeconds(1));
	}

	/** A disk that has entries. */
	private static final class Disk extends InMemoryRecord {

		Disk() {
			super(1);
		}

		@Override
		public boolean isNew() {
			return false;
		}

	}

}
