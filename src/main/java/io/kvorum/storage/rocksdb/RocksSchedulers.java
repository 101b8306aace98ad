package io.kvorum.storage.rocksdb;

import reactor.core.scheduler.Scheduler;

/**
 * The schedulers of reads that memory cannot answer at once.
 *
 * @param reads for single entries
 * @param ranges for pages of ranges
 * @param repairs for comparisons between replicas and for hints: {@value #REPAIR_THREADS}
 * thread, {@value #REPAIR_QUEUE_LENGTH} waiting tasks
 */
public record RocksSchedulers(Scheduler reads, Scheduler ranges, Scheduler repairs) {

	/** Repair is to take no more of the disk than one thread can. */
	public static final int REPAIR_THREADS = 1;

	/** Reads that may wait for each of these threads. */
	public static final int REPAIR_QUEUE_LENGTH = 256;

}
