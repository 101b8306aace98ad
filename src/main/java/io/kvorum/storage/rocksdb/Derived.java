package io.kvorum.storage.rocksdb;

import io.kvorum.storage.Digests;

/**
 * State in memory that is derived from what is stored. The committer's thread changes it
 * after a batch is written and before its callers get their results. Between batches it
 * also adds rows that reads have found. Only the {@link DigestBuild} changes the digests
 * besides.
 */
record Derived(Digests digests, HintCounts hints, RowCache rows) {
}
