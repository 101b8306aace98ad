package io.kvorum.convergence.change;

import java.nio.ByteBuffer;
import java.util.List;

import io.kvorum.cluster.Topology;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.StoreOpenException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The topology that a node works with, and its step in a change, over restarts. A node
 * whose topology does not change is a {@link Step#DONE} one.
 * <p>
 * Thread-safe: any thread reads the step, {@link Changeover} takes the next one.
 */
public final class ChangeState {

	static final String RECORD = "change";

	/** The step, and the fingerprints of both topologies of the change. */
	private static final int RECORD_BYTES = 1 + 2 * Long.BYTES;

	private final Topology topology;

	private final NodeRecord record;

	private volatile Step step;

	private volatile boolean isClosing;

	/**
	 * The change that other nodes are told of: this one, or the last one if it is done.
	 */
	private volatile long told;

	/**
	 * The state of a node. Until it is loaded, it refuses nodes that have the topology
	 * before.
	 */
	public ChangeState(Topology topology, NodeRecord record) {
		this.topology = topology;
		this.record = record;
		this.step = topology.isChanging() ? Step.CLOSED : Step.DONE;
		this.told = topology.fingerprint();
	}

	/**
	 * Checks that the present topology may follow the last one of this store, with the
	 * store open.
	 * @throws StoreOpenException if it must not
	 */
	public void check() {
		Change last = Change.of(this.record.recorded(RECORD));
		if (last != null) {
			check(last);
		}
	}

	/**
	 * Reads the step, with the store open and before any peer can ask. A disk without
	 * entries is closed from the beginning: it may have lost that it was.
	 */
	public Mono<Void> load() {
		return Mono.defer(() -> {
			Change last = Change.of(this.record.recorded(RECORD));
			if (!this.topology.isChanging() && last != null && last.isTo(this.topology)) {
				this.told = last.fingerprint();
			}
			if (this.topology.isChanging()) {
				boolean isSame = last != null && last.is(this.topology);
				this.step = (last != null && isSame) ? last.step : this.record.isNew() ? Step.CLOSED : Step.OPEN;
				return isSame ? Mono.empty() : record(this.step);
			}
			return Mono.empty();
		});
	}

	/**
	 * Refuses a topology that would lose what the last one has acknowledged. A change
	 * goes on until it is done, or goes back, by which it is another change of the same
	 * two topologies.
	 */
	private void check(Change last) {
		long before = this.topology.parts().getFirst().fingerprint();
		long after = this.topology.parts().getLast().fingerprint();
		boolean isSameOrBack = this.topology.isChanging()
				&& ((before == last.before && after == last.after) || (before == last.after && after == last.before));
		boolean isNotBegun = last.step == Step.OPEN && before == last.before;
		if (last.step != Step.DONE && !isSameOrBack && !isNotBegun) {
			throw new StoreOpenException(
					"The store takes part in a change of the topology that is not done: its step is '%s'."
						.formatted(last.step.text()),
					"Start the node with kvorum.cluster.nodes and kvorum.cluster.next-nodes as they were, until "
							+ "/actuator/health says that the change is done. To go back, exchange the two lists on "
							+ "all nodes, which is a change too.");
		}
	}

	/** This node's step. */
	public Step step() {
		return this.step;
	}

	/**
	 * Whether this node works together with another one. Until it is closed, that has the
	 * topology before the change, or is in a change from or to that. Then it is in a
	 * change from or to the topology after it. Once this node is done, it may also have
	 * that one alone: before, it would be one that has it too early.
	 * @param topologies the fingerprint of the other node's topology, or those before and
	 * after its change
	 */
	public boolean accepts(List<Long> topologies) {
		long before = this.topology.parts().getFirst().fingerprint();
		long after = this.topology.parts().getLast().fingerprint();
		return (this.isClosing || this.step.isClosed())
				? topologies.contains(after) && (this.step == Step.DONE || topologies.size() > 1)
				: topologies.contains(before);
	}

	/**
	 * Refuses nodes that have the topology before from now on, before that is on disk.
	 */
	void close() {
		this.isClosing = true;
	}

	/** Records a step, and then takes it. */
	Mono<Void> take(Step next) {
		return record(next).then(Mono.fromRunnable(() -> this.step = next));
	}

	private Mono<Void> record(Step step) {
		return this.record.record(RECORD, new Change(step, this.topology.parts().getFirst().fingerprint(),
				this.topology.parts().getLast().fingerprint())
			.toBytes());
	}

	/** The question of another node for this node's step. */
	static PeerQuery query() {
		return new PeerQuery(PeerQuery.Kind.CHANGE, new byte[0]);
	}

	/** Answers the question for the step, and has others answer the rest. */
	public PeerQueries orElse(PeerQueries rest) {
		return (query, deadline) -> (query.kind() == PeerQuery.Kind.CHANGE) ? Mono.just(answer())
				: rest.answer(query, deadline);
	}

	/**
	 * The answer: the step (1 byte), then the fingerprint of the change (8 bytes). A node
	 * that has been through a change goes on telling that it is done. A node that has the
	 * topology after it for another reason does not: it may have nothing.
	 */
	private Answered answer() {
		return new Answered(ByteBuffer.allocate(1 + Long.BYTES).put(this.step.code()).putLong(this.told).array());
	}

	/**
	 * The step of another node in a change.
	 * @param answer of that node
	 * @return null if it is not in this change and has not been through it
	 * @throws RuntimeException if the bytes are no answer
	 */
	static @Nullable Step stepOf(byte[] answer, Topology change) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		Step step = Step.ofCode(in.get());
		return (in.getLong() == change.fingerprint()) ? step : null;
	}

	/** A change of the past, as it is on disk. */
	private record Change(Step step, long before, long after) {

		static @Nullable Change of(byte @Nullable [] recorded) {
			if (recorded == null || recorded.length != RECORD_BYTES) {
				return null;
			}
			ByteBuffer in = ByteBuffer.wrap(recorded);
			return new Change(Step.ofCode(in.get()), in.getLong(), in.getLong());
		}

		boolean is(Topology topology) {
			return topology.parts().getFirst().fingerprint() == this.before
					&& topology.parts().getLast().fingerprint() == this.after;
		}

		/** Whether it was done, with this topology after it. */
		boolean isTo(Topology topology) {
			return this.step == Step.DONE && this.after == topology.fingerprint();
		}

		/** That of the {@link Topology} of the change. */
		long fingerprint() {
			return Topology.fingerprintOfChange(this.before, this.after);
		}

		byte[] toBytes() {
			return ByteBuffer.allocate(RECORD_BYTES)
				.put(this.step.code())
				.putLong(this.before)
				.putLong(this.after)
				.array();
		}

	}

}
