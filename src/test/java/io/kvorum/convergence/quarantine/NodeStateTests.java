package io.kvorum.convergence.quarantine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The first of three nodes, restored from a backup of a hundred days ago. */
@ExtendWith(OutputCaptureExtension.class)
class NodeStateTests {

	private static final Duration MOST_AWAY = Duration.ofDays(9);

	private static final long MADE_MILLIS = SteeredTime.START_MILLIS - Duration.ofDays(100).toMillis();

	private final Topology topology = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private final SteeredTime time = new SteeredTime();

	private final Noted record = restored();

	private NodeState nodeState = started();

	private static Noted restored() {
		Noted disk = new Noted();
		Restored.withAllOthers(Map.of(), Map.of(), Instant.ofEpochMilli(MADE_MILLIS))
			.forEach((name, value) -> Now.of(disk.record(name, value)));
		disk.names.clear();
		return disk;
	}

	private NodeState started() {
		NodeState started = new NodeState(this.topology, this.topology.members().getFirst(), this.record,
				PeerQueries.NONE, this.time, MOST_AWAY, SystemBoot.SYNCED);
		Now.of(started.load());
		return started;
	}

	private void othersSay(State state, long madeMillis) {
		say(1, state, madeMillis);
		say(2, state, madeMillis);
		Now.of(this.nodeState.decide());
	}

	private void say(int other, State state, long madeMillis) {
		Now.of(this.nodeState.receive(this.topology.members().get(other),
				new Introduction(other, 1, new Membership(state, 0), madeMillis, 0, 0, 0)));
	}

	@Test
	void aNodeThatEndsInTheMomentInWhichItBecomesAMemberFindsItselfInOrder() {
		othersSay(State.RESTORED, MADE_MILLIS);
		assertThat(this.record.names).as("as long as it asks, it says when the backup was made")
			.doesNotContain("alive");
		othersSay(State.REUNITED, MADE_MILLIS);
		assertThat(this.nodeState.state()).isEqualTo(State.MEMBER);
		assertThat(this.record.names).endsWith("cluster", "alive", "nodes", "membership");
		assertThat(this.nodeState.clusterName()).as("the backup had none").isEqualTo(this.record.identity());

		this.nodeState = started();
		assertThat(this.nodeState.isMember()).isTrue();
	}

	@Test
	void theStoreOfAMemberIsRefusedToANodeThatWouldNeedNoneOfTheOthers(CapturedOutput output) {
		claimWithoutOthers(Topology.alone(), false);
		othersSay(State.RESTORED, MADE_MILLIS);
		othersSay(State.REUNITED, MADE_MILLIS);

		Topology onlyThis = Topology.of(List.of("http://a:1"), 3);
		Topology noCopies = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 1);
		for (Topology begins : List.of(Topology.alone(), onlyThis, noCopies)) {
			assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> claimWithoutOthers(begins, false))
				.withMessageContaining("a member of " + this.topology)
				.satisfies(refused -> assertThat(refused.action()).contains("kvorum.cluster.accept-loss=true"));
		}
		Topology others = Topology.of(List.of("http://a:1", "http://x:1", "http://y:1"), 3);
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> claimWithoutOthers(others, false));
		Now.of(NodeState.claimWithoutOthers(this.record, others, true, false));
		claimWithoutOthers(Topology.of(List.of("http://a:1", "http://b:1"), 3), false);
		assertThat(output).doesNotContain("is accepted in a node");

		claimWithoutOthers(Topology.alone(), true);
		assertThat(output).containsOnlyOnce("is accepted in a node that goes on without a majority");
		claimWithoutOthers(Topology.alone(), false);
	}

	@Test
	void aRecordOfNodesThatCannotBeReadIsToldToOperators() {
		Now.of(this.record.record("nodes", new byte[] { 'x' }));

		assertThatExceptionOfType(StoreOpenException.class)
			.isThrownBy(() -> claimWithoutOthers(Topology.alone(), false))
			.withMessageContaining("cannot be read");
	}

	@Test
	void aStoreThatIsRestoredForANodeAloneIsTakenByIt() {
		othersSay(State.RESTORED, MADE_MILLIS);
		othersSay(State.REUNITED, MADE_MILLIS);
		Map<String, byte[]> backup = this.record.names.stream()
			.distinct()
			.collect(Collectors.toMap(name -> name, name -> Objects.requireNonNull(this.record.recorded(name))));

		assertThat(Restored.withoutOthers(backup)).doesNotContainKey("nodes").containsKeys("alive", "membership");
	}

	private void claimWithoutOthers(Topology begins, boolean accepted) {
		Now.of(NodeState.claimWithoutOthers(this.record, begins, false, accepted));
	}

	@Test
	void aRestartOfAPeerIsNoticedSinceItMayHaveLostItsHints() {
		AtomicInteger restarts = new AtomicInteger();
		this.nodeState.whenRestarted(restarts::incrementAndGet);
		sayAlive(1, 0);
		assertThat(restarts).as("its first introduction in this life").hasValue(0);
		sayAlive(1, MADE_MILLIS);
		sayAlive(2, 0);
		assertThat(restarts).as("it goes on, and another one introduces itself").hasValue(0);
		sayAlive(1, 0);
		assertThat(restarts).as("it has forgotten what it received").hasValue(1);
	}

	/** A member says when it last saw this node alive. */
	private void sayAlive(int other, long seenAliveMillis) {
		Now.of(this.nodeState.receive(this.topology.members().get(other),
				new Introduction(other, other, new Membership(State.MEMBER, 1), MADE_MILLIS, 0, 0, seenAliveMillis)));
	}

	/** From another process that is set up as this node. */
	@Test
	void anIntroductionInTheNameOfThisNodeIsRefusedAndCountsForNothing(CapturedOutput output) {
		PeerQuery inItsName = new Introduction(0, 42, new Membership(State.MEMBER, 5), MADE_MILLIS, 0, 0, 0).toQuery();
		for (int i = 0; i < 2; i++) {
			assertThat(Now.of(this.nodeState.answer(inItsName, Deadline.NONE))).isInstanceOfSatisfying(Failed.class,
					failed -> assertThat(failed.detail())
						.isEqualTo("this is http://a:1, and so says the node that introduces itself"));
		}

		assertThat(this.nodeState.peers().introductions(_ -> true)).isEmpty();
		assertThat(this.record.names).isEmpty();
		assertThat(output).containsOnlyOnce("Another process claims to be this node, http://a:1");
	}

	@Test
	void aWarningSaysThatWhatWasDeletedMayComeBackIfNothingCanBeDone(CapturedOutput output) {
		long newest = MADE_MILLIS + MOST_AWAY.toMillis() + 1;
		say(1, State.RESTORED, newest);
		say(2, State.NEWCOMER, newest);
		Now.of(this.nodeState.decide());

		assertThat(this.nodeState.state()).isEqualTo(State.REUNITED);
		assertThat(output).containsOnlyOnce("values deleted since may come back");
	}

	@Test
	void aNodeWhoseBackupIsTooOldIsInQuarantineAndNothingComesBack(CapturedOutput output) {
		othersSay(State.RESTORED, MADE_MILLIS + MOST_AWAY.toMillis() + 1);

		assertThat(this.nodeState.state()).isEqualTo(State.STALE_DISK);
		assertThat(output).contains("In quarantine: it has an older disk than its peers have")
			.doesNotContain("may come back");
	}

	@Test
	void aNewClusterHasTheNameOfTheDiskOfItsFirstNode() {
		long firstDisk = nameAt(0, State.READY);
		assertThat(nameAt(1, State.READY)).isEqualTo(77);
		assertThat(nameAt(2, State.MEMBER)).isEqualTo(77);
		assertThat(firstDisk).isEqualTo(70);
		assertThat(nameAt(1, State.LOST_DISK)).as("that began with another disk").isEqualTo(Layout.UNKNOWN);
	}

	/**
	 * The name that a node gives the cluster that it begins, where the first of the
	 * others is in a state, with the disk 77.
	 */
	private long nameAt(int index, State first) {
		NodeState begins = new NodeState(this.topology, this.topology.members().get(index),
				new InMemoryRecord(70 + index), PeerQueries.NONE, this.time, MOST_AWAY, SystemBoot.SYNCED);
		Now.of(begins.load());
		assertThat(begins.clusterName()).isEqualTo(Layout.UNKNOWN);
		for (State others : List.of(State.NEW, State.READY)) {
			for (int other = 0; other < 3; other++) {
				State state = (other == 0 && others == State.READY) ? first : others;
				if (other != index) {
					Now.of(begins.receive(this.topology.members().get(other),
							new Introduction(other, 77 + other, new Membership(state, 0), 0, 0, 0, 0)));
				}
			}
			Now.of(begins.decide());
		}
		assertThat(begins.isMember()).isTrue();
		return begins.clusterName();
	}

	/** The records of a store that is not new, with their names in order. */
	private static final class Noted extends InMemoryRecord {

		private final List<String> names = new ArrayList<>();

		Noted() {
			super(7);
		}

		@Override
		public boolean isNew() {
			return false;
		}

		@Override
		public Mono<Void> record(String name, byte[] value) {
			return super.record(name, value).doOnSuccess(_ -> this.names.add(name));
		}

	}

}
