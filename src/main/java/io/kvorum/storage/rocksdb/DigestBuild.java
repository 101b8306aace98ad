package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StorageException.Unreadable;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds all stored entries to the digests of a store that was opened, while the store is
 * in use. Needed unless there are {@link SavedDigests}: after a kill.
 * <p>
 * It reads the entries as they were before the first write, by an iterator created then;
 * the committer adds later writes. Both only toggle entries, so their order does not
 * matter. Rejected: a snapshot, from which new iterators could be created. When a
 * snapshot is released, RocksDB rewrites all tables that it could not clear of old
 * versions meanwhile. That would follow every start, for all columns.
 * <p>
 * It steps over damaged entries. The index names their keys, so it is known in which
 * partitions some are missing: their digests then equal those of no other store.
 */
final class DigestBuild implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DigestBuild.class);

	/** A build that takes longer is logged. */
	private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Database database;

	private final RocksIterator entries;

	private final KeyHash hashes;

	private final Digests digests;

	/** The identity of the store. */
	private final long identity;

	private final IndexDamage damage;

	private final TimeSource time;

	/** Where it reads on: behind the last entry, or behind damage. */
	private byte[] next = {};

	/** What could not be read. */
	private final List<Gap> gaps = new ArrayList<>();

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	private long added;

	/** A build over what is stored now. Create it before the committer starts. */
	DigestBuild(Database database, KeyHash hashes, Digests digests, long identity, IndexDamage damage,
			TimeSource time) {
		this.database = database;
		this.entries = database.db.newIterator(database.entries, database.scan);
		this.hashes = hashes;
		this.digests = digests;
		this.identity = identity;
		this.damage = damage;
		this.time = time;
	}

	/** Blocks; ends early if the thread is interrupted. By one thread at a time. */
	void run() {
		long started = this.time.nanos();
		try {
			if (addEntries() && (this.gaps.isEmpty() || markGaps())) {
				this.digests.completed();
				close();
				say(this.time.nanos() - started);
			}
		}
		catch (RocksDBException ex) {
			throw new Unreadable(ex);
		}
	}

	/**
	 * Adds all entries that can be read, after those of earlier calls; false if it was
	 * interrupted.
	 */
	private boolean addEntries() throws RocksDBException {
		do {
			for (this.entries.seek(this.next); this.entries.isValid(); this.entries.next()) {
				if (Thread.currentThread().isInterrupted()) {
					return false;
				}
				add(this.entries.key());
			}
		}
		while (stepOverDamage());
		return true;
	}

	private void add(byte[] key) {
		long hash = this.hashes.of(Key.of(key));
		int length = this.entries.value(this.head);
		try {
			this.digests.toggle(hash, EntryFormat.versionOf(this.head, length),
					EntryFormat.copiesOf(this.head, length, this.database.format.factor()));
			this.added++;
		}
		catch (DamagedEntryException _) {
			// A read or write of the entry fails.
		}
		this.next = CollectorReader.behind(key);
	}

	/** False at the end of all entries, and of those that can be read. */
	private boolean stepOverDamage() throws RocksDBException {
		try {
			// An iterator that meets damage just ends.
			this.entries.status();
			return false;
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			this.damage.metInEntries(ex);
			byte[] behind = CollectorReader.behindDamage(this.database, this.next);
			this.gaps.add(new Gap(this.next, behind));
			if (behind == null) {
				return false;
			}
			this.next = behind;
			return true;
		}
	}

	/** Marks the partitions of keys in gaps; false if it was interrupted. */
	private boolean markGaps() throws RocksDBException {
		int partition = 0;
		try (RocksIterator rows = this.database.db.newIterator(this.database.index, this.database.scan)) {
			for (rows.seekToFirst(); partition < Partitions.COUNT;) {
				if (Thread.currentThread().isInterrupted()) {
					return false;
				}
				if (rows.isValid()) {
					byte[] row = rows.key();
					partition = IndexRow.partitionOf(row);
					if (partition < Partitions.COUNT && isInGap(IndexRow.keyOf(row))) {
						mark(partition);
					}
					rows.next();
				}
				else if (isDamaged(rows)) {
					mark(partition);
					partition++;
					rows.seek(IndexRow.bound(partition));
				}
				else {
					return true;
				}
			}
		}
		return true;
	}

	private boolean isDamaged(RocksIterator rows) throws RocksDBException {
		try {
			rows.status();
			return false;
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			this.damage.met(ex);
			return true;
		}
	}

	private boolean isInGap(byte[] key) {
		return this.gaps.stream().anyMatch(gap -> gap.has(key));
	}

	private void mark(int partition) {
		this.digests.unknown(partition, Digests.mix(this.identity + partition));
	}

	private void say(long nanos) {
		if (nanos > LONG_NANOS) {
			logger.info("The digests of {} entries were made in {} ms", this.added,
					TimeUnit.NANOSECONDS.toMillis(nanos));
		}
	}

	/**
	 * Releases the tables that it reads; idempotent. Must not be called while it runs.
	 */
	@Override
	public void close() {
		this.entries.close();
	}

	/** Keys that could not be read. */
	private static final class Gap {

		/** Inclusive. */
		private final byte[] from;

		/** Exclusive; null for all behind. */
		private final byte @Nullable [] to;

		Gap(byte[] from, byte @Nullable [] to) {
			this.from = from;
			this.to = to;
		}

		boolean has(byte[] key) {
			return Arrays.compareUnsigned(key, this.from) >= 0
					&& (this.to == null || Arrays.compareUnsigned(key, this.to) < 0);
		}

	}

}
