package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.TombstoneRecord;

/**
 * Decides which tombstones can be collected. If one goes too early, an older value comes
 * back. So all of this has to hold:
 * <ul>
 * <li>The tombstone is older than the grace time. Hints are thrown away before they get
 * that old. A node that was away for so long, or has so old a disk, is rebuilt before it
 * may vote. So neither brings back anything older than the tombstone.
 * <li>A repair with each other member began after the tombstone came here. All members
 * that had something older of the key now have the tombstone, or something newer. Members
 * that are no replicas of the key count too: they were, if an earlier write asked for
 * more copies.
 * <li>No hint that waits here is older, or as old.
 * </ul>
 * Only the first point compares the clocks of different nodes. The margins of hints and
 * absences are larger than the difference of their clocks.
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

	/** The instant before which a version is older than the grace time. */
	long graceEndMillis() {
		return this.time.millis() - this.grace.toMillis();
	}

	/** Decides on a tombstone that is older than the grace time. */
	Verdict of(TombstoneRecord tombstone) {
		EntryHeader header = tombstone.header();
		int slice = Partitions.sliceOf(Partitions.ofHash(this.hash.of(header.key())));
		if (this.log.repairedWithAll(slice) <= tombstone.sinceMillis()) {
			return Verdict.WAITS_FOR_REPAIR;
		}
		return (this.oldestHintMillis.getAsLong() <= header.version().millis()) ? Verdict.WAITS_FOR_HINTS
				: Verdict.COLLECT;
	}

	/**
	 * Whether this is a tombstone older than the grace time, which a replica with nothing
	 * of its key can do without.
	 */
	public boolean isOldTombstone(EntryHeader header) {
		return header.tombstone() && header.version().millis() < graceEndMillis();
	}

	/** A decision on a tombstone. */
	public enum Verdict {

		COLLECT, WAITS_FOR_REPAIR, WAITS_FOR_HINTS

	}

}
