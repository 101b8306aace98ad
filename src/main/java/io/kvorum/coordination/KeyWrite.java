package io.kvorum.coordination;

import java.util.function.Function;

import io.kvorum.kv.Entry;
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

	/**
	 * Creates a write.
	 * @param condition what must hold of the key; {@link Condition#NONE} for nothing
	 * @param maker makes the entry from its version
	 */
	KeyWrite(Coordinator node, Operation operation, Key key, Replicas asked, Condition condition,
			Function<Version, Entry> maker, OperationObserver observer) {
		super(node, operation, key, asked, node.settings.writeTimeout(), observer);
		this.condition = condition;
		this.maker = maker;
	}

	Mono<Version> run() {
		Mono<Version> write = this.condition.isNone() ? version().flatMap(this::store)
				: this.node.turns.inTurn(this.key, Mono.defer(this::compareAndStore), this::failureBy)
					.map(Written::identity)
					.onErrorMap(Turns.FullException.class, _ -> OperationFailures.ofContention(this.asked.ack()));
		return write
			.doOnError(OperationFailedException.class,
					ex -> decided(ex.mayHaveHappened() ? Outcome.UNKNOWN : Outcome.NOT_APPLIED))
			.doOnError(ConditionNotMetException.class, _ -> decided(Outcome.CONDITION_NOT_MET));
	}

	/**
	 * Fails this write by what another one has found while this one waited for it: the
	 * value that it wrote, or that its own condition did not hold for.
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
	}

	/**
	 * Skips the round for versions for an eventual write and on a single node. On a
	 * single node {@link LocalReplica} refuses the store if another node's version is
	 * newer.
	 */
	private Mono<Version> version() {
		return (this.node.isAlone() || this.consistency == Consistency.EVENTUAL) ? next(Version.ABSENT)
				: newestVersion().flatMap(this::next);
	}

	private Mono<Version> newestVersion() {
		return Round
			.ofReads(this.set, this.asked.ack(), position -> this.set.at(position).readVersion(this.key, this.deadline),
					this.node.hedging, observe(Step.VERSIONS))
			.map(tally -> reached(tally, OperationFailures::ofReads).newest().version());
	}

	private Mono<Version> store(Version version) {
		if (this.set.present() < this.asked.ack()) {
			return Mono.error(OperationFailures.ofAbsentees(this.set, this.asked.ack()));
		}
		Entry entry = this.maker.apply(version);
		return Round
			.ofStores(this.set, Tally.awaiting(this.asked.ack(), this.set.size()),
					position -> this.set.at(position).store(this.key, entry, Purpose.WRITE, this.deadline), patience(),
					missed(entry), observe(Step.STORE))
			.flatMap(tally -> stored(tally, entry));
	}

	/**
	 * Goes on under a ballot if promises have refused the store: a conditional write of
	 * the key is under way.
	 */
	private Mono<Version> stored(Tally tally, Entry entry) {
		Version refusal = (tally.decision() != Decision.REACHED) ? tally.highestRefusal() : null;
		if (refusal != null && this.consistency == Consistency.LINEARIZABLE) {
			this.node.events.refusedByPromise();
			return BallotWrite.refused(this, entry, refusal).run().doOnNext(_ -> decided(Outcome.REACHED));
		}
		reached(tally, OperationFailures::ofStores);
		decided(Outcome.REACHED);
		return Mono.just(entry.version());
	}

	/**
	 * Asks replicas for what they hold before any promise. If a majority holds the same
	 * and the condition does not hold of it, that is the answer, and no promise gets in
	 * the way of others.
	 */
	private Mono<Written> compareAndStore() {
		Failed outdated = outdated();
		if (outdated != null) {
			return Mono.error(OperationFailures.notBegun(this.asked.ack(), this.node.self, outdated));
		}
		if (this.deadline.isPast(this.node.time)) {
			return Mono.error(OperationFailures.ofContention(this.asked.ack()));
		}
		return Round.ofReads(this.set, this.asked.ack(), this::readOrVersion, this.node.hedging, observe(Step.READ))
			.flatMap(tally -> compareAndStore(reached(tally, OperationFailures::ofReads)));
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
		BallotWrite write = BallotWrite.conditional(this, this.condition, this.maker, newest.version());
		return write.run()
			.map(identity -> new Written(identity, isDelete() ? null : identity))
			.doOnNext(_ -> decided(Outcome.REACHED))
			.doOnTerminate(() -> this.node.events.compared(write.attempts()));
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
