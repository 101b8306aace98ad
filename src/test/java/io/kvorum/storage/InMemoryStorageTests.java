package io.kvorum.storage;

import io.kvorum.testing.InMemoryStorage;

/** The model that other tests rely on keeps the contract too. */
class InMemoryStorageTests extends StorageEngineContract {

	private final InMemoryStorage engine = new InMemoryStorage();

	@Override
	protected StorageEngine engine() {
		return this.engine;
	}

}
