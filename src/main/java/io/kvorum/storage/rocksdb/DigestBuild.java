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
 * Brings what is stored into the digests of a store that was opened, while it is used.
 * <p>
 * It reads the store as it was before the first write, by an iterator that was made then;
 * the committer sees to all that is written since. Both only toggle, so that their order
 * does not matter and neither knows of the other. Rejected: a snapshot, which iterators
 * could be made of again; when it is released, RocksDB rewrites all tables that it could
 * not clear of old versions meanwhile, those of other columns too, after every start.
 * <p>
 * Partitions with damaged rows of the index are read from the entries, all of which are
 * looked at for that. If entries are damaged too, the content of such a partition is
 * unknown: its digest equals that of no other store.
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

	/** The partition that is being read: a round goes on where the one before failed. */
	private int partition;

	/** The headers that were read of a partition. */
	private final List<EntryHeader> read = new ArrayList<>();

	/** Partitions with damaged rows. */
	private final BitSet damaged = new BitSet();

	/** The entry that was looked at last. */
	private byte[] lastEntry = {};

	private final byte[] head = new byte[EntryFormat.COPIES_END];

	private long added;

	/** Prepares a build from what is stored now, before the committer starts. */
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

	/** Blocks; ends early where the thread is interrupted. By one thread at a time. */
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

	/** Whether all readable rows have been added. */
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

	/** Adds what was read of the partition, wholly, and begins another one. */
	private void begin(int next) {
		this.read.forEach(header -> add(this.hashes.of(header.key()), header.version(), header.copies()));
		this.read.clear();
		this.partition = next;
	}

	private void add(long hash, Version version, Copies copies) {
		this.digests.toggle(hash, version, copies);
		this.added++;
	}

	/** Whether there was damage, and not the end. The next partition may be readable. */
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

	/** Whether the entries of the damaged partitions have been added. */
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
	 * Lets go of the tables it reads; again does nothing. Not while it runs elsewhere.
	 */
	@Override
	public void close() {
		this.rows.close();
		this.entries.close();
	}

}
