package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

import io.kvorum.storage.Checkpoints;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;

/**
 * Copies of a store by RocksDB's checkpoints. A checkpoint first writes the memtables to
 * tables, so writes that only the operating system has are on disk too. It also takes
 * what has entered the log meanwhile.
 */
final class RocksCheckpoints implements Checkpoints {

	/**
	 * The limit of open tables. By default RocksDB opens all, with their indexes in
	 * memory.
	 */
	private static final int MAX_OPEN_FILES = 64;

	private final StoreGate gate;

	private final RocksSettings settings;

	private final LongSupplier identities;

	RocksCheckpoints(StoreGate gate, RocksSettings settings, LongSupplier identities) {
		this.gate = gate;
		this.settings = settings;
		this.identities = identities;
	}

	@Override
	public void checkpoint(Path directory) {
		if (!this.gate.enter()) {
			throw StoreGate.notOpen();
		}
		try (Checkpoint checkpoint = Checkpoint.create(this.gate.opened().database().db)) {
			checkpoint.createCheckpoint(directory.toString());
		}
		catch (RocksDBException ex) {
			throw failed("The store could not be copied to %s", directory, ex);
		}
		finally {
			this.gate.leave();
		}
	}

	@Override
	public long verify(Path directory, LongConsumer pace) {
		NativeLibrary.load();
		List<ColumnFamilyHandle> handles = new ArrayList<>();
		try (DBOptions options = readOnly();
				ColumnFamilyOptions columns = new ColumnFamilyOptions();
				RocksDB database = RocksDB.openReadOnly(options, directory.toString(), descriptors(directory, columns),
						handles)) {
			try {
				readTables(database.getLiveFilesMetaData(), pace);
				return database.getLatestSequenceNumber();
			}
			finally {
				handles.forEach(ColumnFamilyHandle::close);
			}
		}
		catch (RocksDBException ex) {
			throw failed("The copy of the store in %s cannot be read", directory, ex);
		}
	}

	/**
	 * Verifies tables one by one. {@code verifyChecksum()} of a database does the same
	 * but cannot be slowed down. A rate limiter counts only reads whose options name a
	 * priority, which the Java API cannot set.
	 */
	private static void readTables(List<LiveFileMetaData> tables, LongConsumer pace) throws RocksDBException {
		try (Options options = new Options().setTableFormatConfig(new BlockBasedTableConfig().setNoBlockCache(true))) {
			for (LiveFileMetaData table : tables) {
				pace.accept(table.size());
				try (SstFileReader reader = new SstFileReader(options)) {
					reader.open(table.path() + table.fileName());
					reader.verifyChecksum();
				}
			}
		}
	}

	/**
	 * Options for opening a copy read-only, with those that the Java API lacks. If a
	 * store tracks its logs, RocksDB aborts the process when it opens that store
	 * read-only without the same option.
	 */
	private static DBOptions readOnly() {
		return DBOptions.getDBOptionsFromProps(Database.notInJava())
			.setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
			.setParanoidChecks(true)
			.setMaxOpenFiles(MAX_OPEN_FILES)
			.setInfoLogLevel(InfoLogLevel.FATAL_LEVEL);
	}

	/** The columns that exist: older versions had fewer. */
	private static List<ColumnFamilyDescriptor> descriptors(Path directory, ColumnFamilyOptions columns)
			throws RocksDBException {
		try (Options options = new Options()) {
			return RocksDB.listColumnFamilies(options, directory.toString())
				.stream()
				.map(name -> new ColumnFamilyDescriptor(name, columns))
				.toList();
		}
	}

	@Override
	public void adopt(Path directory, UnaryOperator<Map<String, byte[]>> records) {
		try (Database database = Database.open(this.settings.on(directory)); WriteBatch changes = new WriteBatch()) {
			Map<String, byte[]> before = NodeFacts.read(database, this.identities).records();
			for (String name : before.keySet()) {
				changes.delete(database.meta, NodeFacts.rowOf(name));
			}
			for (Map.Entry<String, byte[]> record : records.apply(new HashMap<>(before)).entrySet()) {
				changes.put(database.meta, NodeFacts.rowOf(record.getKey()), record.getValue());
			}
			changes.put(database.meta, NodeFacts.IDENTITY, NodeFacts.bytes(this.identities.getAsLong()));
			database.db.write(database.synced, changes);
			database.flush();
		}
		catch (RocksDBException ex) {
			throw failed("The copy of the store in %s cannot be made a store", directory, ex);
		}
	}

	private static CheckpointException failed(String what, Path directory, RocksDBException ex) {
		return new CheckpointException("%s: %s".formatted(what.formatted(directory), ex.getMessage()), ex);
	}

}
