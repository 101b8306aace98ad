/**
 * Caches of Spring in Kvorum: {@link io.kvorum.spring.cache.KvorumCacheManager} is where
 * to begin.
 */
@NullMarked
package io.kvorum.spring.cache;

import org.jspecify.annotations.NullMarked;
