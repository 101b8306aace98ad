package io.kvorum.storage.rocksdb;

/** What exists while a store is open. */
record Opened(Database database, NodeFacts facts, IndexDamage damage, Derived derived, Committer committer,
		ExpiryCollector collector, DigestBuild build, Chores chores) {
}
