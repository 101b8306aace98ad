package io.kvorum.convergence.change;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

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

	private ChangeState started(Topology topology) {
		ChangeState state = new ChangeState(topology, this.disk);
		state.check();
		Now.of(state.load());
		return state;
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
	}

	@Test
	void aNodeWithDataBeginsOpenAndAnEmptyOneClosed() {
		assertThat(started(FROM_A_TO_B).step()).isEqualTo(Step.OPEN);
		assertThat(accepted(started(FROM_A_TO_B))).containsExactly(A, FROM_A_TO_B, CHANGES.get(1));

		ChangeState empty = new ChangeState(FROM_A_TO_B, new InMemoryRecord(1));
		Now.of(empty.load());
		assertThat(empty.step()).isEqualTo(Step.CLOSED);
		assertThat(accepted(empty)).containsExactlyInAnyOrderElementsOf(CHANGES);
	}

	@Test
	void beforeItIsReadItRefusesNodesBefore() {
		assertThat(accepted(new ChangeState(FROM_A_TO_B, this.disk))).containsExactlyInAnyOrderElementsOf(CHANGES);
	}

	@Test
	void itRefusesNodesBeforeFromTheMomentItCloses() {
		ChangeState state = started(FROM_A_TO_B);
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

	private static List<Topology> accepted(ChangeState state) {
		return Stream.concat(Stream.of(A, B, C), CHANGES.stream())
			.filter(topology -> state.accepts(topology.parts().stream().map(Topology::fingerprint).toList()))
			.toList();
	}

	@ParameterizedTest
	@EnumSource(Step.class)
	void theStepOutlivesARestart(Step step) {
		changed(step);

		assertThat(started(FROM_A_TO_B).step()).isEqualTo(step);
	}

	@ParameterizedTest
	@EnumSource(value = Step.class, names = { "CLOSED", "SYNCED" })
	void whatIsNotDoneCanOnlyGoOnOrGoBack(Step step) {
		changed(step);

		List.of(A, B, C, Topology.changing(A, C), Topology.changing(B, C))
			.forEach(topology -> assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> started(topology))
				.withMessage("The store takes part in a change of the topology that is not done: its step is '%s'.",
						step.text())
				.satisfies(ex -> assertThat(ex.action()).contains("kvorum.cluster.next-nodes")));
		assertThatNoException().isThrownBy(() -> started(Topology.changing(B, A)));
	}

	/** Its list of entries was closed for A, and would now be taken for one of B. */
	@Test
	void whatGoesBackBeginsAnew() {
		changed(Step.SYNCED);

		assertThat(started(Topology.changing(B, A)).step()).isEqualTo(Step.OPEN);
		assertThat(accepted(started(Topology.changing(B, A)))).contains(B).doesNotContain(A);
	}

	@Test
	void aChangeThatHasNotBegunCanBeLeft() {
		changed(Step.OPEN);

		assertThatNoException().isThrownBy(() -> started(A));
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> started(B));
		assertThatNoException().isThrownBy(() -> started(Topology.changing(A, C)));
	}

	@Test
	void whatIsDoneCanBeFollowedByAnything() {
		changed(Step.DONE);

		List.of(A, B, C, Topology.changing(B, C)).forEach(topology -> assertThat(started(topology)).isNotNull());
	}

	@Test
	void othersAreToldTheStepIfTheyAreInTheSameChange() {
		ChangeState state = started(FROM_A_TO_B);

		assertThat(ChangeState.stepOf(answer(state), FROM_A_TO_B)).isEqualTo(Step.OPEN);
		assertThat(ChangeState.stepOf(answer(state), Topology.changing(B, A))).isNull();
		Now.of(state.take(Step.SYNCED));
		assertThat(ChangeState.stepOf(answer(state), FROM_A_TO_B)).isEqualTo(Step.SYNCED);
	}

	@Test
	void aNodeThatHasBeenThroughTheChangeGoesOnTellingThatItIsDone() {
		changed(Step.DONE);

		assertThat(ChangeState.stepOf(answer(started(B)), FROM_A_TO_B)).isEqualTo(Step.DONE);
		assertThat(ChangeState.stepOf(answer(started(A)), FROM_A_TO_B)).isNull();
		assertThat(ChangeState.stepOf(answer(started(Topology.changing(B, C))), FROM_A_TO_B)).isNull();
	}

	/** It may be new, with a list that it was given too early. */
	@Test
	void aNodeThatHasTheTopologyAfterAndNeverWasInTheChangeIsNotDone() {
		assertThat(ChangeState.stepOf(answer(started(B)), FROM_A_TO_B)).isNull();
	}

	@Test
	void otherQuestionsAreLeftToOthers() {
		PeerQueries queries = started(A).orElse(PeerQueries.NONE);
		PeerQuery other = new PeerQuery(PeerQuery.Kind.INTRODUCTION, new byte[0]);

		assertThat(Now.of(queries.answer(other, soon()))).isEqualTo(Now.of(PeerQueries.NONE.answer(other, soon())));
	}

	private static byte[] answer(ChangeState state) {
		Answered answered = (Answered) Objects
			.requireNonNull(Now.of(state.orElse(PeerQueries.NONE).answer(ChangeState.query(), soon())));
		assertThat(ByteBuffer.wrap(answered.bytes()).remaining()).isEqualTo(9);
		return answered.bytes();
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
