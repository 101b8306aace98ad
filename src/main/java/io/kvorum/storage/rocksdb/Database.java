package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import java.util.Set;

import io.kvorum.storage.StoreOpenException;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * An open database with every native handle that belongs to it. Closing frees them in the
 * right order. A caller must be sure that it is open, see {@link StoreGate}.
 */
final class Database implements AutoCloseable {

	/**
	 * The least size of a shard of the cache. Each shard has its own lock, and there are
	 * at most 2^6. Memtables are charged to shards at random in pieces of 256 KB, and a
	 * block as large as a shard is never kept. RocksDB's own choice, from 512 KB on, is
	 * too small for a small cache.
	 */
	private static final long MIN_SHARD_BYTES = 4 << 20;

	private static final int MAX_SHARD_BITS = 6;

	/**
	 * The part of the cache that indexes and filters may fill before data pushes them
	 * out.
	 */
	private static final double FOR_INDEXES_AND_FILTERS = 0.5;

	private static final int BLOOM_BITS_PER_KEY = 10;

	/** RocksDB's own log: files kept, and the size of each. */
	private static final int INFO_LOG_FILES = 3;

	private static final long INFO_LOG_BYTES = 4 << 20;

	/**
	 * All columns, in the order of their numbers. The last one is empty: a release that
	 * does not know {@link StoreFormat} opens no store with an unknown column.
	 */
	static final List<String> COLUMNS = List.of("default", "entries", "expiries", "meta", "index", "tombstones",
			"hints", "store-format");

	/** The columns whose rows are never read one by one. */
	private static final Set<String> WALKED = Set.of("index", "tombstones");

	private final Deque<AutoCloseable> handles = new ArrayDeque<>();

	/** Key → entry. */
	final ColumnFamilyHandle entries;

	/** Expiries without a value; one for each entry that expires, or did. */
	final ColumnFamilyHandle expiries;

	/**
	 * The facts about each entry, by partition; see {@link IndexRow}. Replaced by
	 * {@link #clearIndex()}.
	 */
	ColumnFamilyHandle index;

	private final ColumnFamilyOptions walked;

	/** Tombstones by version; see {@link TombstoneRow}. */
	final ColumnFamilyHandle tombstones;

	/** The writes that other nodes have not acknowledged; see {@link HintRow}. */
	final ColumnFamilyHandle hints;

	/** The facts that the node remembers about itself. */
	final ColumnFamilyHandle meta;

	/** The format of all rows. */
	final StoreFormat format;

	final RocksDB db;

	final Statistics statistics;

	final Cache cache;

	/** Reads that do not leave memory. */
	final ReadOptions fromMemory;

	/** Reads from wherever it is. */
	final ReadOptions fromAnywhere;

	/** Reads of many entries that should not push others out of the cache. */
	final ReadOptions scan;

	final WriteOptions synced;

	final WriteOptions unsynced;

	/** Whether it was opened without compactions because a table is damaged. */
	final boolean damaged;

	/**
	 * Opens the database of a directory, which is made where it is missing.
	 * @throws StoreOpenException if that cannot be done
	 */
	static Database open(RocksSettings settings) {
		NativeLibrary.load();
		try {
			Files.createDirectories(settings.path());
			return new Database(settings);
		}
		catch (IOException ex) {
			throw new StoreOpenException("The data directory %s cannot be made: %s".formatted(settings.path(), ex),
					"Make it writable for this user, or set kvorum.storage.path to one that is.", ex);
		}
		catch (RocksDBException ex) {
			throw Failures.opening(settings.path(), ex);
		}
	}

	private Database(RocksSettings settings) throws RocksDBException {
		try {
			DamageMarker marker = new DamageMarker(settings.path());
			this.damaged = marker.isSet();
			if (this.damaged) {
				marker.warn();
			}
			this.cache = own(new LRUCache(settings.cacheBytes(), shardBits(settings.cacheBytes()), false,
					FOR_INDEXES_AND_FILTERS));
			this.statistics = own(new Statistics());
			this.statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
			DBOptions options = options(settings);
			ColumnFamilyOptions columns = columns(settings);
			this.walked = walkedColumns(settings);
			List<ColumnFamilyHandle> opened = new ArrayList<>();
			this.db = RocksDB.open(options, settings.path().toString(),
					COLUMNS.stream().map(name -> column(name, WALKED.contains(name) ? this.walked : columns)).toList(),
					opened);
			own(this.db);
			opened.forEach(this::own);
			this.entries = opened.get(1);
			this.expiries = opened.get(2);
			this.meta = opened.get(3);
			this.index = opened.get(4);
			this.tombstones = opened.get(5);
			this.hints = opened.get(6);
			this.fromMemory = own(new ReadOptions().setReadTier(ReadTier.BLOCK_CACHE_TIER));
			this.fromAnywhere = own(new ReadOptions());
			this.scan = own(new ReadOptions().setFillCache(false));
			this.synced = own(new WriteOptions().setSync(true));
			this.unsynced = own(new WriteOptions());
			this.format = StoreFormat.of(this, settings);
		}
		catch (RocksDBException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	private static int shardBits(long cacheBytes) {
		long shards = Math.max(1, cacheBytes / MIN_SHARD_BYTES);
		return Math.min(MAX_SHARD_BITS, Long.SIZE - 1 - Long.numberOfLeadingZeros(shards));
	}

	private DBOptions options(RocksSettings settings) {
		DBOptions options = own(DBOptions.getDBOptionsFromProps(notInJava()));
		return options.setCreateIfMissing(true)
			.setCreateMissingColumnFamilies(true)
			// The default, point in time, drops every write behind a damaged one in
			// silence.
			.setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
			.setParanoidChecks(true)
			.setMaxOpenFiles(settings.maxOpenFiles())
			.setWriteBufferManager(own(new WriteBufferManager(settings.memtableBytes(), this.cache)))
			.setMaxTotalWalSize(4 * settings.memtableBytes())
			.setMaxBackgroundJobs(Math.max(2, Runtime.getRuntime().availableProcessors() / 2))
			.setBytesPerSync(1 << 20)
			.setAvoidUnnecessaryBlockingIO(true)
			.setStatistics(this.statistics)
			.setStatsDumpPeriodSec(0)
			.setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
			.setKeepLogFileNum(INFO_LOG_FILES)
			.setMaxLogFileSize(INFO_LOG_BYTES);
	}

	/** Options that only the native side knows. */
	static Properties notInJava() {
		Properties properties = new Properties();
		// A synced log that has gone missing stops the start instead of shortening
		// history.
		properties.setProperty("track_and_verify_wals_in_manifest", "true");
		return properties;
	}

	private ColumnFamilyOptions columns(RocksSettings settings) {
		return columns(settings, table().setFilterPolicy(own(new BloomFilter(BLOOM_BITS_PER_KEY))))
			.setMemtablePrefixBloomSizeRatio(0.05)
			.setMemtableWholeKeyFiltering(true);
	}

	/**
	 * The options of columns whose rows are never read one by one: filters are of no use.
	 */
	private ColumnFamilyOptions walkedColumns(RocksSettings settings) {
		return columns(settings, table());
	}

	/**
	 * Splits indexes and filters into parts of a block's size. The whole ones of a large
	 * table have more than a megabyte, which is read for each key if they are not cached.
	 */
	private BlockBasedTableConfig table() {
		return new BlockBasedTableConfig().setBlockCache(this.cache)
			.setIndexType(IndexType.kTwoLevelIndexSearch)
			.setPartitionFilters(true)
			.setCacheIndexAndFilterBlocks(true)
			.setCacheIndexAndFilterBlocksWithHighPriority(true)
			.setPinL0FilterAndIndexBlocksInCache(true);
	}

	private ColumnFamilyOptions columns(RocksSettings settings, BlockBasedTableConfig table) {
		return own(new ColumnFamilyOptions()).setTableFormatConfig(table)
			.setDisableAutoCompactions(this.damaged)
			.setWriteBufferSize(settings.memtableBytes() / 2)
			.setMaxWriteBufferNumber(4)
			.setLevelCompactionDynamicLevelBytes(true)
			.setCompressionType(CompressionType.LZ4_COMPRESSION)
			.setBottommostCompressionType(CompressionType.ZSTD_COMPRESSION);
	}

	private static ColumnFamilyDescriptor column(String name, ColumnFamilyOptions options) {
		return new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.US_ASCII), options);
	}

	/**
	 * Drops the index with its tables, which need not be readable, and makes an empty
	 * one. If the process ends in between, the next start makes it. To be called before
	 * the index is used.
	 */
	void clearIndex() throws RocksDBException {
		this.db.dropColumnFamily(this.index);
		// Its tables go with the last handle.
		this.index.close();
		this.index = own(this.db.createColumnFamily(column("index", this.walked)));
	}

	private <T extends AutoCloseable> T own(T handle) {
		this.handles.push(handle);
		return handle;
	}

	/**
	 * Writes memtables to tables, so that the next start finds no log to replay: closing
	 * alone leaves that to the next start.
	 */
	void flush() throws RocksDBException {
		try (FlushOptions waiting = new FlushOptions()) {
			this.db.flush(waiting,
					List.of(this.entries, this.expiries, this.meta, this.index, this.tombstones, this.hints));
		}
	}

	/** Frees everything, last opened first. */
	@Override
	public void close() {
		for (AutoCloseable handle : this.handles) {
			try {
				handle.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("a native handle could not be freed", ex);
			}
		}
		this.handles.clear();
	}

	/** The file that keeps other processes out of a directory. */
	static Path lockOf(Path path) {
		return path.resolve("LOCK");
	}

}
