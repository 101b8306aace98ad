package io.kvorum.convergence.antientropy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.NodeRecord;
import reactor.core.publisher.Mono;

/**
 * Remembers for each slice and each other member when a repair began that made both equal
 * in it, and which slices are in need of one. Instants are those of this node's clock, in
 * milliseconds since 1970, and kept over restarts as long as the topology stays the same.
 * <p>
 * After a start every slice is in need: this node cannot know what it missed.
 */
public final class RepairLog {

	/** Of a slice that has never been repaired. */
	public static final long NEVER = 0;

	private static final int RECORD_BYTES = Long.BYTES * (1 + Partitions.SLICES);

	private final Topology topology;

	private final Member self;

	private final NodeRecord record;

	/** By the index of the other member. Guarded by this, as is all that follows. */
	private final long[][] repaired;

	private final BitSet[] needs;

	public RepairLog(Topology topology, Member self, NodeRecord record) {
		this.topology = topology;
		this.self = self;
		this.record = record;
		this.repaired = new long[topology.size()][Partitions.SLICES];
		this.needs = new BitSet[topology.size()];
		Arrays.setAll(this.needs, _ -> new BitSet(Partitions.SLICES));
	}

	/** Reads what was recorded, with the store open. */
	public synchronized void load() {
		for (Member member : others()) {
			byte[] recorded = this.record.recorded(nameOf(member));
			if (recorded != null && recorded.length == RECORD_BYTES) {
				ByteBuffer in = ByteBuffer.wrap(recorded);
				if (in.getLong() == this.topology.fingerprint()) {
					in.asLongBuffer().get(this.repaired[member.index()]);
				}
			}
		}
		needAll();
	}

	private static String nameOf(Member member) {
		return "repaired " + member.address();
	}

	/** All members but this one. */
	public List<Member> others() {
		return this.topology.members().stream().filter(member -> !member.equals(this.self)).toList();
	}

	/** Completes when what is known of a member is on disk. */
	public Mono<Void> save(Member member) {
		return Mono.defer(() -> this.record.record(nameOf(member), encoded(member)));
	}

	private synchronized byte[] encoded(Member member) {
		ByteBuffer out = ByteBuffer.allocate(RECORD_BYTES).putLong(this.topology.fingerprint());
		out.asLongBuffer().put(this.repaired[member.index()]);
		return out.array();
	}

	/** A slice is the same on both, by a repair that began then. */
	public synchronized void repaired(Member member, int slice, long beganMillis) {
		this.repaired[member.index()][slice] = beganMillis;
	}

	/**
	 * Something of a slice may be missing on a member. If that is this one, any other
	 * member may have it.
	 */
	public synchronized void need(Member member, int slice) {
		for (Member other : member.equals(this.self) ? others() : List.of(member)) {
			this.needs[other.index()].set(slice);
		}
	}

	/** Any member may lack something of any slice. */
	public synchronized void needAll() {
		others().forEach(member -> this.needs[member.index()].set(0, Partitions.SLICES));
	}

	/**
	 * The slices that are in need of a repair with a member, and are about to get it:
	 * what comes to be in need from now on may be so after it.
	 */
	synchronized BitSet takeNeeds(Member member) {
		BitSet taken = this.needs[member.index()];
		this.needs[member.index()] = new BitSet(Partitions.SLICES);
		return taken;
	}

	synchronized boolean isInNeed(Member member) {
		return !this.needs[member.index()].isEmpty();
	}

	/** How many slices are in need of a repair, with any member. */
	public synchronized int needs() {
		return Arrays.stream(this.needs).mapToInt(BitSet::cardinality).sum();
	}

	/**
	 * When the repairs began that made all members equal in a slice, the oldest of them;
	 * {@link #NEVER} where one is missing. Of all members, not of those only that an
	 * entry belongs to: an older entry of its key may have asked for more copies.
	 */
	public synchronized long repairedWithAll(int slice) {
		long oldest = Long.MAX_VALUE;
		for (Member member : others()) {
			oldest = Math.min(oldest, this.repaired[member.index()][slice]);
		}
		return oldest;
	}

	/**
	 * When the last repair of a slice with a member began; {@link #NEVER} without one.
	 */
	synchronized long repaired(Member member, int slice) {
		return this.repaired[member.index()][slice];
	}

	/** When the repair with a member began that is the longest ago, of all slices. */
	public synchronized long oldestRepair(Member member) {
		return Arrays.stream(this.repaired[member.index()]).min().orElse(NEVER);
	}

}
