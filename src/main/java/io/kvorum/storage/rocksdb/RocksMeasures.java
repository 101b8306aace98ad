package io.kvorum.storage.rocksdb;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

import io.kvorum.storage.EngineMeasures.Measure;
import io.kvorum.storage.StorageException;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.HistogramType;
import org.rocksdb.RocksDBException;
import org.rocksdb.TickerType;

/** The measures of RocksDB and of the write queue before it. */
final class RocksMeasures {

	private static final double NANOS_PER_SECOND = 1e9;

	private final StoreGate gate;

	RocksMeasures(StoreGate gate) {
		this.gate = gate;
	}

	List<Measure> all() {
		List<Measure> all = new ArrayList<>();
		queue(all);
		damage(all);
		properties(all);
		tickers(all);
		histograms(all);
		return all;
	}

	private void queue(List<Measure> all) {
		all.add(gauge("kvorum.storage.committer.queued", "Writes that wait for the committer", "writes",
				open -> open.committer().queuedWrites()));
		all.add(gauge("kvorum.storage.committer.queued.size", "Memory of the writes that wait", "bytes",
				open -> open.committer().queuedBytes()));
		all.add(gauge("kvorum.storage.committer.oldest.age", "Age of the oldest write that is not done", "seconds",
				open -> open.committer().oldestNanos() / NANOS_PER_SECOND));
		all.add(gauge("kvorum.storage.out.of.space", "1 while writes are refused because the disk is full", "",
				open -> open.committer().isOutOfSpace() ? 1 : 0));
	}

	private void damage(List<Measure> all) {
		all.add(gauge("kvorum.storage.damaged", "1 where a table is damaged and compactions are off", "",
				open -> open.database().damaged ? 1 : 0));
	}

	private void properties(List<Measure> all) {
		all.add(property("keys", "estimate-num-keys", "Entries, tombstones included; an estimate", "entries",
				database -> List.of(database.entries)));
		all.add(ofEntries("tables.size", "total-sst-files-size", "Table files", "bytes"));
		all.add(ofEntries("memtables.size", "cur-size-all-mem-tables", "Memtables not yet flushed", "bytes"));
		all.add(ofEntries("compaction.pending", "estimate-pending-compaction-bytes", "Waits for compaction", "bytes"));
		all.add(property("cache.used", "block-cache-usage", "The block cache", "bytes"));
		all.add(property("cache.pinned", "block-cache-pinned-usage", "The block cache, pinned part", "bytes"));
		all.add(property("flushes.running", "num-running-flushes", "Flushes now running", "flushes"));
		all.add(property("compactions.running", "num-running-compactions", "Compactions now running", "compactions"));
		all.add(property("writes.delayed.rate", "actual-delayed-write-rate", "Write rate it slows down to; 0: none",
				"bytes"));
		all.add(property("writes.stopped", "is-write-stopped", "1 while it takes no writes", ""));
	}

	private void tickers(List<Measure> all) {
		all.add(ticker("cache.hits", TickerType.BLOCK_CACHE_HIT, "Blocks found in the cache", "blocks"));
		all.add(ticker("cache.misses", TickerType.BLOCK_CACHE_MISS, "Blocks not found in the cache", "blocks"));
		all.add(ticker("memtable.hits", TickerType.MEMTABLE_HIT, "Reads answered by a memtable", "reads"));
		all.add(ticker("memtable.misses", TickerType.MEMTABLE_MISS, "Reads not answered by a memtable", "reads"));
		all.add(ticker("bloom.useful", TickerType.BLOOM_FILTER_USEFUL, "Table reads a filter has saved", "reads"));
		all.add(ticker("wal.size", TickerType.WAL_FILE_BYTES, "Written to the log", "bytes"));
		all.add(ticker("wal.syncs", TickerType.WAL_FILE_SYNCED, "Syncs of the log", "syncs"));
		all.add(ticker("flush.written", TickerType.FLUSH_WRITE_BYTES, "Written by flushes", "bytes"));
		all.add(ticker("compaction.read", TickerType.COMPACT_READ_BYTES, "Read by compactions", "bytes"));
		all.add(ticker("compaction.written", TickerType.COMPACT_WRITE_BYTES, "Written by compactions", "bytes"));
		all.add(ticker("stalled", TickerType.STALL_MICROS, "Time that writes were held up", "microseconds"));
	}

	private void histograms(List<Measure> all) {
		all.add(p99("wal.sync.p99", HistogramType.WAL_FILE_SYNC_MICROS, "A sync of the log, since the start"));
		all.add(p99("sst.read.p99", HistogramType.SST_READ_MICROS, "A read of a block from disk, since the start"));
	}

	private Measure ofEntries(String name, String property, String description, String unit) {
		return property(name, property, description, unit, database -> List.of(database.entries, database.large));
	}

	private Measure property(String name, String property, String description, String unit) {
		return property(name, property, description, unit, database -> List.of(database.db.getDefaultColumnFamily()));
	}

	private Measure property(String name, String property, String description, String unit,
			Function<Database, List<ColumnFamilyHandle>> columns) {
		return gauge("kvorum.rocksdb." + name, description, unit, open -> {
			try {
				long sum = 0;
				for (ColumnFamilyHandle column : columns.apply(open.database())) {
					sum += open.database().db.getLongProperty(column, "rocksdb." + property);
				}
				return sum;
			}
			catch (RocksDBException _) {
				return Double.NaN;
			}
		});
	}

	private Measure ticker(String name, TickerType ticker, String description, String unit) {
		return new Measure("kvorum.rocksdb." + name, description, unit, true,
				guarded(open -> open.database().statistics.getTickerCount(ticker)));
	}

	private Measure p99(String name, HistogramType histogram, String description) {
		return gauge("kvorum.rocksdb." + name, description + ", 99th percentile", "microseconds",
				open -> open.database().statistics.getHistogramData(histogram).getPercentile99());
	}

	private Measure gauge(String name, String description, String unit, ToDoubleFunction<OpenStore> reader) {
		return new Measure(name, description, unit, false, guarded(reader));
	}

	private DoubleSupplier guarded(ToDoubleFunction<OpenStore> reader) {
		return () -> {
			if (!this.gate.enter()) {
				return Double.NaN;
			}
			try {
				return reader.applyAsDouble(this.gate.opened());
			}
			catch (StorageException.Unavailable _) {
				return Double.NaN;
			}
			finally {
				this.gate.leave();
			}
		};
	}

}
