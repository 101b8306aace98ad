package io.kvorum.storage.rocksdb;

import java.nio.file.Path;

import io.kvorum.storage.Durability;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.HintLogContract;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PartitionIndexContract;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEngineContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The contracts, that of an engine whoever syncs. */
class RocksStorageContractTests {

	abstract static class OnRocks extends StorageEngineContract {

		private final TestStore store;

		OnRocks(RocksSettings settings) {
			this.store = new TestStore(settings);
		}

		@Override
		protected StorageEngine engine() {
			return this.store.engine;
		}

		@AfterEach
		void close() {
			this.store.close();
		}

	}

	@Nested
	class Synced extends OnRocks {

		Synced(@TempDir Path directory) {
			super(TestSettings.of(directory, Durability.FSYNC));
		}

	}

	@Nested
	class LeftToTheOperatingSystem extends OnRocks {

		LeftToTheOperatingSystem(@TempDir Path directory) {
			super(TestSettings.of(directory, Durability.OS));
		}

	}

	@Nested
	class WithoutRowCache extends OnRocks {

		WithoutRowCache(@TempDir Path directory) {
			super(TestSettings.withoutRowCache(directory));
		}

	}

	@Nested
	class Index extends PartitionIndexContract {

		private final TestStore store;

		Index(@TempDir Path directory) {
			this.store = new TestStore(TestSettings.of(directory, Durability.OS));
		}

		@Override
		protected StorageEngine engine() {
			return this.store.engine;
		}

		@Override
		protected PartitionIndex index() {
			return this.store.engine;
		}

		@AfterEach
		void close() {
			this.store.close();
		}

	}

	@Nested
	class Hints extends HintLogContract {

		private final TestStore store;

		Hints(@TempDir Path directory) {
			this.store = new TestStore(TestSettings.of(directory, Durability.OS));
		}

		@Override
		protected HintLog log() {
			return this.store.engine;
		}

		@AfterEach
		void close() {
			this.store.close();
		}

	}

}
