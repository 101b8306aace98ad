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
 * Remembers when each slice was last found or made equal to that of each other member,
 * and which slices are in need of a repair. A repair counts from the instant at which it
 * began, by this node's clock, in milliseconds since 1970. Repairs are kept over restarts
 * while the topology stays the same.
 * <p>
 * After a start every slice is in need: this node cannot know what it missed.
 */
public final class RepairLog {

	/** Stands for a slice that has never been repaired. */
	public static final long NEVER = 0;

	private static final int RECORD_BYTES = Long.BYTES * (1 + Partitions.SLICES);

	private final NodeRecord record;

	/** Guarded by this, as is all that follows. */
	private Topology topology;

	private Member self;

	/** Instants by member and slice. */
	private long[][] repaired;

	private BitSet[] needs;

	/**
	 * The slices of which this node has got whatever the other had, by repairs that began
	 * after its last mark.
	 */
	private BitSet[] sinceMark;

	/**
	 * The slices that were made equal to those of each member by repairs that began after
	 * the last fence.
	 */
	private BitSet[] sinceFence;

	/** The number of marks and fences when the last repair with each member began. */
	private int[] begunAt;

	/** The number of marks and fences. */
	private int moments;

	/** That number as of the last mark of each member. */
	private int[] markedAt;

	/** That number as of the last fence; 0 without one. */
	private int fencedAt;

	public RepairLog(Topology topology, Member self, NodeRecord record) {
		this.record = record;
		this.topology = topology;
		this.self = self;
		this.repaired = new long[topology.size()][Partitions.SLICES];
		this.needs = slicesOf(topology);
		this.sinceMark = slicesOf(topology);
		this.sinceFence = slicesOf(topology);
		this.begunAt = new int[topology.size()];
		this.markedAt = new int[topology.size()];
	}

	private static BitSet[] slicesOf(Topology topology) {
		BitSet[] slices = new BitSet[topology.size()];
		Arrays.setAll(slices, _ -> new BitSet(Partitions.SLICES));
		return slices;
	}

	/**
	 * Changes the nodes and reads the record, with the store open. Every slice is in need
	 * then. No repair may be under way.
	 */
	public synchronized void become(Topology next, Member self) {
		this.topology = next;
		this.self = self;
		this.repaired = new long[next.size()][Partitions.SLICES];
		this.needs = slicesOf(next);
		this.sinceMark = slicesOf(next);
		this.sinceFence = slicesOf(next);
		this.begunAt = new int[next.size()];
		this.markedAt = new int[next.size()];
		load();
	}

	/** Reads the record, with the store open, and notes every slice as in need. */
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

	/** Whether the topology changes to another one. */
	synchronized boolean isChanging() {
		return this.topology.isChanging();
	}

	/** All members but this one. */
	public synchronized List<Member> others() {
		return this.topology.members().stream().filter(member -> !member.equals(this.self)).toList();
	}

	/** Records the repairs with a member; completes when they are on disk. */
	public Mono<Void> save(Member member) {
		return Mono.defer(() -> this.record.record(nameOf(member), encoded(member)));
	}

	private synchronized byte[] encoded(Member member) {
		ByteBuffer out = ByteBuffer.allocate(RECORD_BYTES).putLong(this.topology.fingerprint());
		out.asLongBuffer().put(this.repaired[member.index()]);
		return out.array();
	}

	/** Notes that a repair made a slice equal to that of a member. */
	public synchronized void repaired(Member member, int slice, long beganMillis) {
		Member now = this.topology.current(member);
		if (now != null) {
			BitSet one = new BitSet();
			one.set(slice);
			repaired(now, one, beganMillis);
		}
	}

	/** Notes that a repair made these slices equal to those of a member. */
	synchronized void repaired(Member member, BitSet slices, long beganMillis) {
		Member now = this.topology.current(member);
		if (now != null) {
			long[] instants = this.repaired[now.index()];
			int end = 0;
			for (int from = slices.nextSetBit(0); from >= 0; from = slices.nextSetBit(end)) {
				end = slices.nextClearBit(from);
				Arrays.fill(instants, from, end, beganMillis);
			}
			if (this.begunAt[now.index()] >= this.fencedAt) {
				this.sinceFence[now.index()].or(slices);
			}
		}
	}

	/**
	 * Notes that this node has got whatever a member had of these slices when the last
	 * repair with it began. The member may still lack something, as long as keys are
	 * written all the time.
	 */
	synchronized void copied(Member member, BitSet slices) {
		Member now = this.topology.current(member);
		if (now != null && this.begunAt[now.index()] >= this.markedAt[now.index()]) {
			this.sinceMark[now.index()].or(slices);
		}
	}

	/**
	 * Notes all slices as in need of a repair with a member, and marks this moment:
	 * repairs with it that begin from now on are counted, whatever the clock does.
	 */
	synchronized void mark(Member member) {
		this.moments++;
		this.markedAt[member.index()] = this.moments;
		this.sinceMark[member.index()].clear();
		this.needs[member.index()].set(0, Partitions.SLICES);
	}

	/**
	 * Notes that no member is given anything old from now on by nodes that are none.
	 * Repairs that begin from now on are told from earlier ones, whatever the clock does.
	 */
	public synchronized void fence() {
		this.moments++;
		this.fencedAt = this.moments;
		others().forEach(member -> this.sinceFence[member.index()].clear());
	}

	/**
	 * Whether repairs that began after the last fence, if there is one, have made a slice
	 * equal to that of each other member.
	 */
	public synchronized boolean isRepairedSinceFence(int slice) {
		return this.fencedAt == 0 || others().stream().allMatch(member -> this.sinceFence[member.index()].get(slice));
	}

	/** Whether this node has got whatever a member had at the last mark. */
	synchronized boolean isCopiedSinceMark(Member member) {
		return this.sinceMark[member.index()].cardinality() == Partitions.SLICES;
	}

	/**
	 * Notes that a member may lack something of a slice. If that is this member, the
	 * slice is in need of a repair with each other one.
	 */
	public synchronized void need(Member member, int slice) {
		// An operation that began with other nodes may name one that has left.
		Member now = this.topology.current(member);
		for (Member other : (now == null) ? List.<Member>of() : now.equals(this.self) ? others() : List.of(now)) {
			this.needs[other.index()].set(slice);
		}
	}

	/** Notes that another member may lack something of these slices. */
	synchronized void need(Member other, BitSet slices) {
		Member now = this.topology.current(other);
		if (now != null) {
			this.needs[now.index()].or(slices);
		}
	}

	/** Notes that any member may lack something of any slice. */
	public synchronized void needAll() {
		others().forEach(member -> this.needs[member.index()].set(0, Partitions.SLICES));
	}

	/**
	 * Takes the slices in need of a repair with a member, for a repair that begins now. A
	 * need that is noted from now on remains after that repair.
	 */
	synchronized BitSet takeNeeds(Member member) {
		BitSet taken = this.needs[member.index()];
		this.needs[member.index()] = new BitSet(Partitions.SLICES);
		this.begunAt[member.index()] = this.moments;
		return taken;
	}

	synchronized boolean isInNeed(Member member) {
		return !this.needs[member.index()].isEmpty();
	}

	/** The number of slices in need of a repair, counted once for each member. */
	public synchronized int needs() {
		return Arrays.stream(this.needs).mapToInt(BitSet::cardinality).sum();
	}

	/**
	 * The instant of the oldest of the last repairs of a slice with each other member;
	 * {@link #NEVER} if one is missing. All members count, not only the replicas of an
	 * entry: an older entry of its key may have had more copies.
	 */
	public synchronized long repairedWithAll(int slice) {
		long oldest = Long.MAX_VALUE;
		for (Member member : others()) {
			oldest = Math.min(oldest, this.repaired[member.index()][slice]);
		}
		return oldest;
	}

	/** The instant of the last repair of a slice with a member, or {@link #NEVER}. */
	synchronized long repaired(Member member, int slice) {
		return this.repaired[member.index()][slice];
	}

	/**
	 * The instant of the oldest of the last repairs of all slices with a member;
	 * {@link #NEVER} for one that has left.
	 */
	public synchronized long oldestRepair(Member member) {
		Member now = this.topology.current(member);
		return (now != null) ? Arrays.stream(this.repaired[now.index()]).min().orElse(NEVER) : NEVER;
	}

}
