package io.kvorum.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.ClockLeadException;
import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.OperationEvents.Step;
import io.kvorum.replication.ReplicationEvents.Operation;
import io.kvorum.replication.ReplicationEvents.Outcome;
import io.kvorum.replication.ReplicationPolicy.Consistency;
import io.kvorum.replication.Round.StoreWitness;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Carries out operations on keys, on any node, whether it holds a replica or not.
 * <p>
 * <b>Linearizable</b> operations are the multi-writer register of Attiya, Bar-Noy and
 * Dolev ("Sharing Memory Robustly in Message-Passing Systems", 1995; with several writers
 * Lynch and Shvartsman, 1997). A write asks a majority for the version they hold, takes
 * one above the newest, and stores to all replicas; enough of them have it on disk before
 * it is acknowledged. A read asks enough replicas; where they do not agree it first
 * brings the newest to enough of them, so that no later read goes back. Each of these
 * steps has been left out, and histories were found that are not linearizable: see
 * {@code io.kvorum.simulation} among the tests.
 * <p>
 * <b>Eventual</b> operations are one round: a version from this node's clock, as many
 * acknowledgements as asked for, and repair in the background.
 * <p>
 * One write has one version, given once: a store is never repeated with a new one.
 * <p>
 * Errors are {@link OperationFailedException}s. Cancelling a write does not stop it.
 */
public final class Coordinator {

	private final Placement placement;

	private final Member self;

	/** By the index of their member. */
	private final Replica[] replicas;

	private final HybridLogicalClock clock;

	private final TimeSource time;

	private final ReplicationPolicy policy;

	private final ReplicationSettings settings;

	private final Hedging hedging;

	private final ReadRepair readRepair;

	private final MissedStores missedStores;

	private final CallerThreads callers;

	private final ReplicationEvents events;

	/**
	 * The coordinator of a node.
	 * @param replicas on all members, this one among them, by their index
	 * @param missedStores told of each replica that did not acknowledge a write
	 */
	public Coordinator(Placement placement, Member self, List<? extends Replica> replicas, HybridLogicalClock clock,
			TimeSource time, ReplicationPolicy policy, ReplicationSettings settings, ReadRepair readRepair,
			MissedStores missedStores, Alarms alarms, CallerThreads callers, ReplicationEvents events) {
		this.placement = placement;
		this.self = self;
		this.replicas = replicas.toArray(Replica[]::new);
		this.clock = clock;
		this.time = time;
		this.policy = policy;
		this.settings = settings;
		this.hedging = new Hedging(alarms, settings.hedgeDelay(), events);
		this.readRepair = readRepair;
		this.missedStores = missedStores;
		this.callers = callers;
		this.events = events;
	}

	public ReplicationPolicy policy() {
		return this.policy;
	}

	/**
	 * The value of a key; empty where it has none, has been deleted, or has expired.
	 * @param asked how many replicas must have answered, of how many
	 */
	public Mono<Live> get(Key key, Replicas asked) {
		return get(key, asked, OperationEvents.NONE);
	}

	/**
	 * The same, of an operation that somebody follows.
	 * @param follower told how it goes
	 */
	public Mono<Live> get(Key key, Replicas asked, OperationEvents follower) {
		return Mono.defer(() -> new Read(key, asked, follower).run().mapNotNull(this::visible));
	}

	private @Nullable Live visible(Held held) {
		return (held.entry() instanceof Live live && isVisible(live)) ? live : null;
	}

	private boolean isVisible(Live live) {
		return !live.expires() || live.isVisibleAt(this.clock.expiryMillis());
	}

	/**
	 * Stores a value, in the place of any other.
	 * @param asked how many copies to keep, and how many of them to wait for
	 * @param ttl how long it lives from the instant of its version on; null for ever
	 * @return the version it got
	 */
	public Mono<Version> put(Key key, Replicas asked, String contentType, Value value, @Nullable Ttl ttl) {
		return put(key, asked, contentType, value, ttl, OperationEvents.NONE);
	}

	/**
	 * The same, of an operation that somebody follows.
	 * @param follower told how it goes
	 */
	public Mono<Version> put(Key key, Replicas asked, String contentType, Value value, @Nullable Ttl ttl,
			OperationEvents follower) {
		return write(Operation.PUT, key, asked,
				version -> new Live(version, asked.copies(), expiresAt(version, ttl), contentType, value), follower);
	}

	/** Counted from the version, which all replicas compare, and not from a clock. */
	private long expiresAt(Version version, @Nullable Ttl ttl) {
		return (ttl != null) ? ttl.expiresAtMillis(this.clock.expiryMillisOf(version)) : Live.NEVER;
	}

	/**
	 * Refuses a write that is about to begin, where that depends on this node's own
	 * replica, which has no room. Ask before the value is read; null where the write is
	 * to be tried, which may fail all the same.
	 * <p>
	 * Where enough others are there the write is tried, whatever this node's replica
	 * says: a node whose disk hangs takes writes as long as its peers do. Where the
	 * others do not suffice, only to refuse before they are asked is to refuse: by the
	 * time that this node's replica had said no they would have stored the entry, and the
	 * outcome would be unknown.
	 * @param valueBytes how long its value will be
	 */
	public @Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked,
			int valueBytes) {
		Replica own = this.replicas[this.self.index()];
		if (own.hasRoomFor(valueBytes) || !isUpToSelf(key, asked)) {
			return null;
		}
		Failed why = own.refuseStore(valueBytes);
		if (why == null) {
			return null;
		}
		this.events.decided(operation, this.policy.consistencyOf(asked), Outcome.NOT_APPLIED);
		return OperationFailedException.notBegun(asked.ack(), this.self, why);
	}

	/** Whether the acknowledgements suffice with this node's, and not without it. */
	private boolean isUpToSelf(Key key, Replicas asked) {
		boolean isOwn = false;
		int others = 0;
		for (Member member : this.placement.replicasOf(key, asked.from())) {
			if (member.index() == this.self.index()) {
				isOwn = true;
			}
			else if (this.replicas[member.index()].isThere()) {
				others++;
			}
		}
		return isOwn && others == asked.ack() - 1;
	}

	/** Removes the value of a key, if it has one; returns the version of the removal. */
	public Mono<Version> delete(Key key, Replicas asked) {
		return delete(key, asked, OperationEvents.NONE);
	}

	/**
	 * The same, of an operation that somebody follows.
	 * @param follower told how it goes
	 */
	public Mono<Version> delete(Key key, Replicas asked, OperationEvents follower) {
		return write(Operation.DELETE, key, asked, version -> new Tombstone(version, asked.copies()), follower);
	}

	private Mono<Version> write(Operation operation, Key key, Replicas asked, Function<Version, Entry> maker,
			OperationEvents follower) {
		return Mono.defer(() -> new Write(operation, key, asked, maker, follower).run());
	}

	private Mono<Tally> reads(Step step, ReplicaSet set, int required, IntFunction<Mono<Reply>> ask,
			OperationEvents follower) {
		if (!follower.isFollowing()) {
			return Round.ofReads(set, required, ask, this.hedging);
		}
		FollowedRound followed = new FollowedRound(step, set, required, ask, follower, this.time);
		return followed.timed(Round.ofReads(set, required, followed, this.hedging));
	}

	private Mono<Tally> stores(Step step, ReplicaSet set, Tally start, IntFunction<Mono<Reply>> ask,
			@Nullable StoreWitness witness, OperationEvents follower) {
		if (!follower.isFollowing()) {
			return Round.ofStores(set, start, ask, witness);
		}
		FollowedRound followed = new FollowedRound(step, set, set.size(), ask, follower, this.time);
		return followed.timed(Round.ofStores(set, start, followed, witness));
	}

	/** Whether this is the only node. */
	private boolean isAlone() {
		return this.replicas.length == 1;
	}

	private ReplicaSet setOf(Key key, Replicas asked) {
		return ReplicaSet.of(this.placement.replicasOf(key, asked.from()), this.replicas);
	}

	/** The tally if it has been reached, else the failure that it means. */
	private static Tally reached(Tally tally, ReplicaSet set,
			BiFunction<ReplicaSet, Tally, OperationFailedException> failure) {
		if (tally.decision() == Decision.UNREACHABLE) {
			throw failure.apply(set, tally);
		}
		return tally;
	}

	/** A read under way. */
	private final class Read {

		private final Key key;

		private final Replicas asked;

		private final ReplicaSet set;

		private final Consistency consistency;

		private final Deadline deadline;

		private final OperationEvents follower;

		Read(Key key, Replicas asked, OperationEvents follower) {
			this.key = key;
			this.asked = asked;
			this.follower = follower;
			this.set = setOf(key, asked);
			this.consistency = Coordinator.this.policy.consistencyOf(asked);
			this.deadline = Deadline.after(Coordinator.this.time, Coordinator.this.settings.readTimeout());
			follower.began(asked, this.consistency);
		}

		/** What the key holds, to be told to the client. */
		Mono<Held> run() {
			return ask(this::readOrVersion).flatMap(this::withEntry).doOnError(_ -> tell(Outcome.NOT_APPLIED));
		}

		private Mono<Tally> ask(IntFunction<Mono<Reply>> how) {
			long started = Coordinator.this.time.nanos();
			return reads(Step.READ, this.set, this.asked.ack(), how, this.follower).map(tally -> {
				reached(tally, this.set, OperationFailedException::ofReads);
				Coordinator.this.hedging.took(Coordinator.this.time.nanos() - started);
				return tally;
			});
		}

		/**
		 * The value of one replica and the versions of the others, which usually are the
		 * same: a value crosses the network once or not at all.
		 */
		private Mono<Reply> readOrVersion(int position) {
			return (position == 0) ? read(position) : this.set.at(position).readVersion(this.key, this.deadline);
		}

		private Mono<Reply> read(int position) {
			return this.set.at(position).read(this.key, this.deadline);
		}

		/** Where only the version of the newest is known all are asked again, for all. */
		private Mono<Held> withEntry(Tally tally) {
			return tally.newest().lacksEntry() ? ask(this::read).flatMap(this::complete) : complete(tally);
		}

		private Mono<Held> complete(Tally tally) {
			Held newest = tally.newest();
			Entry entry = newest.entry();
			if (entry == null || tally.isHeldByEnough(newest.version())) {
				return answer(newest);
			}
			if (this.consistency == Consistency.EVENTUAL) {
				repair(tally, entry);
				return answer(newest);
			}
			// One that was written with fewer copies is not given more.
			int copies = Coordinator.this.policy.copiesOf(entry);
			Tally holding = tally.acknowledging(entry.version(), Math.min(tally.required(), copies),
					position -> this.set.isCopy(position, copies));
			return holding.isDecided() ? answer(newest)
					: writeBack(holding, entry).then(Mono.defer(() -> answer(newest)));
		}

		private void repair(Tally tally, Entry entry) {
			int copies = Coordinator.this.policy.copiesOf(entry);
			for (int position : tally.behind(entry.version())) {
				if (this.set.isCopy(position, copies)) {
					Coordinator.this.readRepair.submit(this.set.at(position), this.key, entry);
				}
			}
		}

		private Mono<Tally> writeBack(Tally holding, Entry entry) {
			Coordinator.this.events.wroteBack();
			// Its own write has seen to those that miss it.
			return stores(Step.WRITE_BACK, this.set, holding,
					position -> this.set.at(position).store(this.key, entry, true, this.deadline), null, this.follower)
				.map(written -> reached(written, this.set, OperationFailedException::ofWriteBack));
		}

		private Mono<Held> answer(Held held) {
			tell(Outcome.REACHED);
			return Mono.just(held);
		}

		private void tell(Outcome outcome) {
			Coordinator.this.events.decided(Operation.GET, this.consistency, outcome);
			this.follower.decided(outcome);
		}

	}

	/** A write under way. */
	private final class Write {

		private final Operation operation;

		private final Key key;

		private final Replicas asked;

		private final Function<Version, Entry> maker;

		private final ReplicaSet set;

		private final Consistency consistency;

		private final Deadline deadline;

		private final OperationEvents follower;

		Write(Operation operation, Key key, Replicas asked, Function<Version, Entry> maker, OperationEvents follower) {
			this.operation = operation;
			this.follower = follower;
			this.key = key;
			this.asked = asked;
			this.maker = maker;
			this.set = setOf(key, asked);
			this.consistency = Coordinator.this.policy.consistencyOf(asked);
			this.deadline = Deadline.after(Coordinator.this.time, Coordinator.this.settings.writeTimeout());
			follower.began(asked, this.consistency);
		}

		Mono<Version> run() {
			return version().flatMap(this::store)
				.doOnError(OperationFailedException.class,
						ex -> tell(ex.mayHaveHappened() ? Outcome.UNKNOWN : Outcome.NOT_APPLIED));
		}

		private Mono<Version> version() {
			// Alone, this node has given all versions there are.
			return (isAlone() || this.consistency == Consistency.EVENTUAL) ? next(Version.ABSENT)
					: newestVersion().flatMap(this::next);
		}

		private Mono<Version> newestVersion() {
			int majority = Replicas.majorityOf(this.set.size()).ack();
			return reads(Step.VERSIONS, this.set, majority,
					position -> this.set.at(position).readVersion(this.key, this.deadline), this.follower)
				.map(tally -> reached(tally, this.set, OperationFailedException::ofReads).newest().version());
		}

		private Mono<Version> next(Version seen) {
			try {
				return Mono.just(nextOrThrow(seen));
			}
			catch (ClockLeadException ex) {
				return Mono.error(notBegun(ex));
			}
			catch (ClockBoundException _) {
				return Mono.fromCompletionStage(Coordinator.this.clock::extension)
					// Completed by whoever asked first, and answered by who asks now.
					.publishOn(Schedulers.fromExecutor(Coordinator.this.callers.current()))
					.then(Mono.fromSupplier(() -> nextOrThrow(seen)))
					.onErrorMap(this::notBegun);
			}
		}

		/** Alone nobody refuses a version, however far ahead of the clock. */
		private Version nextOrThrow(Version seen) {
			HybridLogicalClock clock = Coordinator.this.clock;
			return isAlone() ? clock.next() : clock.nextAfter(seen);
		}

		private OperationFailedException notBegun(Throwable cause) {
			Failed why = (cause instanceof StorageException ex) ? LocalReplica.failure(ex)
					: Failed.notDone(Reason.CLOCK, String.valueOf(cause.getMessage()));
			return OperationFailedException.notBegun(this.asked.ack(), Coordinator.this.self, why);
		}

		private Mono<Version> store(Version version) {
			if (this.set.present() < this.asked.ack()) {
				return Mono.error(OperationFailedException.ofAbsentees(this.set, this.asked.ack()));
			}
			Entry entry = this.maker.apply(version);
			StoreWitness missed = isAlone() ? null
					: new Missed(this.set, this.key, entry, Coordinator.this.missedStores);
			return stores(Step.STORE, this.set, Tally.awaiting(this.asked.ack(), this.set.size()),
					position -> this.set.at(position).store(this.key, entry, false, this.deadline), missed,
					this.follower)
				.map(tally -> {
					reached(tally, this.set, OperationFailedException::ofStores);
					tell(Outcome.REACHED);
					return version;
				});
		}

		private void tell(Outcome outcome) {
			Coordinator.this.events.decided(this.operation, this.consistency, outcome);
			this.follower.decided(outcome);
		}

	}

	/**
	 * The replicas that failed in a round of stores. Nothing is told before it is known
	 * that the write may happen: one that did not happen must not happen later.
	 * <p>
	 * A refusal by a clock is told as well. The entry is on another replica, and without
	 * that all would take each other for equal.
	 */
	private static final class Missed implements StoreWitness {

		private final ReplicaSet set;

		private final Key key;

		private final Entry entry;

		private final MissedStores missedStores;

		private final List<Runnable> before = new ArrayList<>(0);

		private boolean isDecided;

		private boolean mayHappen;

		Missed(ReplicaSet set, Key key, Entry entry, MissedStores missedStores) {
			this.set = set;
			this.key = key;
			this.entry = entry;
			this.missedStores = missedStores;
		}

		@Override
		public void failed(int position, Failed why) {
			if (!this.isDecided) {
				this.before.add(() -> tell(position, why));
			}
			else if (this.mayHappen) {
				tell(position, why);
			}
		}

		@Override
		public void decided(Tally tally) {
			this.isDecided = true;
			this.mayHappen = tally.decision() == Decision.REACHED
					|| OperationFailedException.ofStores(this.set, tally).mayHaveHappened();
			if (this.mayHappen) {
				this.before.forEach(Runnable::run);
			}
		}

		private void tell(int position, Failed why) {
			this.missedStores.missed(this.set.at(position).member(), this.key, this.entry, why.reason());
		}

	}

}
