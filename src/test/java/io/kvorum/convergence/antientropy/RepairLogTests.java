package io.kvorum.convergence.antientropy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.NodeRecord;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The memory of repairs. */
class RepairLogTests {

	private static final int SLICE = 5;

	private static final Topology TOPOLOGY = topology(3);

	private static final List<Member> OTHERS = TOPOLOGY.members().subList(1, 3);

	private final NodeRecord record = new InMemoryRecord(1);

	private final RepairLog log = log(TOPOLOGY);

	private static Topology topology(int nodes) {
		return Topology.of(List.of("http://a", "http://b", "http://c", "http://d").subList(0, nodes), 3);
	}

	private RepairLog log(Topology topology) {
		RepairLog log = new RepairLog(topology, topology.members().getFirst(), this.record);
		log.load();
		return log;
	}

	@Test
	void theRecordOfRepairsOnDiskStaysTheSame() {
		Member other = OTHERS.getFirst();
		this.log.repaired(other, 1, 0x0102_0304_0506_0708L);
		Now.of(this.log.save(other));

		byte[] recorded = this.record.recorded("repaired " + other.address());
		assertThat(recorded).hasSize(Long.BYTES * (1 + 4096))
			.startsWith(ByteBuffer.allocate(Long.BYTES).putLong(TOPOLOGY.fingerprint()).array());
		assertThat(Arrays.copyOfRange(recorded, Long.BYTES, 4 * Long.BYTES)).containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 1,
				2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0);
	}

	@Test
	void repairsAreRememberedOverARestartWhileTheTopologyIsTheSame() {
		OTHERS.forEach(member -> this.log.repaired(member, SLICE, 5_000));
		OTHERS.forEach(member -> Now.of(this.log.save(member)));

		assertThat(log(TOPOLOGY).repairedWithAll(SLICE)).isEqualTo(5_000);
		assertThat(log(topology(4)).repairedWithAll(SLICE)).as("another member may have anything")
			.isEqualTo(RepairLog.NEVER);
	}

	@Test
	void afterAStartEverythingIsInNeedAndWhatComesToBeWhileItIsRepairedStaysSo() {
		Member other = OTHERS.getFirst();
		assertThat(this.log.takeNeeds(other).cardinality()).isEqualTo(Partitions.SLICES);
		assertThat(this.log.isInNeed(other)).isFalse();
		this.log.need(other, 7);
		this.log.repaired(other, 7, 5_000);
		assertThat(this.log.takeNeeds(other).stream().boxed()).containsExactly(7);
	}

	@Test
	void repairsThatBeganBeforeAFenceDoNotCountAsLaterOnesWhateverTheClockSays() {
		assertThat(this.log.isRepairedSinceFence(SLICE)).as("there is none").isTrue();
		OTHERS.forEach(this.log::takeNeeds);
		this.log.fence();
		OTHERS.forEach(member -> this.log.repaired(member, SLICE, Long.MAX_VALUE));
		assertThat(this.log.isRepairedSinceFence(SLICE)).as("they were under way").isFalse();

		OTHERS.forEach(this.log::takeNeeds);
		this.log.repaired(OTHERS.getFirst(), SLICE, 1);
		assertThat(this.log.isRepairedSinceFence(SLICE)).as("one member is missing").isFalse();
		this.log.repaired(OTHERS.getLast(), SLICE, 1);
		assertThat(this.log.isRepairedSinceFence(SLICE)).isTrue();
		assertThat(this.log.isRepairedSinceFence(SLICE + 1)).isFalse();

		this.log.fence();
		assertThat(this.log.isRepairedSinceFence(SLICE)).isFalse();
	}

	@Test
	void aFenceTakesNothingFromWhatWasCopiedSinceAMark() {
		Member other = OTHERS.getFirst();
		BitSet all = new BitSet();
		all.set(0, Partitions.SLICES);
		this.log.mark(other);
		this.log.takeNeeds(other);
		this.log.fence();
		this.log.copied(other, all);

		assertThat(this.log.isCopiedSinceMark(other)).isTrue();
	}

	@Test
	void manySlicesAreNotedAtOnce() {
		Member other = OTHERS.getFirst();
		this.log.takeNeeds(other);
		BitSet some = new BitSet();
		some.set(7);
		some.set(Partitions.SLICES - 1);
		this.log.need(other, 9);
		this.log.need(other, some);
		this.log.repaired(other, some, 5_000);
		assertThat(this.log.takeNeeds(other).stream().boxed()).containsExactly(7, 9, Partitions.SLICES - 1);
		assertThat(this.log.repaired(other, 7)).isEqualTo(5_000);
		assertThat(this.log.repaired(other, 9)).isEqualTo(RepairLog.NEVER);
	}

	@Test
	void onlyRepairsThatBeganAfterTheMarkBringWhatAMemberHad() {
		Member other = OTHERS.getFirst();
		BitSet all = this.log.takeNeeds(other);
		this.log.mark(other);
		this.log.copied(other, all);
		assertThat(this.log.isCopiedSinceMark(other)).as("it began before").isFalse();

		this.log.takeNeeds(other);
		BitSet some = (BitSet) all.clone();
		some.clear(7);
		this.log.copied(other, some);
		assertThat(this.log.isCopiedSinceMark(other)).as("all but one slice").isFalse();
		some.flip(0, Partitions.SLICES);
		this.log.takeNeeds(other);
		this.log.copied(other, some);
		assertThat(this.log.isCopiedSinceMark(other)).isTrue();
		assertThat(this.log.repaired(other, 7)).as("not made equal").isEqualTo(RepairLog.NEVER);
	}

	@Test
	void whatIsMissingHereMayBeOnAnyOther() {
		OTHERS.forEach(this.log::takeNeeds);
		this.log.need(TOPOLOGY.members().getFirst(), 7);
		assertThat(OTHERS).allMatch(this.log::isInNeed);
		assertThat(this.log.needs()).isEqualTo(2);
	}

}
