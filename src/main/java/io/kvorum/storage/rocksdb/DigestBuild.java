package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.StorageException.Unreadable;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds all stored entries to the digests of a store that was opened, while the store is
 * in use.
 * <p>
 * It reads the store as it was before the first write, by an iterator created then; the
 * committer adds later writes. Both only toggle entries, so their order does not matter.
 * Rejected: a snapshot, from which new iterators could be created. When a snapshot is
 * released, RocksDB rewrites all tables that it could not clear of old versions
 * meanwhile. That would follow every start, for all columns.
 * <p>
 * Partitions with damaged index rows are read from the entries, by a scan of all of them.
 * If entries are damaged too, the content of such a partition is unknown: its digest then
 * equals that of no other store.
 */
final class DigestBuild implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DigestBuild.class);

	/** A build that takes longer is logged. */
	private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final RocksIterator rows;

	/** Read only if rows are damaged. */
	private final RocksIterator entries;

	private final KeyHash hashes;

	private final Digests digests;

	/** The identity of the store. */
	private final long identity;

	private final IndexDamage damage;

	private final int factor;

	private final TimeSource time;

	/** The partition being read; after a failure the next round continues there. */
	private int partition;

	/** The headers read of that partition. */
	private final List<EntryHeader> read = new ArrayList<>();

	private final BitSet damaged = new BitSet();

	/** The key of the last entry that was read. */
	private byte[] lastEntry = {};

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	private long added;

	/** A build over what is stored now. Create it before the committer starts. */
	DigestBuild(Database database, KeyHash hashes, Digests digests, long identity, IndexDamage damage,
			TimeSource time) {
		this.rows = database.db.newIterator(database.index, database.scan);
		this.entries = database.db.newIterator(database.entries, database.scan);
		this.hashes = hashes;
		this.digests = digests;
		this.identity = identity;
		this.damage = damage;
		this.factor = database.format.factor();
		this.time = time;
	}

	/** Blocks; ends early if the thread is interrupted. By one thread at a time. */
	void run() {
		long started = this.time.nanos();
		try {
			if (addRows() && addEntriesOfDamaged()) {
				this.digests.completed();
				close();
				say(this.time.nanos() - started);
			}
		}
		catch (RocksDBException ex) {
			throw new Unreadable(ex);
		}
	}

	/** Adds the entries of all readable partitions; false if it was interrupted. */
	private boolean addRows() throws RocksDBException {
		this.read.clear();
		this.rows.seek(IndexRow.bound(this.partition));
		while (this.partition < Partitions.COUNT) {
			if (Thread.currentThread().isInterrupted()) {
				return false;
			}
			if (this.rows.isValid()) {
				read(IndexRow.header(this.rows.key(), this.rows.value(), this.factor),
						IndexRow.partitionOf(this.rows.key()));
				this.rows.next();
			}
			else if (!passOverDamage()) {
				begin(Partitions.COUNT);
			}
		}
		return true;
	}

	private void read(EntryHeader header, int of) {
		if (of != this.partition) {
			begin(of);
		}
		this.read.add(header);
	}

	/** Adds all entries of the partition that was read, and begins another one. */
	private void begin(int next) {
		this.read.forEach(header -> add(this.hashes.of(header.key()), header.version(), header.copies()));
		this.read.clear();
		this.partition = next;
	}

	private void add(long hash, Version version, Copies copies) {
		this.digests.toggle(hash, version, copies);
		this.added++;
	}

	/**
	 * Skips a damaged partition; false at the end of the rows. The next partition may be
	 * readable.
	 */
	private boolean passOverDamage() throws RocksDBException {
		try {
			// An iterator that meets damage just ends.
			this.rows.status();
			return false;
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			this.damage.met(ex);
			this.damaged.set(this.partition);
			this.read.clear();
			this.partition++;
			this.rows.seek(IndexRow.bound(this.partition));
			return true;
		}
	}

	/** Adds the entries of partitions with damaged rows; false if it was interrupted. */
	private boolean addEntriesOfDamaged() throws RocksDBException {
		if (this.damaged.isEmpty()) {
			return true;
		}
		for (seekBehindLastEntry(); this.entries.isValid(); this.entries.next()) {
			if (Thread.currentThread().isInterrupted()) {
				return false;
			}
			addEntry(this.entries.key());
		}
		try {
			this.entries.status();
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			this.damaged.stream().forEach(it -> this.digests.unknown(it, Digests.mix(this.identity + it)));
		}
		return true;
	}

	private void seekBehindLastEntry() {
		if (this.lastEntry.length == 0) {
			this.entries.seekToFirst();
		}
		else {
			this.entries.seek(Arrays.copyOf(this.lastEntry, this.lastEntry.length + 1));
		}
	}

	private void addEntry(byte[] key) {
		this.lastEntry = key;
		long hash = this.hashes.of(Key.of(key));
		if (!this.damaged.get(Partitions.ofHash(hash))) {
			return;
		}
		int length = Math.min(this.entries.value(this.head), this.head.length);
		try {
			add(hash, EntryFormat.versionOf(this.head, length), EntryFormat.copiesOf(this.head, length, this.factor));
		}
		catch (DamagedEntryException _) {
			// A read or write of the entry fails.
		}
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
		this.rows.close();
		this.entries.close();
	}

}
