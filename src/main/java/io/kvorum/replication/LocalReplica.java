package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
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
 * The replica of this node: its storage, asked by this node's coordinator or another's.
 */
public final class LocalReplica implements Replica {

	private static final Mono<Reply> TOO_LATE = Mono
		.just(Failed.notDone(Reason.TIMEOUT, "the deadline had passed before the operation began"));

	/**
	 * Acknowledged it would be gone at once, which no client takes for success. Nothing
	 * here tells a slow store from clocks that differ.
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

	/** Whether there is no other replica. */
	private final boolean isAlone;

	/**
	 * The replica of a node with peers.
	 * @param votingRight while it is in doubt, the replica stores and does not tell
	 * @param queries answers what it is asked beside that
	 */
	public LocalReplica(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			VotingRight votingRight, PeerQueries queries) {
		this(member, storage, clock, time, votingRight, queries, false);
	}

	private LocalReplica(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			VotingRight votingRight, PeerQueries queries, boolean isAlone) {
		this.member = member;
		this.storage = storage;
		this.clock = clock;
		this.time = time;
		this.votingRight = votingRight;
		this.queries = queries;
		this.isAlone = isAlone;
	}

	/** The replica of a node without peers. */
	public static LocalReplica alone(Member member, StorageEngine storage, HybridLogicalClock clock, TimeSource time) {
		return new LocalReplica(member, storage, clock, time, VotingRight.TRUSTED, PeerQueries.NONE, true);
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		if (deadline.isPast(this.time)) {
			return TOO_LATE;
		}
		String why = this.votingRight.withheldBecause();
		if (why != null) {
			return rebuilding(why);
		}
		return this.storage.read(key, deadline)
			.<Reply>map(Held::of)
			.defaultIfEmpty(Held.nothing())
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return read(key, deadline).map(reply -> (reply instanceof Held held) ? new Held(held.version(), null) : reply);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, boolean repair, Deadline deadline) {
		if (deadline.isPast(this.time)) {
			return TOO_LATE;
		}
		if (!repair && entry instanceof Live live && live.expires() && !live.isVisibleAt(this.clock.expiryMillis())) {
			return EXPIRED;
		}
		if (repair || !this.clock.isTooFarAhead(entry.version())) {
			this.clock.observe(entry.version());
			return store(key, entry, deadline);
		}
		return this.storage.read(key, deadline)
			.map(Entry::version)
			.defaultIfEmpty(Version.ABSENT)
			.flatMap(stored -> isTooFarAhead(entry.version(), stored) ? Mono.just(tooFarAhead(entry.version()))
					: store(key, entry, deadline))
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	private Mono<Reply> store(Key key, Entry entry, Deadline deadline) {
		Mono<StoreOutcome> stored = this.storage.store(key, entry, deadline);
		Mono<Reply> reply = this.isAlone ? stored.flatMap(outcome -> (outcome == StoreOutcome.STORED)
				? Mono.just(Acknowledged.INSTANCE) : superseded(key, entry, deadline))
				: stored.map(_ -> Acknowledged.INSTANCE);
		return reply.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	/**
	 * Of a write that met something newer where nobody compares versions beforehand. Of
	 * two writes at a time of this node the earlier one may come later: it has been
	 * overwritten. What another node gave lies ahead of this one's clock, and the write
	 * is seen by nobody.
	 */
	private Mono<Reply> superseded(Key key, Entry entry, Deadline deadline) {
		return this.storage.read(key, deadline)
			.map(Entry::version)
			.<Reply>map(there -> (there.node() == entry.version().node()) ? Acknowledged.INSTANCE : Failed.notDone(
					Reason.CLOCK,
					"the newest version of the key is of another node and %d ms ahead of this node's: set the clock, or wait until it has caught up"
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
	 * Of a version that is too far ahead of the clock: whether of what is stored, too.
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
		if (deadline.isPast(this.time)) {
			return TOO_LATE;
		}
		String why = this.votingRight.withheldBecause();
		if (why != null) {
			return rebuilding(why);
		}
		return this.storage.scan(range, limit, deadline)
			.<Reply>map(Listed::new)
			.onErrorResume(StorageException.class, LocalReplica::failed);
	}

	private static Mono<Reply> rebuilding(String why) {
		return Mono.just(Failed.notDone(Reason.REBUILDING, why));
	}

	@Override
	public Mono<Reply> ask(byte[] query, Deadline deadline) {
		return deadline.isPast(this.time) ? TOO_LATE : this.queries.answer(query, deadline);
	}

	private static Mono<Reply> failed(StorageException ex) {
		return Mono.just(failure(ex));
	}

	/** What a replica replies where its storage failed. */
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

	/** Its answer costs no network, unless its disk hangs or it may not answer. */
	@Override
	public long expectedNanos() {
		return (this.votingRight.withheldBecause() != null) ? LAST : this.storage.silentNanos();
	}

}
