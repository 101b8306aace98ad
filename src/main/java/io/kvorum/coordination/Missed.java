package io.kvorum.coordination;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Entry;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.OperationFailures;

/**
 * Reports the replicas that failed to store an entry, if the write may have happened. A
 * write that did not happen must not be repeated by a hint.
 * <p>
 * A refusal is reported too: other replicas may have the entry, and without the report
 * all replicas would be taken for equal.
 * <p>
 * Thread-safe: an alarm may decide the round on one thread while a replica fails on
 * another. Reporting does not wait.
 */
final class Missed implements Round.Witness {

	private final KeyOperation operation;

	private final Entry entry;

	private final List<Runnable> before = new ArrayList<>(0);

	private boolean isDecided;

	private boolean mayHappen;

	Missed(KeyOperation operation, Entry entry) {
		this.operation = operation;
		this.entry = entry;
	}

	@Override
	public synchronized void failed(int position, Failed why) {
		if (!this.isDecided) {
			this.before.add(() -> report(position, why));
		}
		else if (this.mayHappen) {
			report(position, why);
		}
	}

	@Override
	public synchronized void decided(Tally tally) {
		this.isDecided = true;
		this.mayHappen = tally.decision() == Decision.REACHED
				|| OperationFailures.ofStores(this.operation.set, tally).mayHaveHappened();
		if (this.mayHappen) {
			this.before.forEach(Runnable::run);
		}
	}

	private void report(int position, Failed why) {
		this.operation.node.missedStores.missed(this.operation.set.at(position).member(), this.operation.key,
				this.entry, why.reason());
	}

}
