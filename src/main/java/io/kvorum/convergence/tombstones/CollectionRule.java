package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
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
 * <li>Such a repair also began after the last member stopped working with nodes that are
 * still in an earlier change. Operations of those nodes also ask removed nodes, which may
 * give something older to members.
 * <li>No hint that waits here is older, or as old.
 * </ul>
 * Only the first point compares the clocks of different nodes. The margins of hints and
 * absences are larger than the difference of their clocks.
 */
public final class CollectionRule {

	private final RepairLog log;

	private final KeyHash hash;

	private final LongSupplier oldestHintMillis;

	private final BooleanSupplier isEarlierOver;

	private final Duration grace;

	private final Duration requestsKept;

	private final TimeSource time;

	/**
	 * Creates the rule of a node.
	 * @param isEarlierOver whether no member works with nodes in an earlier change; the
	 * log has a fence at that moment
	 * @param requestsKept the time after which the record of a request can go
	 */
	public CollectionRule(RepairLog log, KeyHash hash, LongSupplier oldestHintMillis, BooleanSupplier isEarlierOver,
			Duration grace, Duration requestsKept, TimeSource time) {
		this.log = log;
		this.hash = hash;
		this.oldestHintMillis = oldestHintMillis;
		this.isEarlierOver = isEarlierOver;
		this.grace = grace;
		this.requestsKept = requestsKept;
		this.time = time;
	}

	KeyHash hash() {
		return this.hash;
	}

	/** The instant before which a version is older than the grace time. */
	long graceEndMillis() {
		return this.time.millis() - this.grace.toMillis();
	}

	/** Decides on a tombstone that is older than the grace time. */
	Verdict of(TombstoneRecord tombstone) {
		EntryHeader header = tombstone.header();
		int slice = Partitions.sliceOf(Partitions.ofHash(this.hash.of(header.key())));
		if (!this.isEarlierOver.getAsBoolean() || !this.log.isRepairedSinceFence(slice)
				|| this.log.repairedWithAll(slice) <= tombstone.sinceMillis()) {
			return Verdict.WAITS_FOR_REPAIR;
		}
		return (this.oldestHintMillis.getAsLong() <= header.version().millis()) ? Verdict.WAITS_FOR_HINTS
				: Verdict.COLLECT;
	}

	/**
	 * Whether a replica with nothing of its key can do without this: a tombstone older
	 * than the grace time, or the record of a request that is forgotten.
	 */
	public boolean isDispensable(EntryHeader header) {
		return (header.tombstone() && header.version().millis() < graceEndMillis())
				|| isForgotten(header.key(), header.version());
	}

	/** Whether this is the record of a request that no client can ask for. */
	boolean isForgotten(Key key, Version version) {
		return InternalKeys.isRequest(key) && version.millis() < this.time.millis() - this.requestsKept.toMillis();
	}

	/** A decision on a tombstone. */
	public enum Verdict {

		COLLECT, WAITS_FOR_REPAIR, WAITS_FOR_HINTS

	}

}
