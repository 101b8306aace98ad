package io.kvorum.coordination;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.RequestDigest;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.OperationFailures;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Makes a write with an idempotency key happen once, by a {@link RequestRecord} that any
 * node finds.
 * <ul>
 * <li>The record changes only by a write whose condition is what was last seen of it.
 * <li>Nothing is sent to replicas under a version that is not in the record. So a repeat
 * sends the same versions again, or finds their fate.
 * <li>That a condition does not hold is an answer only once the record says so. From then
 * on no node can send the write.
 * </ul>
 * Several nodes may work on the same write. The first one to change the record goes on,
 * and the others end at their next change.
 */
final class RequestJournal {

	private static final Condition ABSENT = new Condition(null, Tags.ANY);

	private final Coordinator node;

	/** The nodes as the write sees them, to its end. */
	private final View view;

	private final Key key;

	private final RequestDigest digest;

	/** The default number: what the write asks for may be less than a majority. */
	private final Replicas asked;

	/** The identity of the record; null if there is none. */
	private @Nullable Version identity;

	/** The newest version known of the record. */
	private Version seen = Version.ABSENT;

	/** The expiry of the record; it stays as it is from the first version on. */
	private long expiresAtMillis = Live.NEVER;

	/** Whether the record has versions that replicas may have got. */
	private boolean isAnnounced;

	RequestJournal(Coordinator node, View view, IdempotencyKey idempotencyKey, RequestDigest digest) {
		this.node = node;
		this.view = view;
		this.key = RequestRecord.keyOf(idempotencyKey);
		this.digest = digest;
		this.asked = view.policy().defaults();
	}

	/** Runs the write, unless the same one is under way on this node. */
	Mono<Version> exclusively(Mono<Version> write) {
		return Mono.defer(() -> {
			if (!this.node.requests.begin(this.key)) {
				return Mono.error(isUnderWay());
			}
			return write.doFinally(_ -> this.node.requests.end(this.key));
		});
	}

	/** Reads the record. Fails if it is that of another request. */
	Mono<Optional<RequestRecord>> read(Deadline deadline) {
		return new KeyRead(this.node, this.view, this.key, this.asked, deadline).run()
			.map(this::found)
			// Whether an earlier request has done it cannot be told.
			.onErrorMap(OperationFailedException.class,
					ex -> (ex.kind() == OperationFailedException.Kind.KEY_REUSED) ? ex : OperationFailures.unclear(ex));
	}

	private Optional<RequestRecord> found(Held held) {
		this.seen = held.version();
		this.identity = this.node.identityNow(held.entry());
		if (this.identity == null || !(held.entry() instanceof Live live)) {
			return Optional.empty();
		}
		RequestRecord known = RequestRecord.of(live.value());
		if (!known.digest().equals(this.digest)) {
			this.node.events.idempotent(Repeat.REUSED);
			throw OperationFailures.ofReusedKey(this.asked.ack());
		}
		this.expiresAtMillis = live.expiresAtMillis();
		this.isAnnounced = true;
		return Optional.of(known);
	}

	/**
	 * Announces the versions under which the write is sent to replicas next, or was.
	 * Fails if another node has announced others.
	 * @param write the version that the write was given first
	 */
	Mono<Void> sending(Version write, List<Version> ballots, Deadline deadline) {
		if (ballots.size() > RequestRecord.MAX_BALLOTS) {
			return Mono.error(OperationFailures.ofContention(this.asked.ack()));
		}
		return change(new RequestRecord(this.digest, RequestRecord.State.UNDER_WAY, write, ballots), deadline)
			.doOnSuccess(_ -> this.isAnnounced = true);
	}

	/**
	 * Records that a condition does not hold, before a client learns it.
	 * @param current the identity of the value; null if there is none
	 */
	Mono<Void> notMet(@Nullable Version current, Deadline deadline) {
		return change(new RequestRecord(this.digest, RequestRecord.State.NOT_MET,
				(current != null) ? current : Version.ABSENT, List.of()), deadline);
	}

	private Mono<Void> change(RequestRecord next, Deadline deadline) {
		Version last = this.identity;
		if (last == null && !this.node.requests.tryMake()) {
			return Mono.error(this.node.requests.exhausted(this.asked.ack(), this.view.self()));
		}
		Condition condition = (last == null) ? ABSENT : new Condition(new Tags(false, Set.of(last)), null);
		return write(condition, next, deadline).above(this.seen).doOnNext(made -> {
			this.identity = made;
			this.seen = made;
		}).doOnError(failure -> {
			if (last == null && !mayHaveHappened(failure)) {
				this.node.requests.unmake();
			}
		})
			.onErrorMap(OperationFailedException.class,
					ex -> this.isAnnounced ? OperationFailures.unclear(ex) : OperationFailures.ofRecord(ex))
			.onErrorMap(ConditionNotMetException.class, _ -> isUnderWay())
			.then();
	}

	private static boolean mayHaveHappened(Throwable failure) {
		return !(failure instanceof ConditionNotMetException)
				&& !(failure instanceof OperationFailedException ex && !ex.mayHaveHappened());
	}

	/**
	 * Records that the write has happened. That is so whatever else is recorded, and
	 * whether or not this can be stored. A record that has expired is left alone: the
	 * next request may have made another one, with a version after that instant.
	 */
	Mono<Void> applied(Version write, Deadline deadline) {
		RequestRecord next = new RequestRecord(this.digest, RequestRecord.State.APPLIED, write, List.of());
		return write(Condition.NONE, next, deadline)
			.storeAbove(this.seen, version -> this.node.clock.expiryMillisOf(version) < this.expiresAtMillis)
			.onErrorComplete(OperationFailedException.class)
			.then();
	}

	private KeyWrite write(Condition condition, RequestRecord next, Deadline deadline) {
		return KeyWrite.internal(this.node, this.view, this.key, this.asked, condition, version -> entry(version, next),
				deadline);
	}

	private Entry entry(Version version, RequestRecord next) {
		if (this.expiresAtMillis == Live.NEVER) {
			this.expiresAtMillis = this.node.clock.expiryMillisOf(version)
					+ this.node.settings.idempotency().retention().toMillis();
		}
		return new Live(version, this.asked.copies(), this.expiresAtMillis, RequestRecord.CONTENT_TYPE, next.toValue());
	}

	private OperationFailedException isUnderWay() {
		this.node.events.idempotent(Repeat.UNDER_WAY);
		return OperationFailures.ofUnderWay(this.asked.ack());
	}

}
