package io.kvorum.convergence.hints;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.convergence.hints.HintEvents.Cause;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Pace;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/**
 * Hinted handoff: the coordinator keeps a store that a replica did not acknowledge, and
 * repeats it when the replica is there. A hint acknowledges nothing, and its loss costs
 * only time: the slice of a hint that is not kept, or given up, is repaired.
 * <p>
 * A hint is thrown away before it is as old as the tombstones that are collected.
 * Otherwise its target could not tell it from an entry that was deleted. A node hands
 * nothing over while it may not vote: its disk may be a stale one, whose hints are of
 * what others have undone.
 */
public final class HintedHandoff implements MissedStores {

	private static final Logger logger = LoggerFactory.getLogger(HintedHandoff.class);

	/** The most stores that may wait to become hints. */
	private static final int MAX_QUEUED = 8192;

	private static final long MAX_QUEUED_BYTES = 16 << 20;

	private static final int KEPT_AT_ONCE = 256;

	/** The bytes of entries after which a page of hints ends. */
	private static final int PAGE_BYTES = 256 << 10;

	private static final int PAGE_HINTS = 512;

	private static final int REPLAYED_AT_ONCE = 16;

	private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

	private final HintLog log;

	private final HintSettings settings;

	private final InNeed inNeed;

	private final VotingRight votingRight;

	private final TimeSource time;

	private final Alarms alarms;

	private final HintEvents events;

	/** Targets by their number in the log. */
	private final Map<Long, Target> targets = new HashMap<>();

	/** Targets by the index of their member; null for this node. */
	private final Target[] byMember;

	private final Sinks.Many<Missed> queue = Sinks.many()
		.unicast()
		.onBackpressureBuffer(Queues.<Missed>get(MAX_QUEUED).get());

	private final AtomicLong queuedBytes = new AtomicLong();

	/**
	 * The handoff of a node.
	 * @param others the replicas on the other members
	 * @param members the number of members of the topology
	 * @param inNeed takes the slices that have to be repaired for lack of a hint
	 * @param votingRight the right of this node, without which it hands nothing over
	 */
	public HintedHandoff(HintLog log, List<? extends Replica> others, int members, HintSettings settings, InNeed inNeed,
			VotingRight votingRight, TimeSource time, Alarms alarms, HintEvents events) {
		this.log = log;
		this.settings = settings;
		this.inNeed = inNeed;
		this.votingRight = votingRight;
		this.time = time;
		this.alarms = alarms;
		this.events = events;
		this.byMember = new Target[members];
		for (Replica replica : others) {
			Target target = new Target(replica);
			this.targets.put(target.number, target);
			this.byMember[replica.member().index()] = target;
		}
	}

	/**
	 * Whether a replica would refuse a hint for the same key as well, and takes others: a
	 * promise until a repair settles the key, damage for ever.
	 */
	private static boolean isOfTheKey(Reason why) {
		return why == Reason.PROMISED || why == Reason.UNREADABLE;
	}

	/** Notes that a replica may lack something of a slice. */
	@FunctionalInterface
	public interface InNeed {

		void need(Member member, int slice);

	}

	@Override
	public void missed(Member member, Key key, Entry entry, Reason why) {
		Target target = this.byMember[member.index()];
		// The target is null for this node: its disk refused the entry, and would refuse
		// a hint as well. After a refusal by a clock, one repair of the slice copies all
		// that was refused.
		if (target == null || why == Reason.CLOCK || isOfTheKey(why)) {
			need(member, key);
			return;
		}
		long nanos = target.awayNanos(this.time.nanos());
		Waiting waiting = waitingFor(target);
		Missed missed = new Missed(target, key, entry);
		if (nanos > this.settings.window().toNanos()) {
			drop(missed, Cause.WINDOW);
		}
		else if (waiting.bytes() + this.queuedBytes.get() > this.settings.maxBytes()) {
			drop(missed, Cause.SIZE);
		}
		else if (!enqueue(missed)) {
			drop(missed, Cause.OVERLOAD);
		}
	}

	private Waiting waitingFor(Target target) {
		try {
			return this.log.waiting(target.number);
		}
		catch (StorageException _) {
			// The node stops: its last writes must not fail because of a hint.
			return Waiting.NONE;
		}
	}

	private boolean enqueue(Missed missed) {
		if (this.queuedBytes.addAndGet(missed.bytes()) <= MAX_QUEUED_BYTES && emit(missed)) {
			return true;
		}
		this.queuedBytes.addAndGet(-missed.bytes());
		return false;
	}

	private synchronized boolean emit(Missed missed) {
		return this.queue.tryEmitNext(missed).isSuccess();
	}

	private void drop(Missed missed, Cause cause) {
		need(missed.target.member(), missed.key);
		this.events.dropped(missed.target.member(), cause, 1);
	}

	private void need(Member member, Key key) {
		this.inNeed.need(member, Partitions.sliceOf(RendezvousPlacement.partitionOf(key)));
	}

	/**
	 * Keeps hints and hands them over while subscribed to. To be subscribed to only once.
	 */
	public Flux<?> run() {
		return Flux.merge(this.queue.asFlux().flatMap(this::keep, KEPT_AT_ONCE, 1), replays());
	}

	private Mono<Boolean> keep(Missed missed) {
		return this.log.add(missed.target.number, missed.key, missed.entry)
			.doOnNext(_ -> this.events.kept(missed.target.member()))
			.onErrorResume(error -> {
				if (!(error instanceof StorageException)) {
					logger.error("A hint met an unexpected error", error);
				}
				drop(missed, Cause.OVERLOAD);
				return Mono.empty();
			})
			.doFinally(_ -> this.queuedBytes.addAndGet(-missed.bytes()));
	}

	private Flux<?> replays() {
		return Mono.defer(this::removeHintsOfFormerMembers)
			.thenMany(
					Flux.fromIterable(this.targets.values()).flatMap(this::replays, Math.max(1, this.targets.size())));
	}

	/**
	 * Replays the hints for a node at an interval. Each node has its own loop, so that a
	 * slow one holds up no other.
	 */
	private Flux<?> replays(Target target) {
		return Mono.defer(() -> replay(target))
			.then(Mono.defer(() -> this.alarms.after(this.settings.replayInterval())))
			.repeat();
	}

	private Mono<Void> replay(Target target) {
		target.look();
		return (mayReplay() && waitingFor(target).hints() > 0) ? new Replay(target).run() : Mono.empty();
	}

	private boolean mayReplay() {
		return this.votingRight.withheldBecause() == null;
	}

	/**
	 * Gives up all hints, because this disk is a stale one. All is compared with the
	 * other nodes instead.
	 */
	public Mono<Void> giveUpAll() {
		return Flux.fromIterable(this.targets.values())
			.filter(target -> waitingFor(target).hints() > 0)
			.doOnNext(target -> logger.info("{} hints for {} are given up, since this disk is a stale one",
					waitingFor(target).hints(), target.member().address()))
			.concatMap(target -> giveUp(target, Cause.STALE_DISK), 1)
			.then();
	}

	/** Removes all hints for a node. All is compared with it instead. */
	private Mono<Void> giveUp(Target target, Cause cause) {
		long hints = waitingFor(target).hints();
		IntStream.range(0, Partitions.SLICES).forEach(slice -> this.inNeed.need(target.member(), slice));
		return this.log.removeAll(target.number).doOnSuccess(_ -> this.events.dropped(target.member(), cause, hints));
	}

	/** Removes the hints for nodes that have left the cluster. */
	private Mono<Void> removeHintsOfFormerMembers() {
		return Flux.defer(() -> Flux.fromIterable(this.log.targets()))
			.filter(number -> !this.targets.containsKey(number))
			.doOnNext(number -> logger.info("{} hints are for a node that has left the cluster, and are removed",
					this.log.waiting(number).hints()))
			.concatMap(this.log::removeAll, 1)
			.onErrorResume(StorageException.class, _ -> Mono.empty())
			.then();
	}

	/** The hints that wait for a member. From any thread. */
	public Waiting waiting(Member member) {
		Target target = this.byMember[member.index()];
		return (target != null) ? this.log.waiting(target.number) : Waiting.NONE;
	}

	/**
	 * An instant that no version of the hints here is older than, in milliseconds since
	 * 1970; {@link Long#MAX_VALUE} without hints.
	 */
	public long oldestMillis() {
		long oldest = Long.MAX_VALUE;
		for (Target target : this.targets.values()) {
			oldest = Math.min(oldest, this.log.waiting(target.number).oldestMillis());
		}
		return oldest;
	}

	private record Missed(Target target, Key key, Entry entry) {

		int bytes() {
			return this.key.bytes().length + bytesOf(this.entry);
		}

	}

	private static int bytesOf(Entry entry) {
		return (entry instanceof Live live) ? live.value().length() : 0;
	}

	/** A node for which hints are kept. */
	private final class Target {

		private static final long THERE = Long.MIN_VALUE;

		private final long number;

		private final Replica replica;

		private final Pace pace;

		/** The keys of the hints that were not stored in time in the last replay. */
		private Set<Key> slow = new HashSet<>();

		/** Why the last replay ended early; null if it did not. */
		private @Nullable Reason refusal;

		/** The failure that was logged last; empty once a replay has succeeded. */
		private String failure = "";

		/** The instant at which it was first seen to be away in this absence. */
		private volatile long awayNanos = THERE;

		Target(Replica replica) {
			this.number = replica.member().id();
			this.replica = replica;
			this.pace = new Pace(HintedHandoff.this.settings.bytesPerSecond(), HintedHandoff.this.time,
					HintedHandoff.this.alarms);
		}

		Member member() {
			return this.replica.member();
		}

		/**
		 * Looks whether it is there, which ends an absence. Called at the interval of
		 * replays too: without that, two absences with no missed store between them would
		 * be one.
		 */
		boolean look() {
			boolean isThere = this.replica.isThere();
			if (isThere) {
				this.awayNanos = THERE;
			}
			return isThere;
		}

		/** Logs a refusal, once for each change of the reason. */
		void refused(Failed failed) {
			if (this.refusal != failed.reason()) {
				logger.atWarn()
					.addKeyValue("peer", member().address())
					.addKeyValue("reason", failed.reason().text())
					.log("Hints for {} could not be handed over, the next round tries again: {}", member().address(),
							failed.detail());
			}
			this.refusal = failed.reason();
		}

		/** Logs a failure of this node, once for each change of the failure. */
		void failed(Throwable error) {
			if (error.toString().equals(this.failure)) {
				return;
			}
			this.failure = error.toString();
			String address = member().address();
			if (error instanceof StorageException) {
				logger.atWarn()
					.addKeyValue("peer", address)
					.addKeyValue("reason", "storage")
					.log("Hints for {} could not be handed over, the next round tries again: {}", address,
							error.getMessage());
			}
			else {
				logger.atError()
					.addKeyValue("peer", address)
					.setCause(error)
					.log("The replay of hints for {} met an unexpected error, the next round tries again", address);
			}
		}

		/** The time since it was first seen to be away; 0 if it is there. */
		long awayNanos(long now) {
			if (look()) {
				return 0;
			}
			long since = this.awayNanos;
			if (since == THERE) {
				this.awayNanos = now;
				return 0;
			}
			return now - since;
		}

	}

	/** A replay of the hints for a node, up to the first failure. */
	private final class Replay {

		private final Target target;

		/** The keys of the hints that were not stored in time in the replay before. */
		private final Set<Key> slowBefore;

		private boolean acknowledged;

		private boolean ended;

		Replay(Target target) {
			this.target = target;
			this.slowBefore = target.slow;
			target.slow = new HashSet<>();
		}

		Mono<Void> run() {
			return Mono.defer(this::page)
				.repeat(() -> !this.ended)
				.then()
				.onErrorResume(StorageException.Unreadable.class, this::giveUp)
				.doOnSuccess(_ -> this.target.failure = "")
				.onErrorResume(error -> {
					this.target.failed(error);
					return Mono.empty();
				});
		}

		private Mono<Void> giveUp(StorageException.Unreadable ex) {
			String address = this.target.member().address();
			logger.atWarn()
				.addKeyValue("peer", address)
				.addKeyValue("reason", "unreadable")
				.log("{} hints for {} cannot be read and are given up, all is compared with it instead: {}",
						waitingFor(this.target).hints(), address, ex.getMessage());
			return HintedHandoff.this.giveUp(this.target, Cause.UNREADABLE);
		}

		private Mono<Void> page() {
			return HintedHandoff.this.log
				.oldest(this.target.number, PAGE_BYTES, PAGE_HINTS,
						Deadline.after(HintedHandoff.this.time, READ_TIMEOUT))
				.flatMap(hints -> {
					if (hints.isEmpty()) {
						this.target.refusal = null;
						this.ended = true;
					}
					return Flux.fromIterable(hints).flatMap(this::settle, REPLAYED_AT_ONCE).then();
				});
		}

		private Mono<Void> settle(Hint hint) {
			long age = HintedHandoff.this.time.millis() - hint.entry().version().millis();
			if (age > HintedHandoff.this.settings.window().toMillis()) {
				drop(new Missed(this.target, hint.key(), hint.entry()), Cause.WINDOW);
				return HintedHandoff.this.log.remove(hint);
			}
			// Too old hints are thrown away even if the node is away.
			return (this.ended || !mayReplay() || !this.target.look()) ? end() : handOver(hint);
		}

		private Mono<Void> end() {
			this.ended = true;
			return Mono.empty();
		}

		private Mono<Void> handOver(Hint hint) {
			int bytes = hint.key().bytes().length + bytesOf(hint.entry());
			Deadline deadline = Deadline.ofTransfer(HintedHandoff.this.time, HintedHandoff.this.settings.storeTimeout(),
					bytes);
			return this.target.replica.store(hint.key(), hint.entry(), Purpose.REPAIR, deadline).flatMap(reply -> {
				if (reply instanceof Failed failed) {
					return refused(hint, failed);
				}
				if (!(reply instanceof Acknowledged)) {
					return end();
				}
				this.acknowledged = true;
				HintedHandoff.this.events.replayed(this.target.member(), bytes);
				return HintedHandoff.this.log.remove(hint).then(this.target.pace.afterBytes(bytes));
			});
		}

		/** Ends the replay, unless it is this hint alone that the node does not take. */
		private Mono<Void> refused(Hint hint, Failed failed) {
			boolean isSlow = failed.reason() == Reason.TIMEOUT;
			if (isOfTheKey(failed.reason()) || (isSlow && this.acknowledged && this.slowBefore.contains(hint.key()))) {
				need(this.target.member(), hint.key());
				return HintedHandoff.this.log.remove(hint);
			}
			if (isSlow) {
				this.target.slow.add(hint.key());
			}
			if (!this.ended && this.target.look()) {
				this.target.refused(failed);
			}
			return end();
		}

	}

}
