package io.kvorum.storage.rocksdb;

/** The parts of an open store. */
record OpenStore(Database database, NodeFacts facts, IndexDamage damage, Derived derived, Committer committer,
		ExpiryCollector collector, DigestBuild build, BackgroundTasks tasks) {
}
