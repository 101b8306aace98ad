package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file beside the data which records that a compaction found a damaged table.
 * <p>
 * RocksDB then takes no more writes, and a compaction would find the table again after
 * every start. With the mark, the store is opened without compactions. Entries in the
 * damaged block answer errors; all others are served and written. That lasts until an
 * operator restores the data and removes the file.
 */
final class DamageMarker {

	static final String FILE = "DAMAGED";

	private static final Logger logger = LoggerFactory.getLogger(DamageMarker.class);

	private final Path file;

	DamageMarker(Path directory) {
		this.file = directory.resolve(FILE);
	}

	boolean isSet() {
		return Files.exists(this.file);
	}

	/** Sets the mark. If that fails, the next start meets the damage again. */
	void set(String what) {
		try {
			Files.writeString(this.file, what + System.lineSeparator());
		}
		catch (IOException ex) {
			logger.warn("The mark {} could not be written: {}", this.file, ex.toString());
		}
	}

	/** Logs what the mark means and what to do. */
	void warn() {
		logger.warn("The data is damaged: {} says where. Entries in damaged blocks answer errors, the others are "
				+ "served; compactions are off, so the data grows. Restore the data from a backup, or remove the "
				+ "file once the damage is mended.", this.file);
	}

}
