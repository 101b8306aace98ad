package io.kvorum.storage.rocksdb;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.KeyHash;
import io.kvorum.storage.Digests;
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
 */
final class DigestBuild implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DigestBuild.class);

	/** What takes longer is told. */
	private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final RocksIterator rows;

	private final KeyHash hashes;

	private final Digests digests;

	private final int factor;

	private final TimeSource time;

	/** The row that was added last: a round goes on where the one before has failed. */
	private byte[] last = {};

	private long added;

	/** Of what is stored now: to be made before the committer starts. */
	DigestBuild(Database database, KeyHash hashes, Digests digests, TimeSource time) {
		this.rows = database.db.newIterator(database.index, database.scan);
		this.hashes = hashes;
		this.digests = digests;
		this.factor = database.format.factor();
		this.time = time;
	}

	/**
	 * Blocks; ends early where the thread is interrupted. By one thread at a time. Gives
	 * up where the index is damaged: trying again would meet the same damage, and keep
	 * the tables of the start on the disk for as long as the node runs.
	 */
	void run() {
		long started = this.time.nanos();
		try {
			if (addAll()) {
				this.digests.completed();
				close();
				say(this.time.nanos() - started);
			}
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw new Unreadable(ex);
			}
			close();
			logger.error(
					"The index of partitions is damaged: this node compares itself with no other one and answers "
							+ "none that does. Start it with an empty directory to have it rebuilt by the others: {}",
					ex.getMessage());
		}
	}

	/** Whether all has been added. */
	private boolean addAll() throws RocksDBException {
		for (seekBehindLast(); this.rows.isValid(); this.rows.next()) {
			if (Thread.currentThread().isInterrupted()) {
				return false;
			}
			add(this.rows.key(), this.rows.value());
		}
		// An iterator that meets damage just ends.
		this.rows.status();
		return true;
	}

	private void seekBehindLast() {
		if (this.last.length == 0) {
			this.rows.seekToFirst();
		}
		else {
			this.rows.seek(Arrays.copyOf(this.last, this.last.length + 1));
		}
	}

	private void add(byte[] row, byte[] value) {
		this.digests.toggle(this.hashes.of(IndexRow.keyOf(row)), IndexRow.version(value),
				IndexRow.copies(value, this.factor));
		this.last = row;
		this.added++;
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
	}

}
