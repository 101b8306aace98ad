package io.kvorum.storage.rocksdb;

/** The parts that exist while a store is open. */
record OpenStore(Database database, NodeFacts facts, IndexDamage damage, Derived derived, Committer committer,
		ExpiryCollector collector, DigestBuild build, Chores chores) {
}
