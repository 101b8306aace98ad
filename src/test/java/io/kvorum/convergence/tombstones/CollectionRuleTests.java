package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.tombstones.CollectionRule.Verdict;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The rule by which tombstones are collected, and the record of repairs. */
class CollectionRuleTests {

	private static final Duration GRACE = Duration.ofDays(10);

	private static final Key KEY = Generator.key("key");

	private static final int SLICE = Partitions.sliceOf(RendezvousPlacement.partitionOf(KEY));

	private static final Topology TOPOLOGY = topology(3);

	private static final List<Member> OTHERS = TOPOLOGY.members().subList(1, 3);

	private static final Duration KEPT = Duration.ofMinutes(20);

	private final SteeredTime time = new SteeredTime();

	private final NodeRecord record = new InMemoryRecord(1);

	private final RepairLog log = log(TOPOLOGY);

	private long oldestHintMillis = Long.MAX_VALUE;

	private boolean isEarlierOver = true;

	private final CollectionRule rule = new CollectionRule(this.log, RendezvousPlacement::hashOf,
			() -> this.oldestHintMillis, () -> this.isEarlierOver, GRACE, KEPT, this.time);

	private static Topology topology(int nodes) {
		return Topology.of(List.of("http://a", "http://b", "http://c", "http://d").subList(0, nodes), 3);
	}

	private RepairLog log(Topology topology) {
		RepairLog log = new RepairLog(topology, topology.members().getFirst(), this.record);
		log.load();
		return log;
	}

	/** The tombstone of a delete with so many copies, here a second after its write. */
	private static TombstoneRecord tombstone(int copies) {
		EntryHeader header = new EntryHeader(KEY, new Version(1_000 << Version.COUNTER_BITS, 1), copies, true);
		return new TombstoneRecord(header, 2_000);
	}

	@Test
	void aTombstoneWaitsForARepairWithEveryOtherMemberThatBeganAfterItCame() {
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
		this.log.repaired(OTHERS.getFirst(), SLICE, 2_001);
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
		this.log.repaired(OTHERS.getLast(), SLICE, 2_000);
		assertThat(this.rule.of(tombstone(3))).as("that repair began too early").isEqualTo(Verdict.WAITS_FOR_REPAIR);
		this.log.repaired(OTHERS.getLast(), SLICE, 2_001);
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.COLLECT);
	}

	@Test
	void alsoForMembersThatItDoesNotBelongToSinceAnEarlierWriteMayHave() {
		this.log.repaired(OTHERS.getFirst(), SLICE, 2_001);
		assertThat(this.rule.of(tombstone(1))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
	}

	@Test
	void aRepairOfAnotherSliceSaysNothing() {
		OTHERS.forEach(member -> this.log.repaired(member, (SLICE + 1) % Partitions.SLICES, 2_001));
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
	}

	@Test
	void aTombstoneWaitsForOlderHints() {
		OTHERS.forEach(member -> this.log.repaired(member, SLICE, 2_001));
		this.oldestHintMillis = 1_000;
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_HINTS);
		this.oldestHintMillis = 1_001;
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.COLLECT);
	}

	@Test
	void onlyWhatIsOlderThanTheGraceTimeIsOld() {
		long end = this.time.millis() - GRACE.toMillis();
		assertThat(this.rule.graceEndMillis()).isEqualTo(end);
		assertThat(this.rule.isDispensable(header(end - 1, true))).isTrue();
		assertThat(this.rule.isDispensable(header(end, true))).isFalse();
		assertThat(this.rule.isDispensable(header(end - 1, false))).isFalse();
	}

	@Test
	void theRecordOfARequestIsDispensableOnceNoClientCanAskForIt() {
		long end = this.time.millis() - KEPT.toMillis();
		Key record = InternalKeys.ofRequest("request");
		assertThat(this.rule.isForgotten(record, new Version((end - 1) << Version.COUNTER_BITS, 1))).isTrue();
		assertThat(this.rule.isForgotten(record, new Version(end << Version.COUNTER_BITS, 1))).isFalse();
		assertThat(this.rule.isForgotten(KEY, new Version((end - 1) << Version.COUNTER_BITS, 1))).isFalse();
		assertThat(this.rule
			.isDispensable(new EntryHeader(record, new Version((end - 1) << Version.COUNTER_BITS, 1), 3, false)))
			.isTrue();
	}

	private static EntryHeader header(long millis, boolean tombstone) {
		return new EntryHeader(KEY, new Version(millis << Version.COUNTER_BITS, 1), 3, tombstone);
	}

	@Test
	void withoutOtherMembersItOnlyHasToBeOld() {
		CollectionRule alone = new CollectionRule(log(Topology.alone()), RendezvousPlacement::hashOf,
				() -> Long.MAX_VALUE, () -> this.isEarlierOver, GRACE, KEPT, this.time);
		assertThat(alone.of(tombstone(3))).isEqualTo(Verdict.COLLECT);
	}

	@Test
	void aTombstoneWaitsUntilNoMemberWorksWithNodesInAnEarlierChangeAndForRepairsThatBeginThen() {
		OTHERS.forEach(member -> this.log.repaired(member, SLICE, 3_001));
		this.isEarlierOver = false;
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
		this.isEarlierOver = true;
		assertThat(this.rule.of(tombstone(3))).as("as before any change").isEqualTo(Verdict.COLLECT);
		this.log.fence();
		assertThat(this.rule.of(tombstone(3))).isEqualTo(Verdict.WAITS_FOR_REPAIR);
	}

}
