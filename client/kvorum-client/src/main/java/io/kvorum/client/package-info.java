/**
 * A client of Kvorum: {@link io.kvorum.client.KvorumClient} is where to begin.
 * <p>
 * It repeats a request only where that is safe: reads, writes that certainly did not
 * happen, and writes with an idempotency key. All else ends in a
 * {@link io.kvorum.client.KvorumException} that says whether the write may have happened.
 */
@NullMarked
package io.kvorum.client;

import org.jspecify.annotations.NullMarked;
