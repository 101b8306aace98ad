package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.kvorum.coordination.ScriptedReplica.Asked;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.range.ScriptedRanges;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What somebody is told who follows an operation, and that it is no other for that. */
class ObservedOperationTests {

	private static final Key KEY = Generator.key("key");

	private static final Replicas MAJORITY = new Replicas(2, 3);

	private static final Failed FULL = Failed.notDone(Reason.OVERLOADED, "full");

	private static final Value VALUE = Value.of(new byte[] { 1, 2, 3 });

	private final ScriptedCluster cluster = new ScriptedCluster(3, 3);

	private final ScriptedReplica own = this.cluster.replica(0);

	private final ScriptedReplica second = this.cluster.replica(1);

	private final ScriptedReplica third = this.cluster.replica(2);

	private final Live older = Generator.live(this.cluster.version(-10), "older");

	private final Live newer = Generator.live(this.cluster.version(-5), "newer");

	private final Notes notes = new Notes();

	private CompletableFuture<@Nullable Live> get(Replicas asked) {
		return this.cluster.coordinator.get(KEY, asked, this.notes).toFuture();
	}

	private CompletableFuture<@Nullable Version> put(Replicas asked) {
		return this.cluster.coordinator.put(KEY, asked, "text/plain", VALUE, null, this.notes).toFuture();
	}

	private static Reply versionOf(Live entry) {
		return new Held(entry.version(), null);
	}

	private void pass(int millis) {
		this.cluster.time.pass(Duration.ofMillis(millis));
	}

	@Test
	void aWriteIsTwoStepsAndTheReplicaThatItDidNotWaitForIsToldOfAfterItsAnswer() {
		CompletableFuture<@Nullable Version> put = put(MAJORITY);
		pass(1);
		this.own.last().answer(Held.nothing());
		pass(1);
		this.second.last().answer(Held.nothing());
		pass(3);
		this.second.last().answer(Acknowledged.INSTANCE);
		this.own.last().answer(Acknowledged.INSTANCE);
		assertThat(put).isCompleted();
		pass(5);
		this.third.last().answer(FULL);

		assertThat(this.notes.told).containsExactly("began 2/3 LINEARIZABLE", "asked node-0 versions",
				"asked node-1 versions", "node-0 versions ok 1 ms", "node-1 versions ok 2 ms", "versions took 2 ms",
				"asked node-2 store", "asked node-1 store", "asked node-0 store", "node-1 store ok 3 ms",
				"node-0 store ok 3 ms", "store took 3 ms", "decided REACHED", "node-2 store overloaded 8 ms");
	}

	@Test
	void aReadThatAsksOneMoreBecauseTheOthersTakeLongTellsThatItIsAHedgeAndWhomItDidNotWaitFor() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(this.newer));
		pass(35);
		this.cluster.ring();
		pass(1);
		this.third.last().answer(versionOf(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.second.last().isCancelled()).isTrue();
		assertThat(this.notes.told).containsExactly("began 2/3 LINEARIZABLE", "asked node-0 read", "asked node-1 read",
				"node-0 read ok 0 ms", "asked node-2 read hedge", "node-2 read ok 1 ms", "read took 36 ms",
				"decided REACHED", "node-1 read cancelled 36 ms");
	}

	@Test
	void anOperationThatMayBeEventualIsThatAlsoWithTheDefaultReplicas() {
		Replicas relaxed = Replicas.majorityOf(3).relax();
		var _ = get(relaxed);
		var _ = put(relaxed);

		assertThat(this.notes.told).filteredOn(told -> told.startsWith("began"))
			.containsExactly("began 2/3 EVENTUAL", "began 2/3 EVENTUAL");
		assertThat(this.own.asked()).containsExactly(Asked.READ, Asked.STORE);
	}

	@Test
	void aReplicaThatIsAskedInThePlaceOfOneThatFailedIsNoHedge() {
		var _ = get(MAJORITY);
		this.second.last().answer(FULL);

		assertThat(this.notes.told).containsExactly("began 2/3 LINEARIZABLE", "asked node-0 read", "asked node-1 read",
				"node-1 read overloaded 0 ms", "asked node-2 read");
	}

	@Test
	void ofFiveTheHedgeAndTheOneInThePlaceOfAFailureAreToldApart() {
		ScriptedCluster five = new ScriptedCluster(5, 5);
		var _ = five.coordinator.get(KEY, new Replicas(2, 5), this.notes).toFuture();
		five.ring();
		five.replica(1).last().answer(FULL);
		five.ring();

		assertThat(this.notes.told).filteredOn(told -> told.startsWith("asked"))
			.containsExactly("asked node-0 read", "asked node-1 read", "asked node-2 read hedge", "asked node-3 read",
					"asked node-4 read hedge");
	}

	@Test
	void aReadThatBringsWhatItFoundToMoreReplicasTellsThatStep() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(ofThree(this.newer)));
		this.second.last().answer(versionOf(this.older));
		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION, Asked.REPAIR);
		pass(2);
		this.second.last().answer(Acknowledged.INSTANCE);

		assertThat(read).isCompleted();
		assertThat(this.notes.told).contains("asked node-1 write-back", "node-1 write-back ok 2 ms",
				"write-back took 2 ms", "decided REACHED");
	}

	@Test
	void aWriteThatMeetsAPromiseTellsEachOfItsBallots() {
		CompletableFuture<@Nullable Version> put = put(MAJORITY);
		this.own.last().answer(Held.nothing());
		this.second.last().answer(Held.nothing());
		refuseOfTwo();
		refuseOfTwo();
		this.cluster.ring();
		for (Reply reply : List.of(Held.nothing(), Acknowledged.INSTANCE)) {
			this.own.last().answer(reply);
			this.second.last().answer(reply);
		}

		assertThat(put).isCompleted();
		assertThat(this.notes.told).filteredOn(told -> told.startsWith("attempt") || told.contains(" took "))
			.containsExactly("versions took 0 ms", "store took 0 ms", "attempt 1", "prepare took 0 ms", "attempt 2",
					"prepare took 0 ms", "accept took 0 ms");
	}

	private void refuseOfTwo() {
		Failed refused = new Refusal(this.cluster.version(100), Version.ABSENT).toFailed();
		this.own.last().answer(refused);
		this.second.last().answer(refused);
	}

	@Test
	void aWriteThatFailsTellsItsStepAndItsOutcome() {
		var _ = put(MAJORITY);
		this.own.last().answer(Held.nothing());
		this.second.last().answer(Held.nothing());
		this.second.last().answer(Failed.unknown(Reason.DISCONNECTED, "broken"));
		this.third.last().answer(FULL);

		assertThat(this.notes.told).endsWith("node-1 store disconnected 0 ms", "node-2 store overloaded 0 ms",
				"store took 0 ms", "decided UNKNOWN");
	}

	@Test
	void anErrorThatNobodyExpectsIsToldOnce() {
		var _ = get(MAJORITY);
		this.own.last().fail(new IllegalStateException("a bug"));

		assertThat(this.notes.told).containsOnlyOnce("node-0 read internal-error 0 ms");
		assertThat(this.notes.told).containsOnlyOnce("node-1 read cancelled 0 ms");
	}

	@Test
	void aRangeTellsOfEachPageAndHowItEnded() {
		ScriptedRanges ranges = new ScriptedRanges(3, 3);
		ranges.put("a", ScriptedRanges.value(ScriptedRanges.NEW, 10), 0, 1);
		ranges.replica(2).isAway();
		RangeCursor read = ranges.ranges.open(RangeQuery.of(RangeScope.CLUSTER, KeyRange.all(), Long.MAX_VALUE),
				_ -> Mono.empty(), this.notes);
		ScriptedRanges.keys(read);
		read.close();

		assertThat(this.notes.told).contains("began CLUSTER", "asked node-0 page", "node-0 page ok 0 ms",
				"asked node-1 page", "node-1 page ok 0 ms", "ended COMPLETE");
		assertThat(this.notes.told).last().isEqualTo("ended COMPLETE");
	}

	private static Live ofThree(Live live) {
		return new Live(live.version(), 3, Live.NEVER, live.contentType(), live.value());
	}

	/** Notes all that it is told. */
	private static final class Notes implements OperationObserver {

		final List<String> told = new ArrayList<>();

		@Override
		public void began(Replicas asked, Consistency consistency) {
			this.told.add("began %d/%d %s".formatted(asked.ack(), asked.from(), consistency));
		}

		@Override
		public void began(RangeScope scope) {
			this.told.add("began " + scope);
		}

		@Override
		public Call asked(String replica, Step step, boolean hedge) {
			String call = replica.replace("http://", "") + " " + step.text();
			this.told.add("asked " + call + (hedge ? " hedge" : ""));
			return (outcome, nanos) -> this.told
				.add("%s %s %d ms".formatted(call, outcome, Duration.ofNanos(nanos).toMillis()));
		}

		@Override
		public void attempted(int attempt) {
			this.told.add("attempt " + attempt);
		}

		@Override
		public void took(Step step, long nanos) {
			this.told.add("%s took %d ms".formatted(step.text(), Duration.ofNanos(nanos).toMillis()));
		}

		@Override
		public void decided(Outcome outcome) {
			this.told.add("decided " + outcome);
		}

		@Override
		public void ended(RangeOutcome outcome) {
			this.told.add("ended " + outcome);
		}

	}

}
