package io.kvorum.coordination;

import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The write of one key: a value or a tombstone. */
final class KeyWrite extends KeyOperation {

	private final Function<Version, Entry> maker;

	private final Condition condition;

	/** Makes the write happen once; null if it is not to be repeated. */
	private final @Nullable RequestJournal journal;

	/**
	 * Creates a write.
	 * @param condition what must hold of the key; {@link Condition#NONE} for nothing
	 * @param maker makes the entry from its version
	 * @param journal makes the write happen once; null if it has no idempotency key
	 */
	KeyWrite(Coordinator node, View view, Operation operation, Key key, Replicas asked, Condition condition,
			Function<Version, Entry> maker, @Nullable RequestJournal journal, Deadline deadline,
			OperationObserver observer) {
		super(node, view, operation, key, asked, deadline, observer);
		this.condition = condition;
		this.maker = maker;
		this.journal = journal;
	}

	/** The write of an internal key, as a part of another operation. */
	static KeyWrite internal(Coordinator node, View view, Key key, Replicas asked, Condition condition,
			Function<Version, Entry> maker, Deadline deadline) {
		return new KeyWrite(node, view, Operation.PUT, key, asked, condition, maker, null, deadline,
				OperationObserver.NONE);
	}

	Mono<Version> run() {
		Mono<Version> write;
		if (this.journal != null) {
			write = once(this.journal);
		}
		else if (this.condition.isNone()) {
			write = version().flatMap(this::store);
		}
		else {
			write = inTurn(Mono.defer(this::compareAndStore), this::failureBy);
		}
		return write.doOnError(OperationFailedException.class, ex -> decided(ex.outcome()))
			.doOnError(ConditionNotMetException.class, _ -> decided(Outcome.CONDITION_NOT_MET));
	}

	private Mono<Version> inTurn(Mono<Written> write, Turns.@Nullable Answering<Written> answering) {
		Mono<OperationFailedException> late = untilDeadline()
			.map(_ -> notBegun(OperationFailures.ofContention(this.asked.ack())));
		return this.node.turns.inTurn(this.key, write, late, answering)
			.map(Written::identity)
			.onErrorMap(Turns.FullException.class, full -> notBegun(OperationFailures.notBegun(this.asked.ack(),
					this.view.self(), Failed.notDone(Reason.OVERLOADED, String.valueOf(full.getMessage())))));
	}

	/**
	 * The failure of a write whose turn did not come. Whether an earlier request has done
	 * it was not looked up.
	 */
	private OperationFailedException notBegun(OperationFailedException failure) {
		return (this.journal != null) ? OperationFailures.unclear(failure) : failure;
	}

	/**
	 * Runs a write that may be a repeat. Its end tells nothing to writes that wait for
	 * it: it may have happened long before.
	 */
	private Mono<Version> once(RequestJournal journal) {
		Mono<Version> write = Mono.defer(() -> journal.read(this.deadline).flatMap(known -> {
			Repeat repeat = known.map(RequestRecord::repeat).orElse(Repeat.FIRST);
			this.node.events.idempotent(repeat);
			return switch (repeat) {
				case FIRST -> recorded(begin(), journal);
				case RESUMED -> recorded(resume(known.orElseThrow()), journal)
					.onErrorMap(OperationFailedException.class, OperationFailures::unclear);
				default -> answerAs(known.orElseThrow());
			};
		}));
		return journal.exclusively(this.condition.isNone() ? write : inTurn(write.map(Written::of), null));
	}

	private Mono<Version> begin() {
		return this.condition.isNone() ? version().flatMap(this::store) : compareAndStore().map(Written::identity);
	}

	/** Records the outcome of this write before its client learns it. */
	private Mono<Version> recorded(Mono<Version> write, RequestJournal journal) {
		return write.flatMap(identity -> journal.applied(identity, this.deadline).thenReturn(identity))
			.onErrorResume(ConditionNotMetException.class,
					unmet -> journal.notMet(unmet.current(), this.deadline).then(Mono.error(unmet)));
	}

	private Mono<Version> answerAs(RequestRecord earlier) {
		if (earlier.state() == RequestRecord.State.NOT_MET) {
			return Mono.error(new ConditionNotMetException(earlier.current()));
		}
		decided(Outcome.REACHED);
		return Mono.just(earlier.version());
	}

	/**
	 * Sends a write again that an earlier request has announced, or finds that it has
	 * happened. What has expired since can only be found, and only under ballots.
	 */
	private Mono<Version> resume(RequestRecord earlier) {
		Entry entry = this.maker.apply(earlier.version());
		boolean hasExpired = entry instanceof Live && this.node.identityNow(entry) == null;
		if (this.condition.isNone() && !(hasExpired && this.consistency == Consistency.LINEARIZABLE)) {
			return send(entry, earlier.ballots());
		}
		OperationFailedException failure = refuseBallots();
		return (failure != null) ? Mono.error(failure)
				: underBallots(BallotWrite.resumed(this, this.condition, this.maker, entry, earlier.ballots()))
					.map(Written::identity);
	}

	/**
	 * Fails this write by what another one has found while this one waited for it. That
	 * is the value that the other one wrote, or for which its condition did not hold.
	 */
	private @Nullable Throwable failureBy(@Nullable Written other, @Nullable Throwable error) {
		Version current;
		if (other != null) {
			current = other.current();
		}
		else if (error instanceof ConditionNotMetException unmet) {
			current = unmet.current();
		}
		else {
			return null;
		}
		if (this.condition.holdsFor(current)) {
			return null;
		}
		this.node.events.compared(0);
		return new ConditionNotMetException(current);
	}

	/**
	 * A write that has happened.
	 *
	 * @param current the identity of the value then; null if it was a delete
	 */
	record Written(Version identity, @Nullable Version current) {

		static Written of(Version identity) {
			return new Written(identity, identity);
		}

	}

	/**
	 * Skips the round for versions for an eventual write and on a single node. On a
	 * single node {@link LocalReplica} refuses the store if another node's version is
	 * newer. A version that is recorded has to be the newest: a repeat at a node with
	 * peers would take the entry for one that was overwritten.
	 */
	private Mono<Version> version() {
		boolean isChecked = this.view.isAlone() && this.journal == null;
		return (isChecked || this.consistency == Consistency.EVENTUAL) ? next(Version.ABSENT)
				: newestVersion().flatMap(this::next);
	}

	private Mono<Version> newestVersion() {
		return Round
			.ofReads(this.set, position -> this.set.at(position).readVersion(this.key, this.deadline),
					this.node.hedging, observe(Step.VERSIONS))
			.map(tally -> reached(tally, OperationFailures::ofReads).newest().version());
	}

	private Mono<Version> store(Version version) {
		Entry entry = this.maker.apply(version);
		return (this.journal == null) ? send(entry, List.of())
				: this.journal.sending(version, List.of(version), this.deadline)
					.then(Mono.defer(() -> send(entry, List.of())));
	}

	/**
	 * Stores above a version that is known to be the newest. Empty if the next version is
	 * none that the write may have.
	 */
	Mono<Version> storeAbove(Version newest, Predicate<Version> mayHave) {
		return next(newest).filter(mayHave).flatMap(this::store);
	}

	/**
	 * Sends an entry to all replicas.
	 * @param earlier other versions under which it may have been sent before
	 */
	private Mono<Version> send(Entry entry, List<Version> earlier) {
		if (!this.set.isEnoughPresent()) {
			return Mono.error(OperationFailures.ofAbsentees(this.set));
		}
		return Round
			.ofStores(this.set, Tally.awaiting(this.set.quorum()),
					position -> this.set.at(position).store(this.key, entry, Purpose.WRITE, this.deadline), patience(),
					missed(entry), observe(Step.STORE))
			.flatMap(tally -> stored(tally, entry, earlier));
	}

	/**
	 * Goes on under a ballot if promises have refused the store: a conditional write of
	 * the key is under way.
	 */
	private Mono<Version> stored(Tally tally, Entry entry, List<Version> earlier) {
		Version refusal = (tally.decision() != Decision.REACHED) ? tally.highestRefusal() : null;
		if (refusal != null && this.consistency == Consistency.LINEARIZABLE) {
			this.node.events.refusedByPromise();
			return BallotWrite.refused(this, entry, earlier, refusal).run().doOnNext(_ -> decided(Outcome.REACHED));
		}
		reached(tally, OperationFailures::ofStores);
		decided(Outcome.REACHED);
		return Mono.just(entry.version());
	}

	/**
	 * Asks replicas for what they hold before any promise. If a majority holds the same
	 * and the condition does not hold for it, that is the answer. It takes no promise, so
	 * it gets in the way of no other write.
	 */
	private Mono<Written> compareAndStore() {
		OperationFailedException failure = refuseBallots();
		return (failure != null) ? Mono.error(failure)
				: Round.ofReads(this.set, this::readOrVersion, this.node.hedging, observe(Step.READ))
					.flatMap(tally -> compareAndStore(reached(tally, OperationFailures::ofReads)));
	}

	/**
	 * Compares and stores without asking first what replicas hold.
	 * @param seen the newest version known of the key
	 */
	Mono<Version> above(Version seen) {
		OperationFailedException failure = refuseBallots();
		return (failure != null) ? Mono.error(failure)
				: BallotWrite.conditional(this, this.condition, this.maker, seen).run();
	}

	/** Refuses a write that cannot take ballots, or that has no time for any. */
	private @Nullable OperationFailedException refuseBallots() {
		Failed outdated = outdated();
		if (outdated != null) {
			return OperationFailures.notBegun(this.asked.ack(), this.view.self(), outdated);
		}
		return this.deadline.isPast(this.node.time) ? OperationFailures.ofContention(this.asked.ack()) : null;
	}

	private Mono<Reply> readOrVersion(int position) {
		Replica replica = this.set.at(position);
		return (position == 0) ? replica.read(this.key, this.deadline) : replica.readVersion(this.key, this.deadline);
	}

	private Mono<Written> compareAndStore(Tally tally) {
		Held newest = tally.newest();
		boolean isKnown = !newest.lacksEntry() && tally.isHeldByEnough(newest.version());
		Version current = this.node.identityNow(newest.entry());
		if (isKnown && !this.condition.holdsFor(current)) {
			this.node.events.compared(0);
			return Mono.error(new ConditionNotMetException(current));
		}
		return underBallots(BallotWrite.conditional(this, this.condition, this.maker, newest.version()));
	}

	private Mono<Written> underBallots(BallotWrite write) {
		return write.run()
			.map(identity -> new Written(identity, isDelete() ? null : identity))
			.doOnNext(_ -> decided(Outcome.REACHED))
			.doOnTerminate(() -> this.node.events.compared(write.attempts()));
	}

	/** Announces a ballot before the write is sent under it. */
	Mono<Void> announce(Version identity, List<Version> ballots) {
		return (this.journal != null) ? this.journal.sending(identity, ballots, this.deadline) : Mono.empty();
	}

	/** The refusal of a replica whose release knows no ballots; null if there is none. */
	private @Nullable Failed outdated() {
		for (int position = 0; position < this.set.present(); position++) {
			if (!this.set.at(position).knowsBallots()) {
				return Replica.NO_BALLOTS;
			}
		}
		return null;
	}

}
