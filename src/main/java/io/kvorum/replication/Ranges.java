package io.kvorum.replication;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.RangeEvents.Scope;

/**
 * Opens ranges, up to a number and an amount of memory.
 * <p>
 * A range over the cluster asks all nodes, so that it finds entries that were written
 * with few copies. It is whole while a majority of each key's replicas take part: of the
 * default number of replicas a minority may be missing, wherever they are. That is also
 * the most that may be missing, since with many more partitions than sets of nodes there
 * are keys on every set.
 */
public final class Ranges {

	private final Topology topology;

	private final Member self;

	/** By the index of their member. */
	private final Replica[] replicas;

	private final RangeSettings settings;

	private final TimeSource time;

	private final RangeEvents events;

	private final AtomicInteger open = new AtomicInteger();

	/**
	 * Ranges of a node.
	 * @param replicas on all members, this one among them, by their index
	 */
	public Ranges(Topology topology, Member self, List<? extends Replica> replicas, RangeSettings settings,
			TimeSource time, RangeEvents events) {
		this.topology = topology;
		this.self = self;
		this.replicas = replicas.toArray(Replica[]::new);
		this.settings = settings;
		this.time = time;
		this.events = events;
	}

	/**
	 * Opens a range, which has to be closed; on the executor that will use it.
	 * @param limit the most entries that are told, 1 or more
	 * @throws OperationFailedException if there are too many: nothing was done
	 */
	public RangeRead open(Scope scope, KeyRange range, long limit) {
		ReplicaSet asked = ReplicaSet.of(membersOf(scope), this.replicas);
		int most = mostOf(asked.size());
		if (this.open.incrementAndGet() > most) {
			this.open.decrementAndGet();
			this.events.refused(scope);
			throw tooMany(most);
		}
		return new RangeRead(scope, range, limit, asked, requiredOf(scope), this.settings, this.time, this.events,
				this.open::decrementAndGet);
	}

	private List<Member> membersOf(Scope scope) {
		return switch (scope) {
			case CLUSTER -> this.topology.members();
			case NODE -> List.of(this.self);
		};
	}

	/** How many ranges over so many replicas there may be. */
	private int mostOf(int members) {
		long fitting = this.settings.maxBytes() / this.settings.bytesOf(members);
		return (int) Math.min(this.settings.maxConcurrent(), fitting);
	}

	private int requiredOf(Scope scope) {
		int factor = this.topology.factor();
		return switch (scope) {
			case CLUSTER -> this.topology.size() - (factor - Replicas.majorityOf(factor).ack());
			case NODE -> 1;
		};
	}

	private OperationFailedException tooMany(int most) {
		String limit = (most == this.settings.maxConcurrent()) ? "kvorum.range.max-concurrent"
				: "kvorum.range.max-in-flight-size";
		return OperationFailedException.notBegun(1, this.self, Failed.notDone(Reason.OVERLOADED,
				"%d ranges are under way, as many as %s allows".formatted(most, limit)));
	}

	/** How many are open. */
	public int open() {
		return this.open.get();
	}

}
