package io.kvorum.storage.rocksdb;

import reactor.core.scheduler.Scheduler;

/**
 * Where a store reads what memory cannot answer at once.
 *
 * @param reads for single entries
 * @param ranges for pages of ranges
 */
public record RocksSchedulers(Scheduler reads, Scheduler ranges) {
}
