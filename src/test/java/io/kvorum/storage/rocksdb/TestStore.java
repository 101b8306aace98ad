package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.storage.Digests;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Poll;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** An engine on a directory, open, with everything around it in the hands of a test. */
final class TestStore implements AutoCloseable {

	static final int REPAIR_QUEUE = 10;

	private static final AtomicLong identities = new AtomicLong(1000);

	final SteeredTime time = new SteeredTime();

	final RecordedEvents events = new RecordedEvents();

	final HeldCallers callers = new HeldCallers();

	final List<Throwable> failures = new CopyOnWriteArrayList<>();

	final Scheduler reads;

	final Scheduler ranges;

	final Scheduler repairs;

	final RocksStorage engine;

	TestStore(RocksSettings settings) {
		this.reads = Schedulers.newBoundedElastic(settings.readThreads(), settings.readQueueLength(), "test-reads", 60,
				true);
		this.ranges = Schedulers.newBoundedElastic(1, settings.rangeQueueLength(), "test-ranges", 60, true);
		this.repairs = Schedulers.newBoundedElastic(1, REPAIR_QUEUE, "test-repairs", 60, true);
		this.engine = new RocksStorage(settings, this.time, RendezvousPlacement::hashOf, identities::incrementAndGet,
				new RocksSchedulers(this.reads, this.ranges, this.repairs), this.callers, this.events,
				this.failures::add);
		try {
			this.engine.open();
		}
		catch (RuntimeException ex) {
			this.reads.dispose();
			this.ranges.dispose();
			this.repairs.dispose();
			throw ex;
		}
	}

	static TestStore on(Path path) {
		return new TestStore(TestSettings.of(path));
	}

	@Nullable Entry read(Key key) {
		return Awaited.of(this.engine.read(key, Deadline.NONE));
	}

	@Nullable StoreOutcome store(Key key, Entry entry) {
		return Awaited.of(this.engine.store(key, entry, Deadline.NONE));
	}

	/** Returns when all that was stored before is in the digests. */
	Digests awaitDigests() throws InterruptedException {
		Digests digests = this.engine.digests();
		Poll.until(() -> "complete digests", Duration.ofSeconds(10), digests::isComplete);
		return digests;
	}

	@Override
	public void close() {
		this.callers.release();
		this.engine.close();
		this.reads.dispose();
		this.ranges.dispose();
		this.repairs.dispose();
	}

}
