package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unreadable;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reads single entries: from memory on the calling thread, else from disk on the storage
 * scheduler. The {@link RowCache} holds rows that were written or read lately.
 */
final class EntryReads {

	private final StoreGate gate;

	private final RocksSettings settings;

	private final TimeSource time;

	private final Scheduler scheduler;

	private final CallerThreads callers;

	private final StorageEvents events;

	private final Silence silence = new Silence();

	EntryReads(StoreGate gate, RocksSettings settings, TimeSource time, Scheduler scheduler, CallerThreads callers,
			StorageEvents events) {
		this.gate = gate;
		this.settings = settings;
		this.time = time;
		this.scheduler = scheduler;
		this.callers = callers;
		this.events = events;
	}

	/**
	 * The time for which reads have waited without any answer of the disk, in
	 * nanoseconds; 0 if none waits.
	 */
	long silentNanos() {
		return this.silence.nanos(this.time.nanos());
	}

	Mono<Entry> read(Key key, Deadline deadline) {
		OpenStore opened = this.gate.openedOrNull();
		byte[] row = (opened != null) ? opened.derived().rows().get(key) : null;
		if (row != null) {
			this.events.readFromRowCache();
			return decode(key, row);
		}
		return readFromDatabase(key, deadline);
	}

	private Mono<Entry> readFromDatabase(Key key, Deadline deadline) {
		if (!this.gate.enter()) {
			return Mono.error(StoreGate.notOpen());
		}
		Entry entry;
		try {
			OpenStore opened = this.gate.opened();
			entry = look(key, opened, opened.database().fromMemory);
		}
		catch (RocksDBException ex) {
			return Failures.isNotInMemory(ex) ? readFromDisk(key, deadline) : Mono.error(unreadable(ex));
		}
		catch (DamagedEntryException ex) {
			return Mono.error(unreadable(ex));
		}
		finally {
			this.gate.leave();
		}
		this.events.readFromMemory();
		return Mono.justOrEmpty(entry);
	}

	/**
	 * Looks into the database, which has a batch shortly before the row cache has it. A
	 * row that has come into the cache meanwhile wins, even if the database is ahead of
	 * it. Otherwise a read that follows this one could return an older entry.
	 */
	private static @Nullable Entry look(Key key, OpenStore opened, ReadOptions from)
			throws RocksDBException, DamagedEntryException {
		Database database = opened.database();
		RowCache rows = opened.derived().rows();
		long asOf = rows.now();
		byte[] found = database.entry(key.bytes(), from);
		byte[] row = rows.get(key);
		if (row != null) {
			return EntryFormat.decode(key, row);
		}
		if (found == null) {
			return null;
		}
		byte[] current = EntryFormat.fromFormat1(key, found, database.format.factor());
		Entry entry = EntryFormat.decode(key, current);
		opened.committer().keep(key, current, asOf);
		return entry;
	}

	private Mono<Entry> readFromDisk(Key key, Deadline deadline) {
		long started = this.time.nanos();
		Duration limit = Duration
			.ofNanos(Math.min(this.settings.readTimeout().toNanos(), deadline.atNanos() - started));
		Executor caller = this.callers.current();
		return Mono.<Entry>create(sink -> readFromDisk(key, started, sink))
			.subscribeOn(this.scheduler)
			.timeout(limit)
			.onErrorMap(TimeoutException.class, _ -> new ReadTimedOut(limit))
			.onErrorMap(RejectedExecutionException.class, _ -> {
				this.events.overloaded();
				return new Overloaded("kvorum.storage.read-queue-length", this.settings.readQueueLength());
			})
			.publishOn(Schedulers.fromExecutor(caller));
	}

	private void readFromDisk(Key key, long started, MonoSink<Entry> sink) {
		if (!this.gate.enter()) {
			sink.error(StoreGate.notOpen());
			return;
		}
		this.silence.asked(this.time.nanos());
		Entry entry;
		try {
			OpenStore opened = this.gate.opened();
			entry = look(key, opened, opened.database().fromAnywhere);
		}
		catch (RocksDBException | DamagedEntryException ex) {
			sink.error(unreadable(ex));
			return;
		}
		finally {
			this.silence.answered(this.time.nanos());
			this.gate.leave();
		}
		this.events.readFromDisk(this.time.nanos() - started);
		sink.success(entry);
	}

	private Mono<Entry> decode(Key key, byte[] bytes) {
		try {
			return Mono.just(EntryFormat.decode(key, bytes));
		}
		catch (DamagedEntryException ex) {
			return Mono.error(unreadable(ex));
		}
	}

	private Unreadable unreadable(Exception cause) {
		this.events.unreadable();
		return new Unreadable(cause);
	}

}
