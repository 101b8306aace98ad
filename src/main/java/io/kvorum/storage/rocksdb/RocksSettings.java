package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;

import io.kvorum.storage.Durability;

/**
 * Settings of a store, with all limits of the engine.
 *
 * @param path the directory
 * @param durability what an acknowledged write survives
 * @param cacheBytes memory of the block cache; memtables, indexes and filters are charged
 * to it
 * @param memtableBytes memory of all memtables, part of {@code cacheBytes}
 * @param rowCacheBytes memory of the rows that were written or read lately, in the heap;
 * 0 keeps none
 * @param maxOpenFiles table files held open
 * @param minFreeBytes writes are refused while the disk has less than this free
 * @param readThreads threads for reads that memory cannot answer
 * @param readQueueLength reads that may wait for each of these threads
 * @param rangeQueueLength pages of ranges that may wait for each of their threads
 * @param writeQueueLength writes that may wait for the committer
 * @param writeQueueBytes the bytes of the writes that may wait
 * @param writeQueueTime a write that has waited longer is refused
 * @param readTimeout a read that the disk has not answered by then fails
 * @param writeTimeout a write that the disk has not taken by then fails; it may still be
 * stored
 * @param collectInterval how often expired entries are collected
 * @param expiryMargin how long an entry has to have expired before it is collected
 * @param leavesTombstones whether an expired entry leaves a tombstone: true if there are
 * other replicas
 * @param factor the replicas of a key by default, as configured: a cluster of fewer nodes
 * has one on each
 */
public record RocksSettings(Path path, Durability durability, long cacheBytes, long memtableBytes, long rowCacheBytes,
		int maxOpenFiles, long minFreeBytes, int readThreads, int readQueueLength, int rangeQueueLength,
		int writeQueueLength, long writeQueueBytes, Duration writeQueueTime, Duration readTimeout,
		Duration writeTimeout, Duration collectInterval, Duration expiryMargin, boolean leavesTombstones, int factor) {

	/** The same settings for another directory. */
	RocksSettings on(Path other) {
		return new RocksSettings(other, this.durability, this.cacheBytes, this.memtableBytes, this.rowCacheBytes,
				this.maxOpenFiles, this.minFreeBytes, this.readThreads, this.readQueueLength, this.rangeQueueLength,
				this.writeQueueLength, this.writeQueueBytes, this.writeQueueTime, this.readTimeout, this.writeTimeout,
				this.collectInterval, this.expiryMargin, this.leavesTombstones, this.factor);
	}

}
