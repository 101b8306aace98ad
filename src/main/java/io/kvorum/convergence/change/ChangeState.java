package io.kvorum.convergence.change;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.change.CopyProgress.Report;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.StoreSize;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The layout that a node works with, and the node's step in the change to the next
 * topology, over restarts. A node whose topology does not change is a {@link Step#DONE}
 * one.
 * <p>
 * Thread-safe: any thread reads the step, {@link Changeover} takes the next one.
 */
public final class ChangeState {

	static final String RECORD = "layout";

	/** Stands for the layout of a node that does not tell others of it yet. */
	private static final long UNTOLD = -1;

	private static final int ANSWER_BYTES = 1 + 4 * Long.BYTES;

	private final Layout layout;

	private final NodeRecord record;

	private final StoreSize size;

	/** What repairs had brought before this layout. */
	private final long repairedBefore;

	/** What this node had before repairs brought more; 0 if that is not known. */
	private volatile long heldBytes;

	/** Whether repairs may have brought something before the start of this node. */
	private boolean isResumed;

	private volatile Step step;

	private volatile boolean isClosing;

	private volatile boolean isAnnounced;

	/**
	 * The number of the earliest change in which other nodes may be. After a restart, and
	 * of a node that does not vote, it is that of this layout: others have taken it by
	 * then, or will in seconds.
	 */
	private volatile long earliest;

	/**
	 * Whether all members refuse nodes in an earlier change, and have ended what these
	 * had begun.
	 */
	private volatile boolean isEarlierOver;

	/**
	 * The number of the oldest change that other nodes may still be in when this node is
	 * done: that which led to this layout. Unless this node was in that, the decision
	 * before is taken for it.
	 */
	private volatile long oldest;

	/**
	 * The state of a node. Until it is loaded or adopted, it refuses nodes that have the
	 * topology before.
	 */
	public ChangeState(Layout layout, NodeRecord record, StoreSize size) {
		this.layout = layout;
		this.record = record;
		this.size = size;
		this.repairedBefore = size.repairedBytes();
		this.step = layout.isMoving() ? Step.CLOSED : Step.DONE;
		this.earliest = layout.number();
		this.isEarlierOver = layout.number() == 0;
		this.oldest = layout.isMoving() ? layout.number() : layout.number() - 1;
	}

	/**
	 * The layout of a store, with the store open; null if it is that of its
	 * configuration.
	 */
	public static @Nullable Layout layoutIn(NodeRecord record) {
		byte[] recorded = record.recorded(RECORD);
		return (recorded != null) ? layoutOf(recorded) : null;
	}

	/**
	 * Reads the step, with the store open and before any peer can ask, if the store has
	 * this layout.
	 */
	public void load() {
		byte[] recorded = this.record.recorded(RECORD);
		Layout last = layoutIn(this.record);
		if (recorded != null && last != null && last.number() == this.layout.number()) {
			this.step = Step.ofCode(recorded[0]);
			this.isResumed = true;
		}
	}

	/**
	 * Records that this node works with the layout from now on. A node that may have lost
	 * that it was closed is closed from the beginning, and so is one that is being added:
	 * it has nothing that nodes with the topology before could rely on.
	 * @param mayVote whether this node knows all that it ever acknowledged
	 * @param before what this node has worked with until now; null for nothing
	 */
	public Mono<Void> adopt(Member self, boolean mayVote, @Nullable ChangeState before) {
		return Mono.defer(() -> {
			if (before != null && mayVote) {
				this.earliest = before.earliest;
				if (before.ledTo(this.layout)) {
					this.oldest = before.layout.number();
				}
			}
			Step first = !this.layout.isMoving() ? Step.DONE
					: (mayVote && this.layout.before().has(self)) ? Step.OPEN : Step.CLOSED;
			return take(first);
		});
	}

	/** Whether this change has ended with a layout, by being done or given up. */
	private boolean ledTo(Layout next) {
		long fingerprint = next.topology().fingerprint();
		return this.layout.isMoving()
				&& this.layout.topology().parts().stream().anyMatch(part -> part.fingerprint() == fingerprint);
	}

	/**
	 * Tells other nodes of this layout from now on. Until then they take this node for
	 * one that has the topology before: operations that it has begun with that may be
	 * under way.
	 */
	public void announce() {
		this.isAnnounced = true;
	}

	/** This node's step. */
	public Step step() {
		return this.step;
	}

	/**
	 * Finds out what this node has, to estimate what others have to get. Others are told
	 * nothing if that fails, or this node has restarted in the change.
	 */
	Mono<Void> measure() {
		return this.isResumed ? Mono.empty()
				: this.size.liveBytes().doOnNext(bytes -> this.heldBytes = bytes).onErrorComplete().then();
	}

	/** What this node tells of itself. */
	Report report(Member self) {
		return new Report(self, this.step, this.heldBytes, this.size.repairedBytes() - this.repairedBefore);
	}

	/**
	 * Whether this node works together with another one. Until it is closed, that has the
	 * topology before the change, or is in a change from or to that. Then it is in a
	 * change from or to the topology after it. Once this node is done, it may also have
	 * that one alone: before, it would be one that has it too early.
	 * <p>
	 * The other node may not have noticed yet that a change was given up and that the
	 * same one was made again. What it has under way may be of the time in between, so
	 * that node is refused as one that has the topology before.
	 * <p>
	 * A node that has the topology after the change alone, of a layout before this one,
	 * has missed that there was another one in between. It is refused.
	 * <p>
	 * A node that is still in an earlier change has some time to take this layout, and is
	 * refused after that: see {@link EarlierChanges}.
	 * @param number that of the other node's layout
	 * @param topologies the fingerprint of the other node's topology, or those before and
	 * after its change
	 */
	public boolean accepts(long number, List<Long> topologies) {
		long before = this.layout.before().fingerprint();
		long after = this.layout.after().fingerprint();
		boolean isChanging = topologies.size() > 1;
		if (isChanging && number < this.earliest) {
			return false;
		}
		if (!this.isClosing && !this.step.isClosed()) {
			return topologies.contains(before);
		}
		return topologies.contains(after)
				&& (isChanging ? number >= this.oldest : this.step == Step.DONE && isNotBefore(number));
	}

	private boolean isNotBefore(long number) {
		return !this.layout.isMoving() || number > this.layout.number();
	}

	/**
	 * Refuses nodes that have the topology before from now on, before that is on disk.
	 */
	void close() {
		this.isClosing = true;
	}

	/** Refuses nodes in an earlier change from now on, also with later layouts. */
	void refuseEarlier() {
		this.earliest = this.layout.number();
	}

	/** Whether nodes in an earlier change may be accepted. */
	boolean acceptsEarlier() {
		return this.earliest < this.layout.number();
	}

	void earlierIsOver() {
		this.isEarlierOver = true;
	}

	/** Whether no member works with a node in an earlier change any more. */
	public boolean isEarlierOver() {
		return this.isEarlierOver;
	}

	/** Whether nodes in an earlier change are refused by the node that answers this. */
	boolean isRefusedBy(byte[] answer) {
		return answer.length >= ANSWER_BYTES
				&& ByteBuffer.wrap(answer).getLong(ANSWER_BYTES - Long.BYTES) >= this.layout.number();
	}

	/**
	 * What remains of the records of a node when the whole cluster is restored: its
	 * layout. A change begins anew, with all nodes closed: what they had got from each
	 * other may be gone.
	 */
	public static Map<String, byte[]> restored(Map<String, byte[]> records) {
		byte[] recorded = records.get(RECORD);
		if (recorded == null) {
			return Map.of();
		}
		byte[] kept = recorded.clone();
		if (layoutOf(recorded).isMoving()) {
			kept[0] = Step.CLOSED.code();
		}
		return Map.of(RECORD, kept);
	}

	private static Layout layoutOf(byte[] recorded) {
		return Layout.parse(new String(recorded, 1, recorded.length - 1, StandardCharsets.UTF_8));
	}

	/** Records a step, and then takes it. */
	Mono<Void> take(Step next) {
		return Mono.defer(() -> {
			byte[] text = this.layout.toText().getBytes(StandardCharsets.UTF_8);
			return this.record.record(RECORD, ByteBuffer.allocate(1 + text.length).put(next.code()).put(text).array());
		}).then(Mono.fromRunnable(() -> this.step = next));
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
	 * The answer: the step (1 byte), the number of the layout (8 bytes), the sizes of
	 * what this node had and of what repairs have brought, and the number of the earliest
	 * change in which it accepts other nodes (8 bytes each).
	 */
	private Answered answer() {
		return new Answered(ByteBuffer.allocate(ANSWER_BYTES)
			.put(this.step.code())
			.putLong(this.isAnnounced ? this.layout.number() : UNTOLD)
			.putLong(this.heldBytes)
			.putLong(this.size.repairedBytes() - this.repairedBefore)
			.putLong(this.earliest)
			.array());
	}

	/**
	 * Reads what another node tells of itself.
	 * @param answer of that node, without sizes in earlier releases
	 * @return without a step if it has another layout
	 * @throws RuntimeException if the bytes are no answer
	 */
	static Report reportOf(Member member, byte[] answer, Layout layout) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		Step step = Step.ofCode(in.get());
		if (in.getLong() != layout.number()) {
			return Report.none(member);
		}
		boolean hasSizes = in.remaining() >= 2 * Long.BYTES;
		return new Report(member, step, hasSizes ? in.getLong() : 0, hasSizes ? in.getLong() : 0);
	}

}
