/**
 * Keys and values in Apache Cassandra, or in a server that speaks its protocol: the
 * second implementation of the port between the API and the store.
 */
@NullMarked
package io.kvorum.cassandra;

import org.jspecify.annotations.NullMarked;
