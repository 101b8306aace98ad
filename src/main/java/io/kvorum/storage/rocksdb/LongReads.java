package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unreadable;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reads many rows, always on a scheduler of their own, so that a read of one entry never
 * waits behind them.
 */
final class LongReads {

	private final StoreGate gate;

	private final TimeSource time;

	private final Scheduler scheduler;

	/** The error when the scheduler's queue is full. */
	private final Supplier<Overloaded> full;

	private final CallerThreads callers;

	private final StorageEvents events;

	LongReads(StoreGate gate, TimeSource time, Scheduler scheduler, Supplier<Overloaded> full, CallerThreads callers,
			StorageEvents events) {
		this.gate = gate;
		this.time = time;
		this.scheduler = scheduler;
		this.full = full;
		this.callers = callers;
		this.events = events;
	}

	<T> Mono<T> read(Deadline deadline, Reading<T> reading) {
		return Mono.defer(() -> {
			Duration timeout = Duration.ofNanos(deadline.remainingNanos(this.time));
			return Mono.fromCallable(() -> readNow(reading))
				.subscribeOn(this.scheduler)
				.timeout(timeout)
				.onErrorMap(TimeoutException.class, _ -> new ReadTimedOut(timeout))
				.onErrorMap(RejectedExecutionException.class, _ -> {
					this.events.overloaded();
					return this.full.get();
				})
				.publishOn(Schedulers.fromExecutor(this.callers.current()));
		});
	}

	private <T> T readNow(Reading<T> reading) {
		if (!this.gate.enter()) {
			throw StoreGate.notOpen();
		}
		try {
			return reading.from(this.gate.opened());
		}
		catch (RocksDBException | DamagedEntryException ex) {
			this.events.unreadable();
			throw new Unreadable(ex);
		}
		finally {
			this.gate.leave();
		}
	}

	/** Reads from an open store. Blocks. */
	interface Reading<T> {

		T from(OpenStore opened) throws RocksDBException;

	}

}
