package io.kvorum.storage.rocksdb;

import io.kvorum.storage.Digests;

/**
 * State in memory that is derived from what is stored. Only the committer's thread
 * changes it: after a batch is written and before its callers get their results. Between
 * batches it also adds rows that reads have found.
 */
record Derived(Digests digests, HintCounts hints, RowCache rows) {
}
