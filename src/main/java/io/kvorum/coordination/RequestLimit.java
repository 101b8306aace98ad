package io.kvorum.coordination;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.coordination.CoordinationSettings.Idempotency;
import io.kvorum.kv.Key;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.OperationFailures;

/**
 * Bounds the records of requests: those that this node makes within the time for which
 * they are kept. Also knows which requests are under way here. Thread-safe.
 */
final class RequestLimit {

	/**
	 * The parts into which the time is divided; a record counts until its part is over.
	 */
	private static final int PARTS = 60;

	private final TimeSource time;

	private final long partNanos;

	private final int max;

	/** The keys of the records of requests under way. */
	private final Set<Key> underWay = ConcurrentHashMap.newKeySet();

	/** The records made in each part of the time. Guarded by this, as what follows. */
	private final int[] made = new int[PARTS + 1];

	/** The number of the current part. */
	private long part;

	private int total;

	RequestLimit(TimeSource time, Idempotency settings) {
		this.time = time;
		this.partNanos = Math.max(1, settings.retention().toNanos() / PARTS);
		this.max = settings.maxRecords();
		this.part = time.nanos() / this.partNanos;
	}

	/** Begins a request; false if the same one is under way here. */
	boolean begin(Key request) {
		return this.underWay.add(request);
	}

	void end(Key request) {
		this.underWay.remove(request);
	}

	/** Counts a new record; false if there are too many. */
	synchronized boolean tryMake() {
		forget();
		if (this.total >= this.max) {
			return false;
		}
		this.made[place(this.part)]++;
		this.total++;
		return true;
	}

	/**
	 * Takes back what {@link #tryMake} has just counted: the record was not made. If the
	 * part of the time has changed in between, one record too few counts for that long.
	 */
	synchronized void unmake() {
		forget();
		this.made[place(this.part)]--;
		this.total--;
	}

	/** The failure of a write for whose record there is no room. */
	OperationFailedException exhausted(int required, Member self) {
		return OperationFailures.notBegun(required, self, Failed.notDone(Reason.OVERLOADED,
				"within kvorum.idempotency.retention this node takes %d writes with an Idempotency-Key, the limit kvorum.idempotency.max-records"
					.formatted(this.max)));
	}

	/** The records that count now. */
	synchronized int size() {
		forget();
		return this.total;
	}

	private void forget() {
		long now = this.time.nanos() / this.partNanos;
		for (long next = Math.max(this.part, now - this.made.length) + 1; next <= now; next++) {
			this.total -= this.made[place(next)];
			this.made[place(next)] = 0;
		}
		this.part = now;
	}

	private int place(long number) {
		return Math.floorMod(number, this.made.length);
	}

}
