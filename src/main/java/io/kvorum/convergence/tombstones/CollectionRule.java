package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.storage.EntryHeader;

/**
 * Says which tombstones have done their work. One that went too early would let an older
 * value come back, so all of this has to hold:
 * <ul>
 * <li>It is older than the grace time. Hints are thrown away before they get that old,
 * and a node that was away for so long, or whose disk was put back by so much, is rebuilt
 * before it may be believed: neither brings anything older than the tombstone.
 * <li>A repair that began after it had come here has made this replica equal to that of
 * each other member: all that had something older have it, or something newer. Also those
 * that the key does not belong to by this tombstone: it did, if an earlier write asked
 * for more copies.
 * <li>No hint that waits here is older.
 * </ul>
 * Instants of different nodes are compared in the first point only, where the margins of
 * hints and absences are larger than clocks are apart.
 */
public final class CollectionRule {

	private final RepairLog log;

	private final KeyHash hash;

	private final LongSupplier oldestHintMillis;

	private final Duration grace;

	private final TimeSource time;

	public CollectionRule(RepairLog log, KeyHash hash, LongSupplier oldestHintMillis, Duration grace, TimeSource time) {
		this.log = log;
		this.hash = hash;
		this.oldestHintMillis = oldestHintMillis;
		this.grace = grace;
		this.time = time;
	}

	/** Tombstones with a version before this instant are old enough. */
	long graceEndMillis() {
		return this.time.millis() - this.grace.toMillis();
	}

	/** What becomes of a tombstone that is old enough. */
	Verdict of(TombstoneRecord tombstone) {
		EntryHeader header = tombstone.header();
		int slice = Partitions.sliceOf(Partitions.ofHash(this.hash.of(header.key())));
		if (this.log.repairedWithAll(slice) <= tombstone.sinceMillis()) {
			return Verdict.WAITS_FOR_REPAIR;
		}
		return (this.oldestHintMillis.getAsLong() <= header.version().millis()) ? Verdict.WAITS_FOR_HINTS
				: Verdict.COLLECT;
	}

	/** Whether a tombstone is so old that nobody needs it who has nothing of its key. */
	public boolean isOldTombstone(EntryHeader header) {
		return header.tombstone() && header.version().millis() < graceEndMillis();
	}

	/** What becomes of a tombstone. */
	public enum Verdict {

		COLLECT, WAITS_FOR_REPAIR, WAITS_FOR_HINTS

	}

}
