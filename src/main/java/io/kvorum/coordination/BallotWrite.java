package io.kvorum.coordination;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.quorum.Fate;
import io.kvorum.replication.OperationFailures;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A write under ballots: one with a condition, or one without that met the promise of
 * another. It looks for its own write before each new proposal, and keeps its identity
 * once it was sent. So it happens once, or its client is told that this is unknown.
 */
final class BallotWrite {

	private final KeyWrite operation;

	private final Condition condition;

	private final Proposer proposer;

	private final Function<Version, Entry> maker;

	/** The versions under which the write was sent to replicas. */
	private final List<Version> sent = new ArrayList<>(1);

	/** What is written, with the version that it was given first; null until then. */
	private @Nullable Entry written;

	private BallotWrite(KeyWrite operation, Condition condition, Function<Version, Entry> maker, Version seen) {
		this.operation = operation;
		this.condition = condition;
		this.maker = maker;
		this.proposer = new Proposer(operation, seen);
	}

	/**
	 * A write with a condition, which nothing is known of yet.
	 * @param maker makes the entry from its identity
	 * @param seen a version that its ballots have to be above
	 */
	static BallotWrite conditional(KeyWrite operation, Condition condition, Function<Version, Entry> maker,
			Version seen) {
		return new BallotWrite(operation, condition, maker, seen);
	}

	/**
	 * A write that an earlier request has sent to replicas.
	 * @param written what it is, with its identity
	 * @param sent the versions under which it may have been sent
	 */
	static BallotWrite resumed(KeyWrite operation, Condition condition, Function<Version, Entry> maker, Entry written,
			List<Version> sent) {
		BallotWrite write = new BallotWrite(operation, condition, maker, Collections.max(sent));
		write.written = written;
		write.sent.addAll(sent);
		return write;
	}

	/**
	 * The rest of a write without a condition that was sent, and refused by promises.
	 * @param earlier other versions under which it may have been sent before
	 * @param refusal the highest of those promises
	 */
	static BallotWrite refused(KeyWrite operation, Entry written, List<Version> earlier, Version refusal) {
		Set<Version> sent = new TreeSet<>(earlier);
		sent.add(written.version());
		BallotWrite rest = resumed(operation, Condition.NONE, _ -> written, written, List.copyOf(sent));
		rest.proposer.follow(refusal);
		return rest;
	}

	/** The number of ballots so far. */
	int attempts() {
		return this.proposer.attempts();
	}

	/**
	 * Runs the write; returns its identity. Fails with a {@link ConditionNotMetException}
	 * if the condition does not hold, or with an {@link OperationFailedException}.
	 */
	Mono<Version> run() {
		return this.proposer.run(this::decide, this::late)
			.onErrorMap(OperationFailedException.class,
					failure -> this.sent.isEmpty() ? failure : OperationFailures.unclear(failure));
	}

	private OperationFailedException late() {
		return this.sent.isEmpty() ? OperationFailures.ofContention(this.operation.asked.ack()) : unclear();
	}

	private OperationFailedException unclear() {
		return OperationFailures.ofUnclear(this.operation.asked.ack());
	}

	private Mono<Version> decide(Proposer.Promised promised) {
		return switch (fateOf(this.written, promised)) {
			case MINE -> keep(promised);
			case NOT_CHOSEN -> judge(promised);
			case UNCLEAR -> Mono.error(unclear());
		};
	}

	/**
	 * Judges the condition by the newest entry. If that is newer than what was sent, it
	 * has to be chosen first. After that no node proposes again what was sent, so this
	 * write begins anew, with a new identity. With its old identity it would come after a
	 * newer one, and identities would not grow.
	 */
	private Mono<Version> judge(Proposer.Promised promised) {
		if (!this.condition.isNone() && this.sent.stream().anyMatch(promised.version()::isNewerThan)) {
			if (!isSettled(promised)) {
				return settle(promised).then(Mono.empty());
			}
			this.sent.clear();
			this.written = null;
		}
		return this.condition.holdsFor(currentOf(promised)) ? propose(promised) : refuse(promised);
	}

	private Fate fateOf(@Nullable Entry mine, Proposer.Promised promised) {
		if (mine == null) {
			return Fate.NOT_CHOSEN;
		}
		return this.condition.isNone() ? Fate.ofUnconditional(promised.newest(), mine.version(), this.sent)
				: Fate.of(promised.newest(), mine.version(), this.sent);
	}

	/** The identity of the value at the time of the ballot; null if there is none. */
	private @Nullable Version currentOf(Proposer.Promised promised) {
		return this.operation.node.identityAt(promised.newest(), promised.ballot());
	}

	/**
	 * Whether a value is none any more at the time of the ballot. One that was not sent
	 * before never is.
	 */
	private boolean hasExpired(Entry mine, Proposer.Promised promised) {
		return mine instanceof Live && this.operation.node.identityAt(mine, promised.ballot()) == null;
	}

	private OperationFailedException expired() {
		return OperationFailures.ofExpired(this.operation.asked.ack());
	}

	/**
	 * The write is in the newest entry: succeeds once a majority holds that. A value that
	 * gets a majority only after it has expired was never there.
	 */
	private Mono<Version> keep(Proposer.Promised promised) {
		if (!promised.isChosen() && promised.newest() != null && hasExpired(promised.newest(), promised)) {
			return Mono.error(expired());
		}
		return settle(promised).map(_ -> identity());
	}

	/**
	 * The condition does not hold of the newest entry: fails once a majority holds it.
	 */
	private Mono<Version> refuse(Proposer.Promised promised) {
		if (promised.newest() == null && !this.sent.isEmpty()) {
			// What was sent may be found yet, and there is nothing to put above it.
			return Mono.error(unclear());
		}
		Version current = currentOf(promised);
		return settle(promised).flatMap(_ -> Mono.error(new ConditionNotMetException(current)));
	}

	/** Empty if the newest entry has to be proposed again, and was not chosen. */
	private Mono<?> settle(Proposer.Promised promised) {
		Entry newest = promised.newest();
		return (newest == null || isSettled(promised)) ? Mono.just(promised)
				: this.proposer.acceptAgain(promised, newest);
	}

	/**
	 * Whether a majority holds the newest entry, and nothing of this write can be found
	 * above it.
	 */
	private boolean isSettled(Proposer.Promised promised) {
		Entry mine = this.written;
		Entry newest = promised.newest();
		boolean isMine = mine != null && newest != null && newest.identity().equals(mine.version());
		return promised.isChosen() && (isMine || this.sent.stream().allMatch(promised.version()::isNewerThan));
	}

	private Mono<Version> propose(Proposer.Promised promised) {
		Entry mine = (this.written != null) ? this.written : this.maker.apply(promised.ballot());
		if (hasExpired(mine, promised)) {
			return Mono.error(expired());
		}
		List<Version> sending = new ArrayList<>(this.sent);
		sending.add(promised.ballot());
		return this.operation.announce(mine.version(), sending).then(Mono.defer(() -> send(mine, promised)));
	}

	private Mono<Version> send(Entry mine, Proposer.Promised promised) {
		this.written = mine;
		this.sent.add(promised.ballot());
		Entry entry = mine.under(promised.ballot(),
				Lineage.of(mine.version(), !this.condition.isNone(), promised.newest()));
		return this.proposer.accept(promised, entry).map(Entry::identity);
	}

	private Version identity() {
		Entry mine = this.written;
		if (mine == null) {
			throw new IllegalStateException("nothing was proposed yet");
		}
		return mine.version();
	}

}
