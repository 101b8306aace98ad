package io.kvorum.storage;

import java.nio.ByteBuffer;
import java.util.Objects;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DigestsTests {

	private static final long HASH = 0x1234_5678_9ABC_DEF0L;

	private static final int PARTITION = Partitions.ofHash(HASH);

	private static final Version VERSION = new Version(1, 1);

	private static final int MOST_BYTES = 3 * (3 + 8 * Partitions.IN_SLICE);

	private final Digests digests = new Digests(3);

	@Test
	void aPartitionIsEmptyUntilItHasAnEntryAndOnceThatIsRemoved() {
		assertThat(this.digests.isEmpty(PARTITION)).isTrue();

		this.digests.toggle(HASH, VERSION, Copies.of(2));
		assertThat(this.digests.isEmpty(PARTITION)).isFalse();
		assertThat(this.digests.isEmpty(PARTITION ^ 1)).isTrue();
		assertThat(this.digests.of(PARTITION, 2)).isEqualTo(Digests.itemOf(HASH, VERSION));
		assertThat(this.digests.of(PARTITION, 3)).isZero();

		this.digests.toggle(HASH, VERSION, Copies.of(2));
		assertThat(this.digests.isEmpty(PARTITION)).isTrue();
	}

	@Test
	void entriesWithTheDefaultFollowIt() {
		this.digests.toggle(HASH, VERSION, Copies.DEFAULT);
		assertThat(this.digests.of(PARTITION, 3)).isEqualTo(Digests.itemOf(HASH, VERSION));
		assertThat(this.digests.of(PARTITION, 4)).isZero();
		assertThat(this.digests.hasUpTo(PARTITION, 2)).isFalse();

		this.digests.become(5);
		assertThat(this.digests.of(PARTITION, 5)).isEqualTo(Digests.itemOf(HASH, VERSION));
		assertThat(this.digests.hasUpTo(PARTITION, 4)).isFalse();

		this.digests.become(1);
		assertThat(this.digests.of(PARTITION, 2)).isZero();
		assertThat(this.digests.hasUpTo(PARTITION, 1)).isTrue();
		assertThat(this.digests.isEmpty(PARTITION)).isFalse();

		this.digests.toggle(HASH, VERSION, Copies.DEFAULT);
		assertThat(this.digests.isEmpty(PARTITION)).isTrue();
	}

	@Test
	void savedDigestsAreThoseOfTheSameEntries() {
		long other = HASH * 3;
		this.digests.toggle(HASH, VERSION, Copies.DEFAULT);
		this.digests.toggle(HASH, VERSION, Copies.of(Entry.MAX_COPIES));
		this.digests.toggle(other, VERSION, Copies.of(2));
		this.digests.completed();

		Digests restored = new Digests(3);
		restored.add(ByteBuffer.wrap(Objects.requireNonNull(this.digests.toBytes(MOST_BYTES))));

		assertThat(restored.isComplete()).isFalse();
		assertThat(this.digests.toBytes(MOST_BYTES - 1)).as("too long").isNull();
		assertThat(restored.slices().toArray()).isEqualTo(this.digests.slices().toArray());
		for (int copies = 1; copies <= Entry.MAX_COPIES; copies++) {
			for (long hash : new long[] { HASH, other }) {
				int partition = Partitions.ofHash(hash);
				assertThat(restored.of(partition, copies)).isEqualTo(this.digests.of(partition, copies));
			}
		}
		assertThat(restored.of(Partitions.ofHash(other), 2)).isEqualTo(Digests.itemOf(other, VERSION));
		assertThat(restored.of(PARTITION, 4)).isEqualTo(Digests.itemOf(HASH, VERSION));
	}

	@Test
	void digestsAreSavedOnlyIfAllEntriesAreKnown() {
		assertThat(this.digests.toBytes(MOST_BYTES)).isNull();
		this.digests.completed();
		assertThat(this.digests.toBytes(MOST_BYTES)).isEmpty();
		this.digests.unknown(PARTITION, 7);
		assertThat(this.digests.toBytes(MOST_BYTES)).isNull();
	}

	@Test
	void aPartitionWithEntriesThatAreNotKnownIsNotEmpty() {
		this.digests.unknown(PARTITION, 7);

		assertThat(this.digests.isEmpty(PARTITION)).isFalse();
		assertThat(this.digests.of(PARTITION, 1)).isEqualTo(7);
		assertThat(this.digests.of(PARTITION ^ 1, 1)).isZero();
		assertThat(this.digests.slices()).containsExactly(Partitions.sliceOf(PARTITION));
	}

}
