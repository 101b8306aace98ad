package io.kvorum.storage.rocksdb;

import io.kvorum.storage.Digests;

/**
 * What is kept in memory of what is stored. Changed by the committer's thread only: after
 * a batch has been written and before its callers are told, and the rows also with what
 * reads have found, between batches.
 */
record Derived(Digests digests, HintCounts hints, RowCache rows) {
}
