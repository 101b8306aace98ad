package io.kvorum.coordination;

import java.time.Duration;
import java.util.function.Function;
import java.util.function.IntPredicate;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Newest;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.operation.RequestDigest;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.range.Ranges;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicaSet;
import io.kvorum.storage.CallerThreads;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Coordinates operations on keys, on any node, whether it holds a replica or not.
 * <p>
 * <b>Linearizable</b> operations are the multi-writer register of Attiya, Bar-Noy and
 * Dolev ("Sharing Memory Robustly in Message-Passing Systems", 1995; with several writers
 * Lynch and Shvartsman, 1997). A write asks a majority for their versions, takes one
 * above the newest, and stores to all replicas. It is acknowledged when enough of them
 * have it on disk. A read asks enough replicas. If they do not agree, it first stores the
 * newest entry on enough of them, so that no later read goes back. Each of these steps is
 * needed: the tests in {@code io.kvorum.simulation} leave one out and find histories that
 * are not linearizable.
 * <p>
 * <b>Eventual</b> operations skip the round for versions and the write-back. A write
 * takes a version from this node's clock and waits for as many acknowledgements as asked
 * for. A read waits for as many replies. It repairs in the background, and asks again
 * only if it got the newest version without its entry.
 * <p>
 * A write has one version: a store is never repeated with a new one.
 * <p>
 * <b>Conditional</b> writes run under ballots, which are versions ({@link BallotWrite}).
 * A majority promises to store nothing older of the key. So the compared entry is still
 * the newest when the new one is accepted. Writes and reads without a condition go on as
 * above, and change to ballots only if a promise refuses them.
 * <p>
 * {@link KeyRead} and {@link KeyWrite} are the steps of one operation, {@link Round} asks
 * the replicas.
 */
public final class Coordinator implements KeyValueStore, KeySettling {

	final HybridLogicalClock clock;

	final TimeSource time;

	final CoordinationSettings settings;

	final Hedging hedging;

	final Alarms alarms;

	/** The time that a round may still take once a promise has refused in it. */
	final Mono<Long> patience;

	final Turns<KeyWrite.Written> turns;

	final ReadRepair readRepair;

	final MissedStores missedStores;

	final CallerThreads callers;

	final CoordinationEvents events;

	/** The writes with an idempotency key. */
	final RequestLimit requests;

	private final Ranges ranges;

	private volatile View view;

	/**
	 * Creates the coordinator of a node.
	 * @param view the nodes, until they change
	 * @param missedStores records each replica that did not acknowledge a write
	 */
	public Coordinator(View view, HybridLogicalClock clock, TimeSource time, CoordinationSettings settings,
			ReadRepair readRepair, MissedStores missedStores, Alarms alarms, CallerThreads callers,
			CoordinationEvents events, Ranges ranges) {
		this.view = view;
		this.clock = clock;
		this.time = time;
		this.settings = settings;
		this.alarms = alarms;
		this.patience = Mono.defer(() -> alarms.after(settings.hedgeDelay()));
		this.turns = new Turns<>(callers);
		this.requests = new RequestLimit(time, settings.idempotency());
		this.hedging = new Hedging(alarms, settings.hedgeDelay(), events);
		this.readRepair = readRepair;
		this.missedStores = missedStores;
		this.callers = callers;
		this.events = events;
		this.ranges = ranges;
	}

	/**
	 * Changes the nodes. Operations that have begun go on as they began, for at most the
	 * longer of the two time limits.
	 */
	public void become(View next) {
		this.view = next;
	}

	@Override
	public ReplicationPolicy policy() {
		return this.view.policy();
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return held(key, asked, timeout, observer).mapNotNull(this::visible);
	}

	@Override
	public Mono<Newest> newest(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return held(key, asked, timeout, observer).filter(held -> held.entry() != null)
			.map(held -> new Newest(held.version(), visible(held)));
	}

	private Mono<Held> held(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return Mono.defer(() -> new KeyRead(this, this.view.serving(), key, asked,
				deadline(this.settings.readTimeout(), timeout), observer)
			.run());
	}

	/** The end of an operation that begins now and whose caller may wait for less. */
	private Deadline deadline(Duration limit, @Nullable Duration timeout) {
		return Deadline.after(this.time, (timeout != null && timeout.compareTo(limit) < 0) ? timeout : limit);
	}

	private @Nullable Live visible(Held held) {
		return (held.entry() instanceof Live live && isVisible(live)) ? live : null;
	}

	private boolean isVisible(Live live) {
		return !live.expires() || live.isVisibleAt(this.clock.expiryMillis());
	}

	@Override
	public Mono<Held> settle(Key key, Version least) {
		return Mono.defer(() -> {
			View view = this.view.serving();
			return new KeyRead(this, view, key, view.policy().defaults(), deadline(this.settings.readTimeout(), null))
				.settle(least, least);
		}).onErrorComplete(OperationFailedException.class);
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer) {
		RequestDigest digest = (options.idempotencyKey() != null)
				? RequestDigest.ofPut(key, options, contentType, value, ttl) : null;
		return write(Operation.PUT, key, options,
				version -> new Live(version, options.replicas().copies(),
						expiresAt(version, ttl, options.idempotencyKey() != null), contentType, value),
				digest, observer);
	}

	/**
	 * Returns the expiry. It counts from the version and not from the clock at the time
	 * of the call: another node, with another clock, may send the same write again. Only
	 * a node without peers may give versions that are far ahead of its clock. It may have
	 * peers when a write is repeated.
	 */
	private long expiresAt(Version version, @Nullable Ttl ttl, boolean mayBeRepeated) {
		if (ttl == null) {
			return Live.NEVER;
		}
		boolean byClock = this.view.isAlone() && !mayBeRepeated;
		return ttl.expiresAtMillis(byClock ? this.clock.expiryMillisOf(version) : version.millis());
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options, OperationObserver observer) {
		RequestDigest digest = (options.idempotencyKey() != null) ? RequestDigest.ofDelete(key, options) : null;
		return write(Operation.DELETE, key, options, version -> new Tombstone(version, options.replicas().copies()),
				digest, observer);
	}

	/**
	 * @param digest tells the write from others with its idempotency key; null without
	 * one
	 */
	private Mono<Version> write(Operation operation, Key key, WriteOptions options, Function<Version, Entry> maker,
			@Nullable RequestDigest digest, OperationObserver observer) {
		return Mono.defer(() -> {
			View view = this.view;
			OperationFailedException refused = view.refused();
			if (refused != null) {
				// An earlier request with this idempotency key may have done it: none is
				// looked up.
				return Mono.error((digest != null) ? OperationFailures.unclear(refused) : refused);
			}
			if (!options.condition().isNone()
					&& view.policy().consistencyOf(view.of(options.replicas())) != Consistency.LINEARIZABLE) {
				throw new IllegalArgumentException("a condition needs a linearizable write, not " + options.replicas());
			}
			return new KeyWrite(this, view, operation, key, options.replicas(), options.condition(), maker,
					journal(view, options.idempotencyKey(), digest),
					deadline(this.settings.writeTimeout(), options.timeout()), observer)
				.run();
		});
	}

	private @Nullable RequestJournal journal(View view, @Nullable IdempotencyKey name, @Nullable RequestDigest digest) {
		return (name != null && digest != null) ? new RequestJournal(this, view, name, digest) : null;
	}

	/** The identity of a value that is visible now; null if there is none. */
	@Nullable Version identityNow(@Nullable Entry entry) {
		return (entry instanceof Live live && isVisible(live)) ? live.identity() : null;
	}

	/** The identity of a value that is visible at the instant of a version given here. */
	@Nullable Version identityAt(@Nullable Entry entry, Version given) {
		return (entry instanceof Live live && live.isVisibleAt(this.clock.expiryMillisOf(given))) ? live.identity()
				: null;
	}

	@Override
	public RangeCursor range(RangeQuery query, OperationObserver observer) {
		this.view.serving();
		return this.ranges.open(query, key -> get(key, policy().defaults(), OperationObserver.NONE), observer);
	}

	/**
	 * Refuses a write if this node's own replica has no room for it and exactly its
	 * acknowledgement would be missing.
	 * <p>
	 * If the other replicas suffice, the write is tried: a node with a hanging disk
	 * accepts writes as long as its peers do. If they do not, the refusal is certain only
	 * before they are asked. Once they have stored the entry, a refusal of this node's
	 * replica leaves the outcome unknown.
	 */
	@Override
	public @Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked,
			int valueBytes) {
		View view = this.view;
		OperationFailedException refused = view.refused();
		if (refused != null) {
			return refused;
		}
		Replica own = view.own();
		if (own.hasRoomFor(valueBytes) || !needsOwnReplica(view, key, asked)) {
			return null;
		}
		Failed why = own.refuseStore(valueBytes);
		if (why == null) {
			return null;
		}
		this.events.decided(operation, view.policy().consistencyOf(asked), Outcome.NOT_APPLIED);
		return OperationFailures.notBegun(asked.ack(), view.self(), why);
	}

	/** Whether the acknowledgements suffice with this node's replica, and not without. */
	private static boolean needsOwnReplica(View view, Key key, Replicas asked) {
		ReplicaSet set = view.replicasOf(key, view.of(asked));
		IntPredicate isOwn = position -> set.at(position).member().index() == view.self().index();
		IntPredicate isThere = position -> set.at(position).isThere();
		return set.quorum().isPossibleFor(isOwn.or(isThere))
				&& !set.quorum().isPossibleFor(isOwn.negate().and(isThere));
	}

	/** The writes with an idempotency key that count towards this node's limit. */
	public int rememberedRequests() {
		return this.requests.size();
	}

}
