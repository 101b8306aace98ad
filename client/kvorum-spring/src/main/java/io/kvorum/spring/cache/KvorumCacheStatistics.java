package io.kvorum.spring.cache;

/**
 * What a cache has done in this process since it was made.
 *
 * @param hits reads that found a value, or null that was stored
 * @param misses reads that found nothing
 * @param puts values that were stored
 * @param evictions keys that the application has removed, there or not; those that have
 * expired are not counted
 */
public record KvorumCacheStatistics(long hits, long misses, long puts, long evictions) {

	/**
	 * The part of reads that found a value.
	 * @return 0 to 1; 0 if there were no reads
	 */
	public double hitRatio() {
		long reads = this.hits + this.misses;
		return (reads > 0) ? (double) this.hits / reads : 0;
	}

}
