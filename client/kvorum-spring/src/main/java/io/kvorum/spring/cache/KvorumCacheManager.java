package io.kvorum.spring.cache;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;

import io.kvorum.client.KvorumClient;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.CacheManager;

/**
 * Caches of Spring in Kvorum, which all processes of an application share.
 *
 * <pre>{@code
 * KvorumCacheManager.builder(client, KvorumCacheSettings.of(JsonObjectCodec.typed(mapper)).ttl(Duration.ofMinutes(10)))
 *     .cache("orders", settings -> settings.codec(JsonObjectCodec.of(mapper, Order.class)))
 *     .build()
 * }</pre>
 *
 * An entry has the key {@code <prefix><name of the cache>/<key as text>}. A {@code /} in
 * the name of a cache is written as {@code %2F}, so that no cache lies in another.
 */
public final class KvorumCacheManager implements CacheManager {

	/** The prefix of keys unless another is given. */
	public static final String DEFAULT_PREFIX = "cache/";

	private final KvorumClient client;

	private final String prefix;

	private final KvorumCacheSettings defaults;

	private final Map<String, KvorumCacheSettings> named;

	private final boolean hasOthers;

	private final ConcurrentMap<String, KvorumCache> caches = new ConcurrentHashMap<>();

	private KvorumCacheManager(Builder builder) {
		this.client = builder.client;
		this.prefix = builder.prefix;
		this.defaults = builder.defaults;
		this.named = Map.copyOf(builder.named);
		this.hasOthers = builder.hasOthers;
		this.named.keySet().forEach(this::getCache);
	}

	/**
	 * Begins to make a manager.
	 * @param client the client
	 * @param defaults what caches are like unless told otherwise
	 * @return a builder
	 */
	public static Builder builder(KvorumClient client, KvorumCacheSettings defaults) {
		return new Builder(client, defaults);
	}

	/**
	 * A cache, which is made when it is asked for.
	 * @param name its name
	 * @return the cache; null if it was not named and there are no others
	 */
	@Override
	public @Nullable KvorumCache getCache(String name) {
		KvorumCacheSettings settings = this.named.get(name);
		if (settings == null && !this.hasOthers) {
			return null;
		}
		return this.caches.computeIfAbsent(name, any -> new KvorumCache(this.client, new CacheKeys(this.prefix, name),
				name, (settings != null) ? settings : this.defaults));
	}

	@Override
	public Collection<String> getCacheNames() {
		return Set.copyOf(this.caches.keySet());
	}

	/** Makes a manager. */
	public static final class Builder {

		private final KvorumClient client;

		private final KvorumCacheSettings defaults;

		private final Map<String, KvorumCacheSettings> named = new LinkedHashMap<>();

		private String prefix = DEFAULT_PREFIX;

		private boolean hasOthers = true;

		private Builder(KvorumClient client, KvorumCacheSettings defaults) {
			this.client = client;
			this.defaults = defaults;
		}

		/**
		 * What the keys of all caches begin with: {@value #DEFAULT_PREFIX}. Applications
		 * that share a cluster have different ones.
		 * @param prefix the prefix
		 * @return this
		 */
		public Builder prefix(String prefix) {
			this.prefix = prefix;
			return this;
		}

		/**
		 * A cache that is different from the others.
		 * @param name its name
		 * @param change from the settings of the others to those of this one
		 * @return this
		 */
		public Builder cache(String name, UnaryOperator<KvorumCacheSettings> change) {
			this.named.put(name, change.apply(this.defaults));
			return this;
		}

		/**
		 * There are only the caches that were named here, so that an error in writing a
		 * name is found.
		 * @return this
		 */
		public Builder onlyNamed() {
			this.hasOthers = false;
			return this;
		}

		/**
		 * Makes the manager.
		 * @return the manager
		 */
		public KvorumCacheManager build() {
			return new KvorumCacheManager(this);
		}

	}

}
