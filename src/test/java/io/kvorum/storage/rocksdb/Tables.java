package io.kvorum.storage.rocksdb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDBException;

/** The table files of a store that is closed, by column. */
final class Tables {

	private Tables() {
	}

	/** Flips a bit in the first block of each table of a column. */
	static void damage(Path directory, String column) throws RocksDBException {
		List<Path> tables;
		try (Database database = Database.open(TestSettings.of(directory))) {
			tables = database.db.getLiveFilesMetaData()
				.stream()
				.filter(table -> new String(table.columnFamilyName(), StandardCharsets.US_ASCII).equals(column))
				.map(LiveFileMetaData::fileName)
				.map(name -> directory.resolve(name.substring(name.lastIndexOf('/') + 1)))
				.toList();
		}
		tables.forEach(table -> Disk.flipBit(table, 4));
	}

}
