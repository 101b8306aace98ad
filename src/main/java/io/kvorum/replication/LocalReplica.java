package io.kvorum.replication;

import java.util.function.Predicate;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StorageException.WriteTimedOut;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The replica of this node: its storage, called by this node's coordinator or by a
 * peer's.
 */
public final class LocalReplica implements Replica {

	private static final Mono<Reply> TOO_LATE = Mono
		.just(Failed.notDone(Reason.TIMEOUT, "the deadline had passed before the operation began"));

	/**
	 * Refuses an entry that would be gone at once, which no client takes for a success.
	 * This node cannot tell a slow store from clocks that differ.
	 */
	private static final Mono<Reply> EXPIRED = Mono.just(Failed.notDone(Reason.TIMEOUT,
			"the entry expired before it was stored: that took longer than its ttl, or the clocks of the nodes differ by as much; give it a longer ttl"));

	private static final long LAST = AWAY - 1;

	private final Member member;

	private final StorageEngine storage;

	private final HybridLogicalClock clock;

	private final TimeSource time;

	private final VotingRight votingRight;

	private final PeerQueries queries;

	private final Predicate<Version> isCollected;

	/** Whether there is no other replica. */
	private final boolean isAlone;

	/**
	 * Creates the replica of a node with peers.
	 * @param votingRight while it is withheld, the replica stores and refuses reads
	 * @param queries answers the other queries of peers
	 * @param isCollected selects the versions of tombstones that this node has collected,
	 * which it need not take back
	 */
	public LocalReplica(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			VotingRight votingRight, PeerQueries queries, Predicate<Version> isCollected) {
		this(member, storage, clock, time, votingRight, queries, isCollected, false);
	}

	/**
	 * Creates the replica of a node that may have peers.
	 * @param isAlone whether it has none in its layout, so that its writes compare no
	 * versions before
	 */
	public LocalReplica(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			VotingRight votingRight, PeerQueries queries, Predicate<Version> isCollected, boolean isAlone) {
		this.member = member;
		this.storage = storage;
		this.clock = clock;
		this.time = time;
		this.votingRight = votingRight;
		this.queries = queries;
		this.isCollected = isCollected;
		this.isAlone = isAlone;
	}

	/** Creates the replica of a node without peers. */
	public static LocalReplica alone(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time) {
		return new LocalReplica(member, storage, clock, time, VotingRight.TRUSTED, PeerQueries.NONE, _ -> false, true);
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		Mono<Reply> refused = refuseVote(deadline);
		return (refused != null) ? refused
				: this.storage.read(key, deadline)
					.<Reply>map(Held::of)
					.defaultIfEmpty(Held.nothing())
					.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	/** Refuses a call that this replica may not answer; null if it may. */
	private @Nullable Mono<Reply> refuseVote(Deadline deadline) {
		if (deadline.isPast(this.time)) {
			return TOO_LATE;
		}
		String why = this.votingRight.withheldBecause();
		return (why != null) ? Mono.just(Failed.notDone(Reason.REBUILDING, why)) : null;
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return read(key, deadline).map(reply -> (reply instanceof Held held) ? new Held(held.version(), null) : reply);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		if (deadline.isPast(this.time)) {
			return TOO_LATE;
		}
		if (purpose.isRepair() && entry instanceof Tombstone && this.isCollected.test(entry.version())) {
			this.clock.observe(entry.version());
			return storeCollected(key, entry, deadline);
		}
		if (purpose == Purpose.REPAIR) {
			this.clock.observe(entry.version());
			return reply(this.storage.repair(key, entry, deadline), key, entry, deadline);
		}
		Version floor = this.votingRight.floor();
		if (floor.isNewerThan(entry.version())) {
			return Mono.just(new Refusal(floor, Version.ABSENT).toFailed());
		}
		if (purpose == Purpose.WRITE_BACK) {
			this.clock.observe(entry.version());
			return reply(this.storage.store(key, entry, deadline), key, entry, deadline);
		}
		if (hasExpired(entry)) {
			return EXPIRED;
		}
		return unlessTooFarAhead(key, entry.version(), deadline,
				() -> reply(this.storage.store(key, entry, deadline), key, entry, deadline));
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		Mono<Reply> refused = refuseVote(deadline);
		return (refused != null) ? refused
				: unlessTooFarAhead(key, ballot, deadline, () -> promise(key, ballot, deadline));
	}

	private Mono<Reply> promise(Key key, Version ballot, Deadline deadline) {
		return this.storage.prepare(key, ballot, deadline)
			.flatMap(outcome -> outcome.isRefused() ? Mono.just(refused(outcome))
					: read(key, deadline).map(held -> unlessNewer(held, ballot)))
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	/**
	 * Refuses a ballot if a newer entry was stored between the promise and the read. Its
	 * proposer would take it for something that comes before the ballot.
	 */
	private static Reply unlessNewer(Reply reply, Version ballot) {
		return (reply instanceof Held held && held.version().isNewerThan(ballot))
				? new Refusal(ballot, held.version()).toFailed() : reply;
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		Mono<Reply> refused = refuseVote(deadline);
		if (refused != null) {
			return refused;
		}
		Lineage lineage = entry.lineage();
		if (hasExpired(entry) && (lineage == null || !lineage.isProposedAgain())) {
			// Above a ballot of this instant a proposer sees that its clock is behind.
			Version now = new Version(this.clock.expiryMillis() << Version.COUNTER_BITS, 0);
			return Mono.just(new Refusal(now, Version.ABSENT).toFailed());
		}
		return unlessTooFarAhead(key, entry.version(), deadline,
				() -> reply(this.storage.accept(key, entry, base, deadline), key, entry, deadline));
	}

	private boolean hasExpired(Entry entry) {
		return entry instanceof Live live && live.expires() && !live.isVisibleAt(this.clock.expiryMillis());
	}

	/** Refuses a version that is too far ahead of both the clock and the stored one. */
	private Mono<Reply> unlessTooFarAhead(Key key, Version version, Deadline deadline, Supplier<Mono<Reply>> call) {
		if (!this.clock.isTooFarAhead(version)) {
			this.clock.observe(version);
			return call.get();
		}
		return this.storage.read(key, deadline)
			.map(Entry::version)
			.defaultIfEmpty(Version.ABSENT)
			.flatMap(stored -> isTooFarAhead(version, stored) ? Mono.just(tooFarAhead(version)) : call.get())
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	/**
	 * Acknowledges a tombstone that this replica has collected, as if it had stored and
	 * collected it once more. Stores it if there is something older. The tombstone itself
	 * may still be there, about to be removed.
	 */
	private Mono<Reply> storeCollected(Key key, Entry entry, Deadline deadline) {
		return this.storage.read(key, deadline)
			.filter(held -> entry.version().isNewerThan(held.version()))
			.flatMap(_ -> reply(this.storage.store(key, entry, deadline), key, entry, deadline))
			.defaultIfEmpty(Acknowledged.INSTANCE)
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	private Mono<Reply> reply(Mono<StoreOutcome> stored, Key key, Entry entry, Deadline deadline) {
		Mono<Reply> reply = this.isAlone
				? stored.flatMap(outcome -> (outcome.verdict() == Verdict.HELD && entry.lineage() == null)
						? superseded(key, entry, deadline) : Mono.just(replyOf(outcome)))
				: stored.map(LocalReplica::replyOf);
		return reply.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	private static Reply replyOf(StoreOutcome outcome) {
		return outcome.isRefused() ? refused(outcome) : Acknowledged.INSTANCE;
	}

	private static Reply refused(StoreOutcome outcome) {
		return new Refusal(outcome.state().promise(), outcome.state().held()).toFailed();
	}

	/**
	 * Replies to a store that met a newer entry on a node without peers, since no round
	 * has compared versions.
	 * <p>
	 * If the newer entry is of this node, two of its writes have overtaken each other and
	 * this one is overwritten. If it is of another node, it lies ahead of this node's
	 * clock, and no read would see the write.
	 */
	private Mono<Reply> superseded(Key key, Entry entry, Deadline deadline) {
		return this.storage.read(key, deadline)
			.map(Entry::version)
			.<Reply>map(there -> (there.node() == entry.version().node()) ? Acknowledged.INSTANCE : Failed.notDone(
					Reason.CLOCK,
					"the newest version of the key is from another node and %d ms ahead of this node's clock: set the clock, or wait until it has caught up"
						.formatted(there.millis() - entry.version().millis())))
			.defaultIfEmpty(Acknowledged.INSTANCE);
	}

	@Override
	public boolean hasRoomFor(int valueBytes) {
		return this.storage.hasRoomFor(valueBytes);
	}

	@Override
	public @Nullable Failed refuseStore(int valueBytes) {
		Overloaded refused = this.storage.refuseWrite(valueBytes);
		return (refused != null) ? failure(refused) : null;
	}

	/**
	 * Whether a version is too far ahead of the stored one too, not only of the clock.
	 */
	private static boolean isTooFarAhead(Version version, Version stored) {
		return version.millis() > stored.millis() + HybridLogicalClock.MAX_LEAD_MILLIS;
	}

	private Reply tooFarAhead(Version version) {
		this.clock.refused(version);
		return Failed.notDone(Reason.CLOCK,
				"the version is more than %d ms ahead of the clock: set the clocks of the nodes"
					.formatted(HybridLogicalClock.MAX_LEAD_MILLIS));
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		Mono<Reply> refused = refuseVote(deadline);
		// A coordinator of an older version asks for internal keys too.
		return (refused != null) ? refused
				: this.storage.scan(range.ofClients(), limit, deadline)
					.<Reply>map(Listed::new)
					.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		if (query.kind() == PeerQuery.Kind.HEAD) {
			return head(query, deadline);
		}
		return deadline.isPast(this.time) ? TOO_LATE : this.queries.answer(query, deadline);
	}

	private Mono<Reply> head(PeerQuery query, Deadline deadline) {
		Mono<Reply> refused = refuseVote(deadline);
		if (refused != null) {
			return refused;
		}
		Key key;
		try {
			key = KeyHead.keyOf(query);
		}
		catch (IllegalArgumentException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "asked for the head of no key: " + ex.getMessage()));
		}
		return this.storage.promised(key, deadline)
			.flatMap(promised -> this.storage.read(key, deadline)
				.map(entry -> KeyHead.of(promised, entry))
				.defaultIfEmpty(KeyHead.of(promised, null)))
			.<Reply>map(head -> head.toAnswer(key))
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	private static Mono<Reply> failed(StorageException ex) {
		return Mono.just(failure(ex));
	}

	/** The reply of a replica whose storage has failed. */
	public static Failed failure(StorageException ex) {
		return new Failed(reasonOf(ex), String.valueOf(ex.getMessage()), ex.mayHaveBeenStored(), ex.mayRetry());
	}

	private static Reason reasonOf(StorageException ex) {
		return switch (ex) {
			case Overloaded _ -> Reason.OVERLOADED;
			case Unavailable _ -> Reason.UNAVAILABLE;
			case NoSpace _ -> Reason.NO_SPACE;
			case Unreadable _ -> Reason.UNREADABLE;
			case WriteFailed _ -> Reason.WRITE_FAILED;
			case ReadTimedOut _, WriteTimedOut _ -> Reason.TIMEOUT;
		};
	}

	/**
	 * Returns 0 unless its disk owes an answer. While the voting right is withheld,
	 * returns the largest time before {@link #AWAY}.
	 */
	@Override
	public long expectedNanos() {
		return (this.votingRight.withheldBecause() != null) ? LAST : this.storage.silentNanos();
	}

}
