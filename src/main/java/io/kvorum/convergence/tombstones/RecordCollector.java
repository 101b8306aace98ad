package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.KeyRange;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.FailureLog;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
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

	private static final int PAGE = 1000;

	/** The entries or promises that are removed at the same time: they share syncs. */
	private static final int AT_ONCE = 500;

	private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

	private final FailureLog failures = new FailureLog(logger,
			"A round of records of requests was given up, the next one tries again: {}");

	private final FailureLog failuresOfPromises = new FailureLog(logger,
			"A round of promises of requests was given up, the next one tries again: {}");

	private final PartitionIndex index;

	private final PromiseLog promises;

	private final CollectionRule rule;

	private final TimeSource time;

	private final Alarms alarms;

	private final Duration interval;

	public RecordCollector(PartitionIndex index, PromiseLog promises, CollectionRule rule, TimeSource time,
			Alarms alarms, Duration interval) {
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
		// The one part does not depend on the other.
		return this.failures.tell(removeEntries()).then(this.failuresOfPromises.tell(Mono.defer(this::forgetPromises)));
	}

	private Mono<Void> removeEntries() {
		return page(InternalKeys.requests())
			.expand(page -> (page.size() < PAGE) ? Mono.empty()
					: page(InternalKeys.requests().after(page.getLast().key().bytes())))
			.concatMap(this::collect, 1)
			.then();
	}

	private Mono<List<EntryHeader>> page(KeyRange range) {
		return this.index.headers(range, PAGE, Deadline.after(this.time, READ_TIMEOUT));
	}

	private Mono<Void> collect(List<EntryHeader> page) {
		return Flux.fromIterable(page)
			.filter(record -> this.rule.isForgotten(record.key(), record.version()))
			.flatMap(record -> this.index.remove(record.key(), record.version())
				// A damaged entry stays, and must not stop the removal of the others.
				.onErrorReturn(StorageException.Unreadable.class, false), AT_ONCE)
			.then();
	}

	private Mono<Void> forgetPromises() {
		return this.promises.allReadable(InternalKeys.beforeRequests(), this.time, READ_TIMEOUT)
			.takeWhile(promise -> InternalKeys.isRequest(promise.key()))
			.filter(promise -> this.rule.isForgotten(promise.key(), promise.ballot()))
			.flatMap(promise -> this.promises.forget(promise).onErrorComplete(StorageException.Unreadable.class),
					AT_ONCE)
			.then();
	}

}
