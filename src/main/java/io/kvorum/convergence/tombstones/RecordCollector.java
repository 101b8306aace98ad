package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.replication.Alarms;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Removes the records of requests once no request can ask for them, and the promises of
 * their keys, in rounds. They leave no tombstones: a record that comes back has expired,
 * so it says nothing.
 */
public final class RecordCollector {

	private static final Logger logger = LoggerFactory.getLogger(RecordCollector.class);

	private static final Page.Limit PAGE = Page.Limit.of(256 << 10, 1000);

	/** The entries or promises that are removed at the same time: they share syncs. */
	private static final int AT_ONCE = 500;

	private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

	private final StorageEngine storage;

	private final PartitionIndex index;

	private final PromiseLog promises;

	private final CollectionRule rule;

	private final TimeSource time;

	private final Alarms alarms;

	private final Duration interval;

	public RecordCollector(StorageEngine storage, PartitionIndex index, PromiseLog promises, CollectionRule rule,
			TimeSource time, Alarms alarms, Duration interval) {
		this.storage = storage;
		this.index = index;
		this.promises = promises;
		this.rule = rule;
		this.time = time;
		this.alarms = alarms;
		this.interval = interval;
	}

	/** Collects while subscribed to. */
	public Flux<?> run() {
		return Mono.defer(() -> this.alarms.after(this.interval)).then(Mono.defer(this::round)).repeat();
	}

	private Mono<Void> round() {
		return removeEntries(InternalKeys.requests()).then(Mono.defer(this::forgetPromises))
			.onErrorResume(StorageException.class, error -> {
				logger.warn("The records of requests were not collected, the next round tries again: {}",
						error.getMessage());
				return Mono.empty();
			});
	}

	private Mono<Void> removeEntries(KeyRange range) {
		return page(range).expand(page -> page.isLast() ? Mono.empty() : page(page.behind(range)))
			.concatMap(this::collect, 1)
			.then();
	}

	private Mono<Page> page(KeyRange range) {
		return this.storage.scan(range, PAGE, Deadline.after(this.time, READ_TIMEOUT));
	}

	private Mono<Void> collect(Page page) {
		List<Mono<Boolean>> removals = new ArrayList<>();
		Page.Cursor cursor = page.cursor();
		while (cursor.advance()) {
			Key key = Key.of(cursor.keyBytes());
			Version version = cursor.version();
			if (this.rule.isForgotten(key, version)) {
				// A damaged entry stays, and must not stop the removal of the others.
				removals.add(this.index.remove(key, version).onErrorReturn(StorageException.Unreadable.class, false));
			}
		}
		return Flux.merge(Flux.fromIterable(removals), AT_ONCE).then();
	}

	private Mono<Void> forgetPromises() {
		return this.promises.all(InternalKeys.beforeRequests(), this.time, READ_TIMEOUT)
			.takeWhile(promise -> InternalKeys.isRequest(promise.key()))
			.filter(promise -> this.rule.isForgotten(promise.key(), promise.ballot()))
			.flatMap(promise -> this.promises.forget(promise).onErrorComplete(StorageException.Unreadable.class),
					AT_ONCE)
			.then();
	}

}
