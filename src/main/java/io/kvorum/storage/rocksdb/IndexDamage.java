package io.kvorum.storage.rocksdb;

import java.util.concurrent.atomic.AtomicReference;

import io.kvorum.storage.StorageEvents;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Damage that keeps partitions from being compared. Index rows are derived from the
 * entries, so no data is lost. Their damage is recorded, and the {@link IndexBuilder}
 * rebuilds the index at the next start. Thread-safe.
 */
final class IndexDamage {

	private static final Logger logger = LoggerFactory.getLogger(IndexDamage.class);

	private static final String UNTIL_RESTART = "The partition index is damaged: entries in the affected partitions "
			+ "are neither compared nor repaired. Restart this node, which then rebuilds the index from its entries. "
			+ "Do not empty its directory";

	private static final String STAYS = "The partition index is damaged, and so are entries, so the index cannot be "
			+ "rebuilt: entries in the affected partitions are neither compared nor repaired. Replace the disk once "
			+ "all other nodes are members";

	private static final String OF_ENTRIES = "Entries are damaged: those in the affected partitions are neither "
			+ "compared nor repaired. Replace the disk once all other nodes are members";

	private final StorageEvents events;

	/** Records that the next start has to rebuild the index. */
	private final Runnable record;

	private final AtomicReference<@Nullable String> found = new AtomicReference<>();

	IndexDamage(StorageEvents events, Runnable record) {
		this.events = events;
		this.record = record;
	}

	/** Takes an error of reading a row; ignores it unless that is damage. */
	void met(RocksDBException ex) {
		if (Failures.isDamage(ex) && tell(UNTIL_RESTART, ex)) {
			this.record.run();
		}
	}

	/** Takes damage of entries, which keeps the index from being rebuilt. */
	void stays(RocksDBException ex) {
		tell(STAYS, ex);
	}

	/** Takes damage of entries that the digests are made of. */
	void metInEntries(RocksDBException ex) {
		tell(OF_ENTRIES, ex);
	}

	private boolean tell(String what, RocksDBException ex) {
		boolean isNew = this.found.compareAndSet(null, what);
		if (isNew) {
			this.events.unreadable();
			logger.error("{}: {}", what, ex.getMessage());
		}
		return isNew;
	}

	/** The damage and what to do, for an operator; null if none was found. */
	@Nullable String found() {
		return this.found.get();
	}

}
