package io.kvorum.storage.rocksdb;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Removes entries that expired long ago. It iterates the expiries in the order of their
 * instants, up to the horizon, so it reads only what is due. The committer removes each
 * entry, unless it was overwritten.
 */
final class ExpiryCollector {

	/** The expiries read by one iterator, so that it does not pin old files for long. */
	private static final int PAGE = 500;

	private final CollectorReader reader;

	private final Function<Expiry, Mono<Boolean>> remove;

	private final ExpiryHorizon horizon;

	private final StorageEvents events;

	ExpiryCollector(CollectorReader reader, Function<Expiry, Mono<Boolean>> remove, ExpiryHorizon horizon,
			StorageEvents events) {
		this.reader = reader;
		this.remove = remove;
		this.horizon = horizon;
		this.events = events;
	}

	/**
	 * Removes all entries that are due. Blocks; ends early if the thread is interrupted.
	 */
	void collect() {
		byte[] end = Expiry.before(this.horizon.millis() + 1);
		byte[] next = {};
		while (next != null && !Thread.currentThread().isInterrupted()) {
			List<Expiry> due = page(next, end);
			this.events.collected(removeAll(due));
			next = (due.size() == PAGE) ? due.getLast().toKey() : null;
		}
	}

	private List<Expiry> page(byte[] start, byte[] end) {
		try {
			return this.reader.expiries(start, end, PAGE);
		}
		catch (RocksDBException ex) {
			this.events.unreadable();
			throw new StorageException.Unreadable(ex);
		}
	}

	private int removeAll(List<Expiry> due) {
		Mono<Long> removed = Flux.fromIterable(due)
			.flatMap(expiry -> this.remove.apply(expiry)
				// A damaged entry stays, and must not stop the removal of the others.
				.onErrorReturn(StorageException.Unreadable.class, false), PAGE)
			.filter(Boolean::booleanValue)
			.count();
		try {
			return removed.toFuture().join().intValue();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof StorageException failure) ? failure : ex;
		}
	}

}
