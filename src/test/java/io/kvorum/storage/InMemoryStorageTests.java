package io.kvorum.storage;

import io.kvorum.testing.InMemoryStorage;
import org.junit.jupiter.api.Nested;

/** The model that other tests rely on keeps the contracts too. */
class InMemoryStorageTests extends StorageEngineContract {

	private final InMemoryStorage engine = new InMemoryStorage();

	@Override
	protected StorageEngine engine() {
		return this.engine;
	}

	@Nested
	class Index extends PartitionIndexContract {

		private final InMemoryStorage engine = new InMemoryStorage();

		@Override
		protected StorageEngine engine() {
			return this.engine;
		}

		@Override
		protected PartitionIndex index() {
			return this.engine;
		}

	}

	@Nested
	class Hints extends HintLogContract {

		private final InMemoryStorage engine = new InMemoryStorage();

		@Override
		protected HintLog log() {
			return this.engine;
		}

	}

}
