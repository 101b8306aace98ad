package io.kvorum.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.ClockLeadException;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The write of one key: a value or a tombstone. */
final class KeyWrite extends KeyOperation {

	private final Function<Version, Entry> maker;

	/**
	 * Creates a write.
	 * @param maker makes the entry from its version
	 */
	KeyWrite(Coordinator node, Operation operation, Key key, Replicas asked, Function<Version, Entry> maker,
			OperationObserver observer) {
		super(node, operation, key, asked, node.settings.writeTimeout(), observer);
		this.maker = maker;
	}

	Mono<Version> run() {
		return version().flatMap(this::store)
			.doOnError(OperationFailedException.class,
					ex -> decided(ex.mayHaveHappened() ? Outcome.UNKNOWN : Outcome.NOT_APPLIED));
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
		int majority = Replicas.majorityOf(this.set.size()).ack();
		return Round
			.ofReads(this.set, majority, position -> this.set.at(position).readVersion(this.key, this.deadline),
					this.node.hedging, observe(Step.VERSIONS))
			.map(tally -> reached(tally, OperationFailures::ofReads).newest().version());
	}

	private Mono<Version> next(Version seen) {
		try {
			return Mono.just(nextOrThrow(seen));
		}
		catch (ClockLeadException ex) {
			return Mono.error(notBegun(ex));
		}
		catch (ClockBoundException _) {
			return Mono.fromCompletionStage(this.node.clock::extension)
				// The bound is stored on any thread; the write goes on, on the caller's.
				.publishOn(Schedulers.fromExecutor(this.node.callers.current()))
				.then(Mono.fromSupplier(() -> nextOrThrow(seen)))
				.onErrorMap(this::notBegun);
		}
	}

	/**
	 * Gives the version: on a single node however far ahead of its clock, in a cluster up
	 * to the limit.
	 */
	private Version nextOrThrow(Version seen) {
		return this.node.isAlone() ? this.node.clock.next() : this.node.clock.nextAfter(seen);
	}

	private OperationFailedException notBegun(Throwable cause) {
		Failed why = (cause instanceof StorageException ex) ? LocalReplica.failure(ex)
				: Failed.notDone(Reason.CLOCK, String.valueOf(cause.getMessage()));
		return OperationFailures.notBegun(this.asked.ack(), this.node.self, why);
	}

	private Mono<Version> store(Version version) {
		if (this.set.present() < this.asked.ack()) {
			return Mono.error(OperationFailures.ofAbsentees(this.set, this.asked.ack()));
		}
		Entry entry = this.maker.apply(version);
		return Round
			.ofStores(this.set, Tally.awaiting(this.asked.ack(), this.set.size()),
					position -> this.set.at(position).store(this.key, entry, Purpose.WRITE, this.deadline),
					missed(entry), observe(Step.STORE))
			.map(tally -> {
				reached(tally, OperationFailures::ofStores);
				decided(Outcome.REACHED);
				return version;
			});
	}

	private @Nullable Missed missed(Entry entry) {
		return this.node.isAlone() ? null : new Missed(entry);
	}

	/**
	 * Reports the replicas that failed to store the entry, if the write may have
	 * happened. A write that did not happen must not be repeated by a hint.
	 * <p>
	 * A refusal by a clock is reported too: other replicas may have the entry, and
	 * without the report all replicas would be taken for equal.
	 */
	private final class Missed implements Round.Witness {

		private final Entry entry;

		private final List<Runnable> before = new ArrayList<>(0);

		private boolean isDecided;

		private boolean mayHappen;

		Missed(Entry entry) {
			this.entry = entry;
		}

		@Override
		public void failed(int position, Failed why) {
			if (!this.isDecided) {
				this.before.add(() -> report(position, why));
			}
			else if (this.mayHappen) {
				report(position, why);
			}
		}

		@Override
		public void decided(Tally tally) {
			this.isDecided = true;
			this.mayHappen = tally.decision() == Decision.REACHED
					|| OperationFailures.ofStores(KeyWrite.this.set, tally).mayHaveHappened();
			if (this.mayHappen) {
				this.before.forEach(Runnable::run);
			}
		}

		private void report(int position, Failed why) {
			KeyWrite write = KeyWrite.this;
			write.node.missedStores.missed(write.set.at(position).member(), write.key, this.entry, why.reason());
		}

	}

}
