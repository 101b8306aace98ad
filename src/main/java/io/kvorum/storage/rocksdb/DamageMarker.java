package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers, in a file beside the data, that a compaction has met a damaged table.
 * RocksDB takes no more writes after that, and a compaction would meet it again after
 * every start. With the mark the store is opened without compactions: the entries in the
 * damaged block are errors, all others are served and written, until an operator restores
 * the data and removes the file.
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

	/** Sets the mark; where that fails, the next start meets the damage again. */
	void set(String what) {
		try {
			Files.writeString(this.file, what + System.lineSeparator());
		}
		catch (IOException ex) {
			logger.warn("The mark {} could not be written: {}", this.file, ex.toString());
		}
	}

	/** Tells an operator what it means. */
	void warn() {
		logger.warn("The data is damaged: {} says where. Entries in damaged blocks answer errors, the others are "
				+ "served; compactions are off, so the data grows. Restore the data from a backup, or remove the "
				+ "file once the damage is mended.", this.file);
	}

}
