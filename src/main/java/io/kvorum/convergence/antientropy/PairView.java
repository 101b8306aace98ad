package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.Digests;

/**
 * Digests of the entries that two members both are to hold, in the store of one of them.
 * They are equal if these entries are, and neither member has misplaced ones. Misplaced
 * entries are in the digests too. So a repair finds those that the other member has
 * overwritten.
 * <p>
 * The digests form a tree of two levels: slices, and partitions as their leaves.
 */
final class PairView {

	private final Digests digests;

	private final RendezvousPlacement placement;

	private final Member self;

	private final Member other;

	PairView(Digests digests, RendezvousPlacement placement, Member self, Member other) {
		this.digests = digests;
		this.placement = placement;
		this.self = self;
		this.other = other;
	}

	/** A digest for each slice; 0 for a slice without entries. */
	long[] slices() {
		long[] slices = new long[Partitions.SLICES];
		this.digests.slices().forEach(slice -> slices[slice] = digestOf(slice));
		return slices;
	}

	private long digestOf(int slice) {
		long digest = 0;
		int first = Partitions.firstOf(slice);
		for (int partition = first; partition < first + Partitions.IN_SLICE; partition++) {
			long leaf = leaf(partition);
			if (leaf != 0) {
				digest ^= Digests.mix(leaf + partition);
			}
		}
		return digest;
	}

	/** The digest of a partition; 0 without entries. */
	long leaf(int partition) {
		if (this.digests.isEmpty(partition)) {
			return 0;
		}
		int rank = this.placement.rankOf(partition, this.self);
		int common = Math.max(rank, this.placement.rankOf(partition, this.other));
		long misplaced = (rank == 0) ? 0 : this.digests.of(partition, 1) ^ this.digests.of(partition, rank + 1);
		return this.digests.of(partition, common + 1) ^ misplaced;
	}

}
