package io.kvorum.coordination;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.KeyHead;
import io.kvorum.replication.Listed;
import io.kvorum.replication.Replica;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds the nodes that hold a key, and what each of them holds.
 * <p>
 * It asks all nodes, since an entry may have more or fewer copies than the default. It
 * asks for heads of entries, so no value crosses the network. A node of a release without
 * ballots is asked by a scan of one key.
 */
public final class Inspection {

	private static final Page.Limit ONE = new Page.Limit(1, 1, EntryFormat.EXPIRY_END);

	private static final Value NO_VALUE = Value.of(new byte[0]);

	private final TimeSource time;

	private final Duration timeout;

	private volatile Cluster cluster;

	/**
	 * Creates the inspection of a cluster.
	 * @param replicas the replicas of all members, by the index of the member
	 * @param timeout the time that a replica has to answer
	 */
	public Inspection(Topology topology, RendezvousPlacement placement, List<? extends Replica> replicas,
			TimeSource time, Duration timeout) {
		this.time = time;
		this.timeout = timeout;
		become(topology, placement, replicas);
	}

	/** Changes the nodes. */
	public void become(Topology topology, RendezvousPlacement placement, List<? extends Replica> replicas) {
		this.cluster = new Cluster(topology, placement, List.copyOf(replicas));
	}

	private record Cluster(Topology topology, RendezvousPlacement placement, List<Replica> replicas) {
	}

	/**
	 * The nodes of a key.
	 *
	 * @param partition the partition of the key
	 * @param holdings the holdings of all nodes, in the order of the key
	 */
	public record Whereabouts(int partition, List<Holding> holdings) {
	}

	/**
	 * The state of a key on one node.
	 *
	 * @param rank the node's place in the order of the key, from 0 on
	 * @param failed why the node did not answer; null if it did
	 * @param entry the entry without its value; null if the node holds none, or did not
	 * answer
	 * @param copies how many nodes are to hold the entry; 0 without one
	 * @param promise the highest ballot promised; {@link Version#ABSENT} without one.
	 * Null if the node did not answer, or its release knows no ballots: then its entry
	 * has no lineage either.
	 */
	public record Holding(Member member, int rank, State state, @Nullable Failed failed, @Nullable Entry entry,
			int copies, @Nullable Version promise) {

		private static Holding failed(Member member, int rank, Failed failed) {
			return new Holding(member, rank, State.FAILED, failed, null, 0, null);
		}

	}

	/**
	 * The state of a key on a node: the kind of entry that it holds, none, or no answer.
	 */
	public enum State {

		LIVE, EXPIRED, TOMBSTONE, ABSENT, FAILED

	}

	/**
	 * Asks all nodes. A node that does not answer within the timeout counts as failed.
	 */
	public Mono<Whereabouts> of(Key key) {
		int partition = RendezvousPlacement.partitionOf(key);
		Cluster cluster = this.cluster;
		List<Member> order = cluster.placement.replicasOf(partition, cluster.topology.size());
		Deadline deadline = Deadline.after(this.time, this.timeout);
		return Flux.range(0, order.size())
			.flatMap(rank -> ask(key, cluster, order.get(rank), rank, deadline), order.size())
			.collectSortedList(Comparator.comparingInt(Holding::rank))
			.map(holdings -> new Whereabouts(partition, holdings));
	}

	private Mono<Holding> ask(Key key, Cluster cluster, Member member, int rank, Deadline deadline) {
		Replica replica = cluster.replicas.get(member.index());
		KeyRange alone = KeyRange.of(key.bytes(), KeyRange.all().after(key.bytes()).start());
		return (replica.knowsBallots() ? replica.ask(KeyHead.query(key), deadline) : replica.scan(alone, ONE, deadline))
			.map(reply -> holding(cluster, member, rank, reply, key));
	}

	private Holding holding(Cluster cluster, Member member, int rank, Reply reply, Key key) {
		try {
			return switch (reply) {
				case Failed failed -> Holding.failed(member, rank, failed);
				case Answered answered -> {
					KeyHead head = KeyHead.read(key, answered.bytes());
					yield holding(cluster, member, rank, head.entry(), head.promise());
				}
				case Listed listed -> holding(cluster, member, rank, entryOf(listed.page(), key), null);
				default -> Holding.failed(member, rank,
						Failed.notDone(Reason.INTERNAL, "the node sent a reply of another kind"));
			};
		}
		catch (RuntimeException ex) {
			return Holding.failed(member, rank,
					Failed.notDone(Reason.INTERNAL, "the node sent what is no head of the key: " + ex));
		}
	}

	private Holding holding(Cluster cluster, Member member, int rank, @Nullable Entry entry,
			@Nullable Version promise) {
		return new Holding(member, rank, stateOf(entry), null, entry,
				(entry != null) ? cluster.placement.copiesOf(entry.copies()) : 0, promise);
	}

	private static @Nullable Entry entryOf(Page page, Key key) {
		Page.Cursor cursor = page.cursor();
		if (!cursor.advance() || !Arrays.equals(cursor.keyBytes(), key.bytes())) {
			return null;
		}
		return cursor.isTombstone() ? new Tombstone(cursor.version(), cursor.copies())
				: new Live(cursor.version(), cursor.copies(), cursor.expiresAtMillis(), "", NO_VALUE);
	}

	private State stateOf(@Nullable Entry entry) {
		return switch (entry) {
			case null -> State.ABSENT;
			case Tombstone _ -> State.TOMBSTONE;
			case Live live -> live.isVisibleAt(this.time.millis()) ? State.LIVE : State.EXPIRED;
		};
	}

}
