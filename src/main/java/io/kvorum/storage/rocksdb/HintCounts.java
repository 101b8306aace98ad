package io.kvorum.storage.rocksdb;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.kv.Version;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.HintLog.Waiting;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The number of hints that wait for each node. Read when the store is opened, changed by
 * the committer's thread, read by any thread.
 * <p>
 * A node's count has a lower bound of the versions of its hints. When the hint with that
 * version is removed, the next one is searched from there on, so removed rows are never
 * scanned twice.
 */
final class HintCounts {

	private static final Logger logger = LoggerFactory.getLogger(HintCounts.class);

	private final Map<Long, Count> counts = new ConcurrentHashMap<>();

	/** The nodes whose oldest hint was removed. */
	private final Set<Long> unsettled = new HashSet<>();

	private HintCounts() {
	}

	/**
	 * Counts the stored hints. If some cannot be read, all are dropped: hints are best
	 * effort, and anti-entropy repairs what they would.
	 */
	static HintCounts read(Database database) throws RocksDBException {
		try {
			return count(database);
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			logger.warn("The stored hints are damaged, and all were dropped; anti-entropy repairs what they would have "
					+ "handed over: {}", ex.getMessage());
			database.db.deleteRange(database.hints, database.synced, new byte[0], HintRow.end());
			return new HintCounts();
		}
	}

	private static HintCounts count(Database database) throws RocksDBException {
		HintCounts read = new HintCounts();
		try (RocksIterator iterator = database.db.newIterator(database.hints, database.scan)) {
			for (iterator.seek(HintRow.keys()); iterator.isValid(); iterator.next()) {
				byte[] waiting = iterator.value();
				byte[] row = iterator.key();
				read.added(HintRow.target(row), HintRow.waitingVersion(waiting),
						HintLog.bytes(HintRow.keyLength(row), HintRow.waitingLength(waiting)));
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		return read;
	}

	void added(long target, Version version, int bytes) {
		Count count = this.counts.getOrDefault(target, Count.NONE);
		Version oldest = count.oldest.isNewerThan(version) ? version : count.oldest;
		this.counts.put(target, new Count(count.hints + 1, count.bytes + bytes, oldest));
	}

	void removed(long target, Version version, int bytes) {
		Count count = this.counts.getOrDefault(target, Count.NONE);
		if (count.hints <= 1) {
			this.counts.remove(target);
			return;
		}
		this.counts.put(target, new Count(count.hints - 1, count.bytes - bytes, count.oldest));
		if (version.equals(count.oldest)) {
			this.unsettled.add(target);
		}
	}

	void emptied(long target) {
		this.counts.remove(target);
	}

	/** Finds the oldest remaining hints of nodes whose oldest hint was removed. */
	void settle(Database database) {
		for (long target : this.unsettled) {
			Count count = this.counts.get(target);
			Version oldest = (count != null) ? oldestFrom(database, target, count.oldest) : null;
			if (count != null && oldest != null) {
				this.counts.put(target, new Count(count.hints, count.bytes, oldest));
			}
		}
		this.unsettled.clear();
	}

	private static @Nullable Version oldestFrom(Database database, long target, Version from) {
		try (Slice upper = new Slice(HintRow.dataEnd(target));
				ReadOptions options = new ReadOptions(database.fromAnywhere).setIterateUpperBound(upper);
				RocksIterator iterator = database.db.newIterator(database.hints, options)) {
			iterator.seek(HintRow.dataFrom(target, from));
			// If it cannot be read, the old bound still holds; readers of the hints get
			// the error.
			return iterator.isValid() ? HintRow.version(iterator.key()) : null;
		}
	}

	Waiting waiting(long target) {
		Count count = this.counts.get(target);
		return (count != null) ? new Waiting(count.hints, count.bytes, count.oldest.millis()) : Waiting.NONE;
	}

	/** A version that none of the node's hints is older than; null if there are none. */
	@Nullable Version oldest(long target) {
		Count count = this.counts.get(target);
		return (count != null) ? count.oldest : null;
	}

	Set<Long> targets() {
		return Set.copyOf(this.counts.keySet());
	}

	private record Count(long hints, long bytes, Version oldest) {

		/** The count without hints. Its version is newer than that of any hint. */
		static final Count NONE = new Count(0, 0, new Version(-1, -1));

	}

}
