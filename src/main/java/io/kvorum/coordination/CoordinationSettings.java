package io.kvorum.coordination;

import java.time.Duration;

/**
 * The limits of operations.
 *
 * @param readTimeout the longest time of a read
 * @param writeTimeout the longest time of a write
 * @param hedgeDelay the longest time after which a read asks one more replica; the 99th
 * percentile of this coordinator's rounds of reads if that is less, but at least 1 ms
 * @param idempotency the limits of writes with an idempotency key
 */
public record CoordinationSettings(Duration readTimeout, Duration writeTimeout, Duration hedgeDelay,
		Idempotency idempotency) {

	/**
	 * The limits of writes with an idempotency key.
	 *
	 * @param retention the time for which a write is remembered
	 * @param maxRecords the most new ones that this node coordinates in that time
	 */
	public record Idempotency(Duration retention, int maxRecords) {
	}

}
