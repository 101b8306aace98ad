package io.kvorum.coordination;

import java.time.Duration;
import java.util.function.IntFunction;

import io.kvorum.clock.Deadline;
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
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica.Purpose;
import reactor.core.publisher.Mono;

/** The read of one key. */
final class KeyRead extends KeyOperation {

	/** The time that a conditional write has to end before a read asks again. */
	private static final Duration PAUSE = Duration.ofMillis(4);

	/** Whether promises have refused a write-back. */
	private boolean isRefused;

	KeyRead(Coordinator node, View view, Key key, Replicas asked, Deadline deadline, OperationObserver observer) {
		super(node, view, Operation.GET, key, asked, deadline, observer);
	}

	/** A read that is not observed, as a part of another operation. */
	KeyRead(Coordinator node, View view, Key key, Replicas asked, Deadline deadline) {
		this(node, view, key, asked, deadline, OperationObserver.NONE);
	}

	/** Reads the newest entry of the key, which may be a tombstone or expired. */
	Mono<Held> run() {
		return attempt().doOnError(_ -> decided(Outcome.NOT_APPLIED));
	}

	private Mono<Held> attempt() {
		return ask(this::readOrVersion).flatMap(this::withEntry);
	}

	private Mono<Tally> ask(IntFunction<Mono<Reply>> how) {
		Mono<Tally> round = Round.ofReads(this.set, how, this.node.hedging, observe(Step.READ))
			.map(tally -> reached(tally, OperationFailures::ofReads));
		return (this.set.size() > 1) ? timed(round) : round;
	}

	/** A round that tells how long it took, for the delay of hedges. */
	private Mono<Tally> timed(Mono<Tally> round) {
		long started = this.node.time.nanos();
		return round.doOnNext(_ -> this.node.hedging.record(this.node.time.nanos() - started));
	}

	/**
	 * Reads the entry from the first replica and only the version from the others. The
	 * versions usually agree, so a value crosses the network at most once.
	 */
	private Mono<Reply> readOrVersion(int position) {
		return (position == 0) ? read(position) : this.set.at(position).readVersion(this.key, this.deadline);
	}

	private Mono<Reply> read(int position) {
		return this.set.at(position).read(this.key, this.deadline);
	}

	/**
	 * Reads once more, with entries from every replica asked, if only the version of the
	 * newest entry is known.
	 */
	private Mono<Held> withEntry(Tally tally) {
		return tally.newest().lacksEntry() ? ask(this::read).flatMap(this::complete) : complete(tally);
	}

	private Mono<Held> complete(Tally tally) {
		Held newest = tally.newest();
		Entry entry = newest.entry();
		if (entry == null || tally.isHeldByEnough(newest.version())) {
			return answer(newest);
		}
		int copies = this.view.policy().copiesOf(entry);
		if (this.consistency == Consistency.EVENTUAL) {
			repair(tally, entry, copies);
			return answer(newest);
		}
		// An entry that was written with fewer copies does not get more.
		Tally holding = tally.acknowledging(entry.version(), this.set.quorum(copies));
		return holding.isDecided() ? answer(newest) : writeBack(holding, entry);
	}

	private void repair(Tally tally, Entry entry, int copies) {
		for (int position : tally.behind(entry.version())) {
			if (this.set.isCopy(position, copies)) {
				this.node.readRepair.submit(this.set.at(position), this.key, entry);
			}
		}
	}

	/**
	 * Stores without a {@link Round.Witness}: the write itself has recorded the replicas
	 * that missed it.
	 */
	private Mono<Held> writeBack(Tally holding, Entry entry) {
		this.node.events.wroteBack();
		return Round
			.ofStores(this.set, holding,
					position -> this.set.at(position).store(this.key, entry, Purpose.WRITE_BACK, this.deadline),
					patience(), null, observe(Step.WRITE_BACK))
			.flatMap(written -> {
				Version refusal = (written.decision() != Decision.REACHED) ? written.highestRefusal() : null;
				if (refusal != null) {
					return readAgain(refusal);
				}
				reached(written, OperationFailures::ofWriteBack);
				return answer(Held.of(entry));
			});
	}

	/**
	 * Reads again after promises have refused the write-back: a conditional write of the
	 * key is under way. The second time, it does not wait for that write to end.
	 */
	private Mono<Held> readAgain(Version refusal) {
		if (this.isRefused) {
			this.node.events.settled();
			return settle(refusal, Version.ABSENT).flatMap(this::answer);
		}
		this.isRefused = true;
		return this.node.alarms.after(PAUSE).then(Mono.defer(this::attempt));
	}

	/** A read takes promises for the entry that it found, as for a write-back. */
	@Override
	OperationFailedException unpromised(Tally tally) {
		return OperationFailures.ofWriteBack(this.set, tally);
	}

	private Mono<Held> answer(Held held) {
		decided(Outcome.REACHED);
		return Mono.just(held);
	}

}
