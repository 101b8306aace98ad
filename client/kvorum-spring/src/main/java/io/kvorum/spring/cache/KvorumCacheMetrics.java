package io.kvorum.spring.cache;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.cache.CacheMeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * The usual meters of a cache, {@code cache.gets}, {@code cache.puts} and
 * {@code cache.evictions}, by Micrometer, which has to be on the class path
 * ({@code io.micrometer:micrometer-core}). The number of entries is not known.
 */
public final class KvorumCacheMetrics extends CacheMeterBinder<KvorumCache> {

	/**
	 * Meters of a cache, to be bound to a registry.
	 * @param cache the cache
	 * @param tags of all meters, beside the name of the cache
	 */
	public KvorumCacheMetrics(KvorumCache cache, Iterable<Tag> tags) {
		super(cache, cache.getName(), tags);
	}

	private KvorumCacheStatistics statistics() {
		KvorumCache cache = getCache();
		return (cache != null) ? cache.statistics() : new KvorumCacheStatistics(0, 0, 0, 0);
	}

	@Override
	protected @Nullable Long size() {
		return null;
	}

	@Override
	protected long hitCount() {
		return statistics().hits();
	}

	@Override
	protected Long missCount() {
		return statistics().misses();
	}

	@Override
	protected Long evictionCount() {
		return statistics().evictions();
	}

	@Override
	protected long putCount() {
		return statistics().puts();
	}

	@Override
	protected void bindImplementationSpecificMetrics(MeterRegistry registry) {
		// There are no others.
	}

}
