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
 * Looks up where a key is and what each node holds of it: all nodes, since an entry may
 * have been written to more or fewer than are usual now. By pages of one entry, of which
 * the beginning suffices: values stay where they are.
 */
public final class Inspection {

	private static final Page.Limit ONE = new Page.Limit(1, 1, EntryFormat.EXPIRY_END);

	private final Topology topology;

	private final RendezvousPlacement placement;

	private final List<? extends Replica> replicas;

	private final TimeSource time;

	private final Duration timeout;

	/**
	 * The inspection of a cluster.
	 * @param replicas on all members, by their index
	 * @param timeout how long a replica may take to answer
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
	 * Where a key is.
	 *
	 * @param holdings of all nodes, in the order of the key
	 */
	public record Whereabouts(int partition, List<Holding> holdings) {
	}

	/**
	 * What a node holds of a key.
	 *
	 * @param rank its place in the order of the key, from 0 on
	 * @param failed why it could not say; null where it did
	 * @param version {@link Version#ABSENT} where it holds nothing, or could not say
	 * @param copies how many nodes are to hold it; 0 where it holds nothing
	 * @param expiresAtMillis {@link Live#NEVER} where it does not
	 */
	public record Holding(Member member, int rank, State state, @Nullable Failed failed, Version version, int copies,
			long expiresAtMillis) {

		private static Holding none(Member member, int rank, State state, @Nullable Failed failed) {
			return new Holding(member, rank, state, failed, Version.ABSENT, 0, Live.NEVER);
		}

	}

	/** What a node holds of a key, in a word. */
	public enum State {

		LIVE, EXPIRED, TOMBSTONE, ABSENT, FAILED

	}

	/** Asks all nodes; those that do not answer have failed by the timeout. */
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
					Failed.notDone(Reason.INTERNAL, "it answered what was not asked"));
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
