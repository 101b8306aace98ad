package io.kvorum.cassandra;

import java.time.Duration;

/**
 * Settings of a gateway.
 *
 * @param keyspace its name, as in CQL
 * @param readTimeout time limit of a read
 * @param writeTimeout time limit of a write
 * @param retention time for which a write with an idempotency key is remembered
 */
public record CassandraSettings(String keyspace, Duration readTimeout, Duration writeTimeout, Duration retention) {
}
