package io.kvorum.storage.rocksdb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDBException;
import org.rocksdb.TableProperties;

/** The table files of a store that is closed, by column. */
final class Tables {

	private Tables() {
	}

	/** Flips a bit in the first part of the filter of each table of entries. */
	static void damageFilters(Path directory) throws RocksDBException {
		Map<String, TableProperties> tables;
		try (Database database = Database.open(TestSettings.of(directory))) {
			tables = database.db.getPropertiesOfAllTables(database.entries);
		}
		// Filters come right behind the data.
		tables.forEach((path, properties) -> Disk.flipBit(Path.of(path), properties.getDataSize() + 4));
	}

	/** Flips a bit in the first block of each table of a column. */
	static void damage(Path directory, String column) throws RocksDBException {
		of(directory, column).forEach(table -> Disk.flipBit(table, 4));
	}

	/** The tables of a column. */
	static List<Path> of(Path directory, String column) throws RocksDBException {
		try (Database database = Database.open(TestSettings.of(directory))) {
			return database.db.getLiveFilesMetaData()
				.stream()
				.filter(table -> new String(table.columnFamilyName(), StandardCharsets.US_ASCII).equals(column))
				.map(LiveFileMetaData::fileName)
				.map(name -> directory.resolve(name.substring(name.lastIndexOf('/') + 1)))
				.toList();
		}
	}

}
