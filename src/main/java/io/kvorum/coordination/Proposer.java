package io.kvorum.coordination;

import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.OperationFailures;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The proposer of Paxos (Lamport, "Paxos Made Simple", 2001) for one operation on a key.
 * Each attempt takes a ballot above all that it has seen and asks all replicas for the
 * promise. It decides what to propose once a majority has promised.
 */
final class Proposer {

	private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(2).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(40).toNanos();

	/** Doublings after which a pause is the longest. */
	private static final int DOUBLINGS = 5;

	/** Spreads the bits of a ballot (Fibonacci hashing). */
	private static final long SPREAD = 0x9e3779b97f4a7c15L;

	private static final int SPREAD_BITS = 20;

	private final KeyOperation operation;

	/** A version that the next ballot has to be above. */
	private Version seen;

	private int attempts;

	Proposer(KeyOperation operation, Version seen) {
		this.operation = operation;
		this.seen = seen;
	}

	/** The number of ballots so far. */
	int attempts() {
		return this.attempts;
	}

	/**
	 * Makes attempts until one has a result. Fails if too few replicas answer.
	 * @param decide what to do with the promises of a majority; empty to try again
	 * @param late the failure once the deadline of the operation has passed
	 */
	<T> Mono<T> run(Function<Promised, Mono<T>> decide, Supplier<OperationFailedException> late) {
		return Mono.defer(() -> attempt(decide))
			.repeatWhenEmpty(Integer.MAX_VALUE, attempts -> attempts.concatMap(attempt -> pause(attempt, late)));
	}

	/**
	 * Waits before a further attempt. Fails if there is no time for one, before the pause
	 * or after it: replicas would only answer that they were asked too late.
	 */
	private Mono<Long> pause(long attempt, Supplier<OperationFailedException> late) {
		return isLate() ? Mono.error(late.get()) : this.operation.node.alarms.after(pauseBefore(attempt))
			.flatMap(rung -> isLate() ? Mono.error(late.get()) : Mono.just(rung));
	}

	private boolean isLate() {
		return this.operation.deadline.isPast(this.operation.node.time);
	}

	private <T> Mono<T> attempt(Function<Promised, Mono<T>> decide) {
		this.attempts++;
		this.operation.observer.attempted(this.attempts);
		return this.operation.next(this.seen).flatMap(ballot -> {
			this.seen = ballot;
			return prepare(ballot).flatMap(tally -> {
				if (tally.decision() == Decision.REACHED) {
					Held newest = tally.newest();
					return decide.apply(new Promised(ballot, newest.entry(), newest.version(),
							newest.entry() == null || tally.isHeldByEnough(newest.version())));
				}
				return follow(tally) ? Mono.empty() : Mono.error(this.operation.unpromised(tally));
			});
		});
	}

	private Mono<Tally> prepare(Version ballot) {
		return Round.ofStores(this.operation.set, Tally.awaiting(this.operation.set.quorum()),
				position -> this.operation.set.at(position)
					.prepare(this.operation.key, ballot, this.operation.deadline),
				this.operation.patience(), null, this.operation.observe(Step.PREPARE));
	}

	/**
	 * Proposes the newest entry again, under the promised ballot. Empty as
	 * {@link #accept}.
	 * @param newest the entry of {@code promised}
	 */
	Mono<Entry> acceptAgain(Promised promised, Entry newest) {
		return accept(promised, newest.again(promised.ballot()));
	}

	/**
	 * Proposes an entry; returns it once it is chosen. Empty if too few replicas have
	 * acknowledged it: whether it is chosen is then unknown.
	 * @param entry under the promised ballot
	 */
	Mono<Entry> accept(Promised promised, Entry entry) {
		return Round
			.ofStores(this.operation.set, Tally.awaiting(this.operation.set.quorum()),
					position -> this.operation.set.at(position)
						.accept(this.operation.key, entry, promised.version(), this.operation.deadline),
					this.operation.patience(), this.operation.missed(entry), this.operation.observe(Step.ACCEPT))
			.mapNotNull(tally -> {
				follow(tally);
				return (tally.decision() == Decision.REACHED) ? entry : null;
			});
	}

	/** Notes what stood in the way of replicas that refused; false if none has. */
	private boolean follow(Tally tally) {
		Version refusal = tally.highestRefusal();
		if (refusal != null) {
			follow(refusal);
		}
		return refusal != null;
	}

	/** Takes the next ballot above this version too. */
	void follow(Version version) {
		if (version.isNewerThan(this.seen)) {
			this.seen = version;
		}
	}

	/**
	 * A pause that doubles with each attempt, from half to one and a half of its usual
	 * length. The ballot decides, so that rivals differ and a simulation repeats itself.
	 */
	private Duration pauseBefore(long attempt) {
		long usual = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(attempt, DOUBLINGS));
		long mixed = ((this.seen.timestamp() ^ this.operation.view.self().index()) * SPREAD) >>> (Long.SIZE
				- SPREAD_BITS);
		return Duration.ofNanos(usual / 2 + ((usual * mixed) >> SPREAD_BITS));
	}

	/**
	 * The promises of a majority.
	 *
	 * @param newest the newest entry that they found; null if none
	 * @param version the version of that; {@link Version#ABSENT} if none
	 * @param isChosen whether a majority holds it
	 */
	record Promised(Version ballot, @Nullable Entry newest, Version version, boolean isChosen) {
	}

}
