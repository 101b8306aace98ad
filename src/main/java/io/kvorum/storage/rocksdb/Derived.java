package io.kvorum.storage.rocksdb;

import io.kvorum.storage.Digests;

/**
 * The state in memory that is derived from the store. Changed by the committer's thread
 * only: after a batch has been written and before its callers are completed. Rows that
 * reads found are added between batches.
 */
record Derived(Digests digests, HintCounts hints, RowCache rows) {
}
