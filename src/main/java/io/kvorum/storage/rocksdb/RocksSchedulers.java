package io.kvorum.storage.rocksdb;

import reactor.core.scheduler.Scheduler;

/**
 * The schedulers of reads that memory cannot answer.
 *
 * @param reads for single entries
 * @param ranges for pages of ranges
 * @param repairs for anti-entropy and hints: {@value #REPAIR_THREADS} thread with a queue
 * of {@value #REPAIR_QUEUE_LENGTH} tasks
 */
public record RocksSchedulers(Scheduler reads, Scheduler ranges, Scheduler repairs) {

	/** The threads for repair; one, so that it takes little of the disk. */
	public static final int REPAIR_THREADS = 1;

	/** The reads that may wait for each repair thread. */
	public static final int REPAIR_QUEUE_LENGTH = 256;

}
