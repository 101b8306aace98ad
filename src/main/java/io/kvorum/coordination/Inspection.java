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
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
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
 * scans the head of one entry, so no value crosses the network.
 */
public final class Inspection {

	private static final Page.Limit ONE = new Page.Limit(1, 1, EntryFormat.EXPIRY_END);

	private final Topology topology;

	private final RendezvousPlacement placement;

	private final List<? extends Replica> replicas;

	private final TimeSource time;

	private final Duration timeout;

	/**
	 * Creates the inspection of a cluster.
	 * @param replicas the replicas of all members, by the index of the member
	 * @param timeout the time that a replica has to answer
	 */
	public Inspection(Topology topology, RendezvousPlacement placement, List<? extends Replica> replicas,
			TimeSource time, Duration timeout) {
		this.topology = topology;
		this.placement = placement;
		this.replicas = List.copyOf(replicas);
		this.time = time;
		this.timeout = timeout;
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
	 * @param version {@link Version#ABSENT} if the node holds nothing, or did not answer
	 * @param copies how many nodes are to hold the entry; 0 if the node holds nothing
	 * @param expiresAtMillis {@link Live#NEVER} if the entry does not expire
	 */
	public record Holding(Member member, int rank, State state, @Nullable Failed failed, Version version, int copies,
			long expiresAtMillis) {

		private static Holding none(Member member, int rank, State state, @Nullable Failed failed) {
			return new Holding(member, rank, state, failed, Version.ABSENT, 0, Live.NEVER);
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
		List<Member> order = this.placement.replicasOf(partition, this.topology.size());
		Deadline deadline = Deadline.after(this.time, this.timeout);
		return Flux.range(0, order.size())
			.flatMap(rank -> ask(key, order.get(rank), rank, deadline), order.size())
			.collectSortedList(Comparator.comparingInt(Holding::rank))
			.map(holdings -> new Whereabouts(partition, holdings));
	}

	private Mono<Holding> ask(Key key, Member member, int rank, Deadline deadline) {
		KeyRange alone = KeyRange.of(key.bytes(), KeyRange.all().after(key.bytes()).start());
		return this.replicas.get(member.index())
			.scan(alone, ONE, deadline)
			.map(reply -> holding(member, rank, reply, key));
	}

	private Holding holding(Member member, int rank, Reply reply, Key key) {
		if (reply instanceof Failed failed) {
			return Holding.none(member, rank, State.FAILED, failed);
		}
		if (!(reply instanceof Listed listed)) {
			return Holding.none(member, rank, State.FAILED,
					Failed.notDone(Reason.INTERNAL, "the node sent a reply of another kind"));
		}
		Page.Cursor cursor = listed.page().cursor();
		if (!cursor.advance() || !Arrays.equals(cursor.keyBytes(), key.bytes())) {
			return Holding.none(member, rank, State.ABSENT, null);
		}
		return new Holding(member, rank, stateOf(cursor), null, cursor.version(),
				this.placement.copiesOf(cursor.copies()), cursor.expiresAtMillis());
	}

	private State stateOf(Page.Cursor cursor) {
		if (cursor.isTombstone()) {
			return State.TOMBSTONE;
		}
		return cursor.isVisibleAt(this.time.millis()) ? State.LIVE : State.EXPIRED;
	}

}
