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

import io.kvorum.kv.Version;
import io.kvorum.storage.Durability;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StoreOpenException;
import org.jspecify.annotations.Nullable;
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
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * An open database with all its native handles; closing frees them in the right order.
 * Callers must be sure that it is open, see {@link StoreGate}.
 */
final class Database implements AutoCloseable {

	/**
	 * The least size of a cache shard. Each shard has its own lock; there are at most
	 * 2^6. RocksDB charges memtables to random shards in pieces of 256 KB, and never
	 * keeps a block as large as a shard. Its default, shards from 512 KB on, is too small
	 * for a small cache.
	 */
	private static final long MIN_SHARD_BYTES = 4 << 20;

	private static final int MAX_SHARD_BITS = 6;

	/**
	 * The least number of open tables in a shard of their cache. A shard that has no room
	 * for one of its tables opens it again at each lookup, and loads its whole filter.
	 * RocksDB's default, always 2^6 shards, leaves 8 of 512 tables to each.
	 */
	private static final int MIN_SHARD_FILES = 128;

	/**
	 * The number of flushed tables at which they are compacted into the first level. With
	 * memtables of 64 MB, of which a table is half, eight are as large as that level.
	 */
	private static final int FIRST_LEVEL_TABLES = 8;

	/**
	 * The part of the cache that indexes and filters may fill before data evicts them.
	 */
	private static final double FOR_INDEXES_AND_FILTERS = 0.5;

	private static final int BLOOM_BITS_PER_KEY = 10;

	/**
	 * The number of files of RocksDB's own log; each has at most {@link #INFO_LOG_BYTES}.
	 */
	private static final int INFO_LOG_FILES = 3;

	private static final long INFO_LOG_BYTES = 4 << 20;

	/**
	 * All columns, in the order of their numbers. {@code store-format} is empty: a
	 * release that does not know {@link StoreFormat} refuses a store with an unknown
	 * column.
	 */
	static final List<String> COLUMNS = List.of("default", "entries", "expiries", "meta", "index", "tombstones",
			"hints", "store-format", "promises", "large");

	/**
	 * The columns that are read by keys which may be missing. The others are iterated, or
	 * have a few rows; the filter of a memtable takes a twentieth of its size.
	 */
	private static final Set<String> FILTERED = Set.of("entries", "hints", "promises", "large");

	private final Deque<AutoCloseable> handles = new ArrayDeque<>();

	/** Key → entry; of large ones their beginning. */
	final ColumnFamilyHandle entries;

	/** Large entries; see {@link LargeRow}. */
	final ColumnFamilyHandle large;

	/** An {@link Expiry} for each entry that expires, or did; without values. */
	final ColumnFamilyHandle expiries;

	/**
	 * The keys of all entries, by partition; see {@link IndexRow}. {@link #clearIndex()}
	 * replaces it.
	 */
	ColumnFamilyHandle index;

	private final ColumnFamilyOptions unfiltered;

	/** Tombstones by version; see {@link TombstoneRow}. */
	final ColumnFamilyHandle tombstones;

	/** Entries that other nodes have not acknowledged; see {@link HintRow}. */
	final ColumnFamilyHandle hints;

	/** Promises that the entries do not tell; see {@link PromiseRow}. */
	final ColumnFamilyHandle promises;

	/** Facts about the node; see {@link NodeFacts}. */
	final ColumnFamilyHandle meta;

	final StoreFormat format;

	final RocksDB db;

	final Statistics statistics;

	final Cache cache;

	/** Options of reads from memory only. */
	final ReadOptions fromMemory;

	/** Options of reads from memory or disk. */
	final ReadOptions fromAnywhere;

	/** Options of reads of many entries, which leave the block cache as it is. */
	final ReadOptions scan;

	final WriteOptions synced;

	final WriteOptions unsynced;

	/** Whether it is open without compactions, since a table is damaged. */
	final boolean damaged;

	/**
	 * Opens the database of a directory, which is created if it is missing.
	 * @throws StoreOpenException if that cannot be done
	 */
	static Database open(RocksSettings settings) {
		NativeLibrary.load();
		try {
			Files.createDirectories(settings.path());
			String damage = (settings.durability() == Durability.FSYNC) ? TornLog.damageAtTheEnd(settings.path())
					: null;
			if (damage != null) {
				throw Failures.damaged(settings.path(), damage, null);
			}
			return openTorn(settings);
		}
		catch (IOException ex) {
			throw new StoreOpenException("The data directory %s cannot be made: %s".formatted(settings.path(), ex),
					"Make it writable for this user, or set kvorum.storage.path to one that is.", ex);
		}
		catch (RocksDBException ex) {
			throw Failures.opening(settings.path(), ex);
		}
	}

	/** Opens a database whose log may have a torn end. */
	private static Database openTorn(RocksSettings settings) throws RocksDBException {
		try {
			return new Database(settings);
		}
		catch (RocksDBException ex) {
			if (Failures.isDamage(ex) && TornLog.cut(settings.path())) {
				return new Database(settings);
			}
			throw ex;
		}
	}

	private Database(RocksSettings settings) throws RocksDBException {
		try {
			DamageMarker marker = new DamageMarker(settings.path());
			this.damaged = marker.isSet();
			if (this.damaged) {
				marker.warn();
			}
			this.cache = own(new LRUCache(settings.cacheBytes(), shardBits(settings.cacheBytes(), MIN_SHARD_BYTES),
					false, FOR_INDEXES_AND_FILTERS));
			this.statistics = own(new Statistics());
			this.statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
			DBOptions options = options(settings);
			ColumnFamilyOptions filtered = filteredColumns(settings);
			this.unfiltered = columns(settings, table());
			List<ColumnFamilyHandle> opened = new ArrayList<>();
			this.db = RocksDB.open(options, settings.path().toString(),
					COLUMNS.stream()
						.map(name -> column(name, FILTERED.contains(name) ? filtered : this.unfiltered))
						.toList(),
					opened);
			own(this.db);
			opened.forEach(this::own);
			this.entries = opened.get(1);
			this.expiries = opened.get(2);
			this.meta = opened.get(3);
			this.index = opened.get(4);
			this.tombstones = opened.get(5);
			this.hints = opened.get(6);
			this.promises = opened.get(8);
			this.large = opened.get(9);
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

	/** The binary logarithm of the number of shards; each has the least size or more. */
	private static int shardBits(long size, long least) {
		long shards = Math.max(1, size / least);
		return Math.min(MAX_SHARD_BITS, Long.SIZE - 1 - Long.numberOfLeadingZeros(shards));
	}

	private DBOptions options(RocksSettings settings) {
		DBOptions options = own(DBOptions.getDBOptionsFromProps(notInJava()));
		return options.setCreateIfMissing(true)
			.setCreateMissingColumnFamilies(true)
			// The default, point in time, silently drops every write behind a damaged
			// one.
			.setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
			.setParanoidChecks(true)
			.setMaxOpenFiles(settings.maxOpenFiles())
			.setTableCacheNumshardbits(shardBits(settings.maxOpenFiles(), MIN_SHARD_FILES))
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

	/** Options that RocksDB's Java API lacks. */
	static Properties notInJava() {
		Properties properties = new Properties();
		// A missing synced log fails the start instead of losing writes.
		properties.setProperty("track_and_verify_wals_in_manifest", "true");
		return properties;
	}

	private ColumnFamilyOptions filteredColumns(RocksSettings settings) {
		return columns(settings, table().setFilterPolicy(own(new BloomFilter(BLOOM_BITS_PER_KEY))))
			.setMemtablePrefixBloomSizeRatio(0.05)
			.setMemtableWholeKeyFiltering(true);
	}

	/**
	 * Tables with partitioned indexes and filters, in parts of a block's size.
	 * Unpartitioned, those of a large table take more than a megabyte, which every
	 * uncached lookup reads.
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
			.setLevel0FileNumCompactionTrigger(FIRST_LEVEL_TABLES)
			.setLevelCompactionDynamicLevelBytes(true)
			.setCompressionType(CompressionType.LZ4_COMPRESSION)
			.setBottommostCompressionType(CompressionType.ZSTD_COMPRESSION);
	}

	private static ColumnFamilyDescriptor column(String name, ColumnFamilyOptions options) {
		return new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.US_ASCII), options);
	}

	/**
	 * Drops the index with its tables, which need not be readable, and creates an empty
	 * one. If the process ends in between, the next start creates it. Call it before the
	 * index is used.
	 */
	void clearIndex() throws RocksDBException {
		this.db.dropColumnFamily(this.index);
		// RocksDB deletes its tables with the last handle.
		this.index.close();
		this.index = own(this.db.createColumnFamily(column("index", this.unfiltered)));
	}

	/**
	 * Options of a scan up to a bound, exclusive; null for none. The caller closes them,
	 * before the bound.
	 */
	ReadOptions scanTo(@Nullable Slice upper) {
		ReadOptions options = new ReadOptions(this.scan);
		return (upper != null) ? options.setIterateUpperBound(upper) : options;
	}

	/**
	 * The whole entry of a key as it is now; null without one.
	 * @throws RocksDBException also if there is only its beginning: it is damaged
	 */
	byte @Nullable [] entry(byte[] key, ReadOptions from) throws RocksDBException {
		byte[] row = this.db.get(this.entries, from, key);
		while (row != null && EntryFormat.isBeginning(row, 0, row.length)) {
			Version version = EntryFormat.version(row, 0);
			byte[] whole = large(key, version, from);
			if (whole != null) {
				return whole;
			}
			// It has been replaced between the two looks, unless it is the same again.
			row = this.db.get(this.entries, from, key);
			if (row != null && version.equals(EntryFormat.versionOf(row, row.length))
					&& EntryFormat.isBeginning(row, 0, row.length)) {
				throw new RocksDBException(
						new Status(Status.Code.Corruption, Status.SubCode.None, "only its beginning is there"));
			}
		}
		return row;
	}

	/** A large entry of this version; null if there is none. */
	byte @Nullable [] large(byte[] key, Version version, ReadOptions from) throws RocksDBException {
		return this.db.get(this.large, from, LargeRow.key(key, version));
	}

	/**
	 * Whether there may be any promise. An iterator ends where it meets damage; a look at
	 * the promise of a damaged key then fails.
	 */
	boolean mayHavePromises() {
		try (RocksIterator iterator = this.db.newIterator(this.promises, this.scan)) {
			iterator.seekToFirst();
			if (iterator.isValid()) {
				return true;
			}
			iterator.status();
			return false;
		}
		catch (RocksDBException _) {
			return true;
		}
	}

	private <T extends AutoCloseable> T own(T handle) {
		this.handles.push(handle);
		return handle;
	}

	/**
	 * Writes memtables to tables. Closing alone does not, so the next start would replay
	 * the log.
	 */
	void flush() throws RocksDBException {
		try (FlushOptions waiting = new FlushOptions()) {
			this.db.flush(waiting, List.of(this.entries, this.expiries, this.meta, this.index, this.tombstones,
					this.hints, this.promises, this.large));
		}
	}

	/** Frees all handles, the last opened first. */
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
