package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Replica;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Ends the time in which this node works with nodes that are still in a change before its
 * layout, and finds out when all other members have ended theirs.
 * <p>
 * Operations of such a node also ask nodes that were removed. These may have been cut off
 * for long, and hold what was deleted meanwhile. So no tombstone is collected before all
 * members refuse them, and have been repaired since.
 * <p>
 * Works on one thread.
 */
public final class EarlierChanges {

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final ChangeState state;

	private final List<? extends Replica> others;

	private final Duration patience;

	private final Duration longest;

	private final Effects effects;

	private final TimeSource time;

	private boolean isTold;

	private long toldNanos;

	private long dueNanos;

	/** Whether all members refuse them. */
	private boolean allRefuse;

	private long allRefuseNanos;

	/** What is done about nodes in an earlier change. */
	public interface Effects {

		/** They are refused from now on: ends their streams. */
		void refused();

		/** No member works with them any more. */
		void over();

	}

	/**
	 * Watches nodes that are still in a change before a layout.
	 * @param others the replicas on the other members
	 * @param patience the time that others have to take the layout, from when this node
	 * has told them of it
	 * @param longest the longest time limit of an operation
	 */
	public EarlierChanges(ChangeState state, List<? extends Replica> others, Duration patience, Duration longest,
			Effects effects, TimeSource time) {
		this.state = state;
		this.others = List.copyOf(others);
		this.patience = patience;
		this.longest = longest;
		this.effects = effects;
		this.time = time;
		this.dueNanos = time.nanos();
	}

	/** Others have been told of the layout. */
	public void told() {
		this.isTold = true;
		this.toldNanos = this.time.nanos();
	}

	/** Does what is due. To be called again and again. */
	public Mono<Void> round() {
		long now = this.time.nanos();
		if (this.isTold && this.state.acceptsEarlier() && now - this.toldNanos >= this.patience.toNanos()) {
			this.state.refuseEarlier();
			this.effects.refused();
		}
		if (this.state.acceptsEarlier() || this.state.isEarlierOver()) {
			return Mono.empty();
		}
		if (this.allRefuse) {
			// What was accepted before they refused it may be under way.
			if (now - this.allRefuseNanos >= this.longest.toNanos()) {
				this.effects.over();
				this.state.earlierIsOver();
			}
			return Mono.empty();
		}
		if (now - this.dueNanos < 0) {
			return Mono.empty();
		}
		this.dueNanos = now + INTERVAL.toNanos();
		return Flux.fromIterable(this.others)
			.flatMap(this::refuses, Math.max(1, this.others.size()))
			.filter(Boolean::booleanValue)
			.count()
			.filter(refusing -> refusing == this.others.size())
			.doOnNext(_ -> {
				this.allRefuse = true;
				this.allRefuseNanos = this.time.nanos();
			})
			.then();
	}

	private Mono<Boolean> refuses(Replica other) {
		return other.ask(ChangeState.query(), Deadline.after(this.time, TIMEOUT))
			.ofType(Answered.class)
			.map(answered -> this.state.isRefusedBy(answered.bytes()));
	}

}
