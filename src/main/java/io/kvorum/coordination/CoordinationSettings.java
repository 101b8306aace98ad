package io.kvorum.coordination;

import java.time.Duration;

/**
 * The limits of operations.
 *
 * @param readTimeout the longest time of a read
 * @param writeTimeout the longest time of a write
 * @param hedgeDelay the longest time after which a read asks one more replica; the 99th
 * percentile of this coordinator's rounds of reads if that is less, but at least 1 ms
 */
public record CoordinationSettings(Duration readTimeout, Duration writeTimeout, Duration hedgeDelay) {
}
