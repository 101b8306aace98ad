package io.kvorum.convergence.tombstones;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.replication.Alarms;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.ForwardedIndex;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** Rounds of a node without others, over a store of which a part cannot be read. */
class TombstoneCollectorTests {

	private static final Duration GRACE = Duration.ofDays(10);

	private static final Duration INTERVAL = Duration.ofMinutes(10);

	private static final Duration PROMISE_MARGIN = Duration.ofHours(1);

	private final SteeredTime time = new SteeredTime();

	private final InMemoryStorage storage = new InMemoryStorage();

	private final List<Key> keys = IntStream.range(0, 3).mapToObj(i -> Generator.key("key " + i)).toList();

	TombstoneCollectorTests() {
		long millis = this.time.millis();
		for (Key key : this.keys) {
			Version version = new Version(millis++ << Version.COUNTER_BITS, 1);
			Now.of(this.storage.store(key, new Tombstone(version, Copies.DEFAULT), Deadline.NONE));
			Now.of(this.storage.keep(Generator.key("promised"), version));
		}
		this.time.pass(GRACE.plusDays(1));
	}

	/** One round; the next one never comes. */
	private void round(ForwardedIndex index) {
		round(index, _ -> Mono.never());
	}

	/** One round, and another one that much later. */
	private void rounds(ForwardedIndex index, Duration later) {
		AtomicInteger rounds = new AtomicInteger();
		round(index, _ -> (rounds.incrementAndGet() < 2) ? Mono.fromSupplier(() -> {
			this.time.pass(later);
			return 0L;
		}) : Mono.never());
	}

	private void round(ForwardedIndex index, Alarms alarms) {
		Topology alone = Topology.alone();
		CollectionRule rule = new CollectionRule(
				new RepairLog(alone, alone.members().getFirst(), new InMemoryRecord(1)), RendezvousPlacement::hashOf,
				() -> Long.MAX_VALUE, () -> true, GRACE, Duration.ofMinutes(20), this.time);
		new TombstoneCollector(index, this.storage, rule, new CollectedTombstones(), this.time, alarms, INTERVAL,
				PROMISE_MARGIN, CollectionEvents.NONE)
			.run()
			.subscribe()
			.dispose();
	}

	private boolean hasPromises() {
		return Boolean.TRUE.equals(Now.of(this.storage.all(null, this.time, Duration.ofSeconds(1)).hasElements()));
	}

	private static <T> Mono<T> unreadable() {
		return Mono.error(() -> new StorageException.Unreadable(new IOException("damaged")));
	}

	@Test
	void aTombstoneThatCannotBeReadStaysAndTheOthersGo() {
		round(new ForwardedIndex(this.storage) {
			@Override
			public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
				return key.equals(TombstoneCollectorTests.this.keys.getFirst()) ? unreadable()
						: super.remove(key, version, promisedBeforeMillis);
			}
		});

		assertThat(this.keys.stream().map(key -> Now.of(this.storage.read(key, Deadline.NONE)) != null))
			.containsExactly(true, false, false);
	}

	@Test
	void theNextRoundComesSoonWhileThereIsMoreToCollect() {
		List<Duration> waits = new ArrayList<>();
		TombstoneRecord record = Objects
			.requireNonNull(Now.of(this.storage.tombstones(null, Long.MAX_VALUE, 1, Deadline.NONE)))
			.getFirst();

		round(new ForwardedIndex(this.storage) {
			private int pages;

			@Override
			public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
					Deadline deadline) {
				return Mono.just(Collections.nCopies((this.pages++ < 300) ? limit : 1, record));
			}

			@Override
			public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
				return Mono.just(true);
			}
		}, wait -> {
			waits.add(wait);
			return (waits.size() < 2) ? Mono.just(0L) : Mono.never();
		});

		assertThat(waits).containsExactly(Duration.ofMillis(100), INTERVAL);
	}

	/** However far the clock is ahead: what they refuse may be under way. */
	@Test
	void promisesStayForTheirMarginOfElapsedTime() {
		rounds(new ForwardedIndex(this.storage) {
		}, PROMISE_MARGIN.minusMillis(1));

		assertThat(hasPromises()).isTrue();
	}

	@Test
	void oldPromisesGoThoughTombstonesCannotBeListed() {
		rounds(new ForwardedIndex(this.storage) {
			@Override
			public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
					Deadline deadline) {
				return unreadable();
			}
		}, PROMISE_MARGIN);

		assertThat(hasPromises()).isFalse();
	}

}
