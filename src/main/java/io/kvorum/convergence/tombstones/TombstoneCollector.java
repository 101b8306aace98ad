package io.kvorum.convergence.tombstones;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.tombstones.CollectionRule.Verdict;
import io.kvorum.kv.Key;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.FailureLog;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.function.Tuple2;

/**
 * Collects tombstones in rounds, oldest first. A round reads only tombstones older than
 * the grace time, at most {@value #MOST_LOOKED_AT}; the next round goes on behind them.
 * It comes soon where most of these could go, since clients may delete faster than that.
 * <p>
 * Then it removes promises older than the grace time, by the clock and by elapsed time:
 * no write lives that long.
 */
public final class TombstoneCollector {

	private static final Logger logger = LoggerFactory.getLogger(TombstoneCollector.class);

	/**
	 * The elapsed time for which a promise has to be older than the grace time. Longer
	 * than any write may take.
	 */
	public static final Duration PROMISE_MARGIN = Duration.ofHours(1);

	private static final int PAGE = 500;

	private static final int MOST_LOOKED_AT = 100_000;

	private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

	/** The time between two rounds while there is more to collect. */
	private static final Duration HURRIED_INTERVAL = Duration.ofMillis(100);

	private final FailureLog failures = new FailureLog(logger,
			"A round of tombstones was given up, the next one tries again: {}");

	private final FailureLog failuresOfPromises = new FailureLog(logger,
			"A round of old promises was given up, the next one tries again: {}");

	private final PartitionIndex index;

	private final PromiseLog promises;

	private final CollectionRule rule;

	private final CollectedTombstones collected;

	private final TimeSource time;

	private final Alarms alarms;

	private final Duration interval;

	private final CollectionEvents events;

	private final RipePromises ripe;

	/** The tombstone behind which the next round begins; null for the oldest one. */
	private @Nullable TombstoneRecord next;

	/** Whether the last round left more that may go. */
	private boolean isBehind;

	/** The key behind which the next round of promises begins; null for the first. */
	private @Nullable Key nextPromise;

	/**
	 * The collector of a node.
	 * @param collected takes the tombstones that are collected
	 * @param promiseMargin usually {@link #PROMISE_MARGIN}
	 */
	public TombstoneCollector(PartitionIndex index, PromiseLog promises, CollectionRule rule,
			CollectedTombstones collected, TimeSource time, Alarms alarms, Duration interval, Duration promiseMargin,
			CollectionEvents events) {
		this.index = index;
		this.promises = promises;
		this.rule = rule;
		this.collected = collected;
		this.time = time;
		this.alarms = alarms;
		this.interval = interval;
		this.events = events;
		this.ripe = new RipePromises(rule.hash(), promiseMargin, interval);
	}

	/** Collects while subscribed to. To be subscribed to only once. */
	public Flux<?> run() {
		return Mono.defer(this::round)
			.then(Mono.defer(() -> this.alarms.after(this.isBehind ? HURRIED_INTERVAL : this.interval)))
			.repeat();
	}

	private Mono<Void> round() {
		this.isBehind = false;
		// The one part does not depend on the other.
		return this.failures.tell(new Round(this.next).run())
			.then(this.failuresOfPromises.tell(Mono.defer(this::forgetPromises)));
	}

	/**
	 * Removes old promises: of as many as of tombstones, and the next round goes on
	 * behind them.
	 */
	private Mono<Void> forgetPromises() {
		long graceEndMillis = this.rule.graceEndMillis();
		long now = this.time.nanos();
		this.ripe.forgetGone(now);
		Key after = this.nextPromise;
		this.nextPromise = null;
		return this.promises.allReadable(after, this.time, READ_TIMEOUT)
			.index()
			.take(MOST_LOOKED_AT)
			.doOnNext(promise -> this.nextPromise = (promise.getT1() == MOST_LOOKED_AT - 1) ? promise.getT2().key()
					: null)
			.map(Tuple2::getT2)
			.filter(promise -> promise.ballot().millis() < graceEndMillis && this.ripe.isRipe(promise, now))
			.flatMap(promise -> this.promises.forget(promise).onErrorComplete(StorageException.Unreadable.class), PAGE)
			.then();
	}

	private final class Round {

		private final long graceEndMillis = TombstoneCollector.this.rule.graceEndMillis();

		private final boolean isWhole;

		private final Map<Verdict, Integer> verdicts = new EnumMap<>(Verdict.class);

		private @Nullable TombstoneRecord last;

		private int lookedAt;

		private boolean ended;

		Round(@Nullable TombstoneRecord from) {
			this.last = from;
			this.isWhole = from == null;
		}

		Mono<Void> run() {
			return Mono.defer(this::page).repeat(() -> !this.ended).then(Mono.fromRunnable(this::end));
		}

		private Mono<Void> page() {
			Deadline deadline = Deadline.after(TombstoneCollector.this.time, READ_TIMEOUT);
			return TombstoneCollector.this.index.tombstones(this.last, this.graceEndMillis, PAGE, deadline)
				.flatMap(this::collect);
		}

		private Mono<Void> collect(List<TombstoneRecord> tombstones) {
			this.ended = tombstones.size() < PAGE;
			this.lookedAt += tombstones.size();
			this.last = this.ended ? null : tombstones.getLast();
			this.ended |= this.lookedAt >= MOST_LOOKED_AT;
			return Flux.fromIterable(tombstones)
				.filter(this::isToGo)
				.flatMap(this::remove, PAGE)
				.filter(Boolean::booleanValue)
				.count()
				.doOnNext(count -> TombstoneCollector.this.events.collected(count.intValue()))
				.then();
		}

		private boolean isToGo(TombstoneRecord tombstone) {
			Verdict verdict = TombstoneCollector.this.rule.of(tombstone);
			this.verdicts.merge(verdict, 1, Integer::sum);
			return verdict == Verdict.COLLECT;
		}

		private Mono<Boolean> remove(TombstoneRecord tombstone) {
			EntryHeader header = tombstone.header();
			// Before it is gone: a read may give it back at once.
			TombstoneCollector.this.collected.add(header.version());
			return TombstoneCollector.this.index.remove(header.key(), header.version(), this.graceEndMillis)
				// A damaged one stays, and must not stop the removal of the others.
				.onErrorReturn(StorageException.Unreadable.class, false);
		}

		private void end() {
			TombstoneCollector.this.next = this.last;
			TombstoneCollector.this.isBehind = this.last != null
					&& this.verdicts.getOrDefault(Verdict.COLLECT, 0) > this.lookedAt / 2;
			if (this.isWhole) {
				TombstoneCollector.this.events.waiting(this.verdicts.getOrDefault(Verdict.WAITS_FOR_REPAIR, 0),
						this.verdicts.getOrDefault(Verdict.WAITS_FOR_HINTS, 0));
			}
		}

	}

}
