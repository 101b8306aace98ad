package io.kvorum.coordination;

import java.time.Duration;

/**
 * The limits of operations.
 *
 * @param readTimeout how long a read may take
 * @param writeTimeout how long a write may take
 * @param hedgeDelay a read asks one more replica after this time, or after the 99th
 * percentile of its peers where that is less
 */
public record CoordinationSettings(Duration readTimeout, Duration writeTimeout, Duration hedgeDelay) {
}
