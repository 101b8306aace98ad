package io.kvorum.range;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicaSet;
import reactor.core.publisher.Mono;

/**
 * Opens ranges, up to a number and an amount of memory. One alone is always opened: the
 * cluster may have grown since the amount was set.
 * <p>
 * A range over the cluster asks all nodes, so that it finds entries with few copies. It
 * is complete while a majority of each key's replicas takes part. So a minority of the
 * default number of replicas may be missing, on any nodes. More may not: there are many
 * more partitions than sets of nodes, so every set holds some keys.
 */
public final class Ranges {

	private final RangeSettings settings;

	private final TimeSource time;

	private final RangeEvents events;

	private final AtomicInteger open = new AtomicInteger();

	private final AtomicLong lentBytes = new AtomicLong();

	private volatile View view;

	/**
	 * Creates the ranges of a node.
	 * @param replicas the replicas of all members, this node's among them, by the index
	 * of the member
	 */
	public Ranges(Topology topology, Placement placement, Member self, List<? extends Replica> replicas,
			RangeSettings settings, TimeSource time, RangeEvents events) {
		this.view = View.of(0, topology, placement, self, replicas);
		this.settings = settings;
		this.time = time;
		this.events = events;
	}

	/**
	 * Changes the nodes, on one thread. Open ranges go on with them from their next piece
	 * on.
	 */
	public void become(Topology topology, Placement placement, Member self, List<? extends Replica> replicas) {
		this.view = View.of(this.view.number + 1, topology, placement, self, replicas);
	}

	/**
	 * Opens a range.
	 * @param read reads a key by itself, linearizable
	 * @throws OperationFailedException if too many ranges are open; nothing was done
	 */
	public RangeCursor open(RangeQuery query, Function<Key, Mono<Live>> read, OperationObserver observer) {
		LiveRange opened = new LiveRange(query, (rest, isUnderWay) -> open(this.view, rest, isUnderWay, read, observer),
				() -> this.view.number);
		observer.began(query.scope());
		this.events.began(query.scope());
		return opened;
	}

	private LiveRange.Opened open(View now, RangeQuery query, boolean isUnderWay, Function<Key, Mono<Live>> read,
			OperationObserver observer) {
		RangeScope scope = query.scope();
		ReplicaSet asked = ReplicaSet.of(now.membersOf(scope), now.requiredOf(scope), now.replicas);
		long bytes = this.settings.bytesOf(asked.size());
		try {
			lend(now, bytes, isUnderWay);
		}
		catch (OperationFailedException ex) {
			this.events.refused(scope);
			throw ex;
		}
		return new LiveRange.Opened(now.number,
				new RangeRead(query, asked, now.requiredOf(scope), now.majorityOf(scope), now.votersOf(scope, asked),
						read, () -> this.view != now, this.settings, this.time, this.events, observer,
						() -> giveBack(bytes)));
	}

	private void lend(View now, long bytes, boolean isUnderWay) {
		int others = this.open.getAndIncrement();
		if (others >= this.settings.maxConcurrent() && !isUnderWay) {
			this.open.decrementAndGet();
			throw tooMuch(now, "%d ranges are under way, as many as kvorum.range.max-concurrent allows"
				.formatted(this.settings.maxConcurrent()));
		}
		if (this.lentBytes.addAndGet(bytes) > this.settings.maxBytes() && others > 0 && !isUnderWay) {
			giveBack(bytes);
			throw tooMuch(now,
					"the ranges under way have taken kvorum.range.max-in-flight-size of %d bytes, but for less than %d"
						.formatted(this.settings.maxBytes(), bytes));
		}
	}

	private void giveBack(long bytes) {
		this.lentBytes.addAndGet(-bytes);
		this.open.decrementAndGet();
	}

	private static OperationFailedException tooMuch(View now, String why) {
		return OperationFailures.notBegun(1, now.self, Failed.notDone(Reason.OVERLOADED, why));
	}

	/** The nodes as ranges see them. */
	private static final class View {

		/** The number of changes before. */
		private final int number;

		private final Topology topology;

		private final Placement placement;

		private final Member self;

		/** The replicas by the index of their member. */
		private final Replica[] replicas;

		private View(int number, Topology topology, Placement placement, Member self, Replica[] replicas) {
			this.number = number;
			this.topology = topology;
			this.placement = placement;
			this.self = self;
			this.replicas = replicas;
		}

		static View of(int number, Topology topology, Placement placement, Member self,
				List<? extends Replica> replicas) {
			return new View(number, topology, placement, self, replicas.toArray(Replica[]::new));
		}

		List<Member> membersOf(RangeScope scope) {
			return switch (scope) {
				case CLUSTER -> this.topology.members();
				case NODE -> List.of(this.self);
			};
		}

		/**
		 * While the topology changes, a majority of each key's replicas has to take part
		 * both before and after the change: as many may be missing as either allows.
		 */
		int requiredOf(RangeScope scope) {
			return switch (scope) {
				case CLUSTER -> this.topology.size() - this.topology.tolerance();
				case NODE -> 1;
			};
		}

		/**
		 * With scope NODE no majority is needed. While the topology changes, only all
		 * nodes together certainly contain a majority both before and after.
		 */
		int majorityOf(RangeScope scope) {
			return switch (scope) {
				case CLUSTER -> this.topology.isChanging() ? this.topology.size()
						: Replicas.majorityOf(this.topology.factor()).ack();
				case NODE -> 1;
			};
		}

		/**
		 * All nodes where each is a replica of each key, or all of them are asked for.
		 */
		RangeMerge.Voters votersOf(RangeScope scope, ReplicaSet asked) {
			int factor = this.topology.factor();
			boolean all = scope == RangeScope.NODE || this.topology.isChanging() || this.topology.size() == factor;
			return all ? (_, _) -> true
					: (key, feed) -> this.placement.replicasOf(key, factor).contains(asked.at(feed).member());
		}

	}

}
