package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Coordinators;
import io.kvorum.kv.Version;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.RangeStoreContract;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The contract of the store that the API sees, on a node that is alone with a disk. */
class CoordinatorOnRocksTests extends RangeStoreContract {

	private static final int QUEUE_LENGTH = 10;

	private final Scheduler caller = Schedulers.newSingle("caller");

	private final TestStore store;

	private final Coordinator coordinator;

	CoordinatorOnRocksTests(@TempDir Path directory) {
		this.store = new TestStore(TestSettings.withWriteQueue(directory, QUEUE_LENGTH, 64 << 20, Duration.ofHours(1)));
		this.store.callers.executor = this.caller::schedule;
		HybridLogicalClock clock = new HybridLogicalClock(this.store.time);
		clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		this.coordinator = Coordinators.alone(this.store.engine, clock, this.store.time);
	}

	@Override
	protected KeyValueStore store() {
		return this.coordinator;
	}

	@Override
	protected Scheduler caller() {
		return this.caller;
	}

	@Override
	protected void pass(Duration time) {
		this.store.time.pass(time);
	}

	@Override
	protected void fill() {
		this.store.callers.hold();
		submit("busy");
		this.store.callers.awaitHeld();
		for (int i = 0; i < QUEUE_LENGTH; i++) {
			submit("waiting " + i);
		}
	}

	private void submit(String key) {
		var _ = this.store.engine.store(Generator.key(key), Generator.live(new Version(1, 1), "value"), Deadline.NONE)
			.toFuture();
	}

	@Override
	protected void breakDown() {
		this.store.engine.close();
	}

	@AfterEach
	void close() {
		this.store.close();
		this.caller.dispose();
	}

}
