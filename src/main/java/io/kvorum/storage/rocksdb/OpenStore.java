package io.kvorum.storage.rocksdb;

import org.jspecify.annotations.Nullable;

/**
 * The parts of an open store.
 *
 * @param build null if the digests were saved
 */
record OpenStore(Database database, NodeFacts facts, IndexDamage damage, Derived derived, Committer committer,
		ExpiryCollector collector, @Nullable DigestBuild build, BackgroundTasks tasks) {
}
