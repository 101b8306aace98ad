package io.kvorum.app;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.springframework.context.SmartLifecycle;

/**
 * Opens the store before the HTTP port opens, and closes it after the last request was
 * answered and the port is closed.
 */
final class StorageLifecycle implements SmartLifecycle {

	private final RocksStorage storage;

	private final HybridLogicalClock clock;

	private volatile boolean running;

	StorageLifecycle(RocksStorage storage, HybridLogicalClock clock) {
		this.storage = storage;
		this.clock = clock;
	}

	@Override
	public void start() {
		this.storage.open();
		this.clock.start(this.storage.identity(), this.storage.clockBoundMillis(), this.storage::storeClockBound)
			.exceptionally(_ -> null) // A full disk: it serves reads, and writes when
										// there is space.
			.toCompletableFuture()
			.join();
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.storage.close();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Far below the phases of the web server and its graceful shutdown. */
	@Override
	public int getPhase() {
		return 0;
	}

}
