package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.tombstones.CollectionRule;
import io.kvorum.convergence.tombstones.RecordCollector;
import io.kvorum.kv.Entry;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageException;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.ForwardedIndex;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The records of requests on a disk, and what is left of them. */
class RecordCollectorTests {

	private static final Duration KEPT = Duration.ofMinutes(20);

	/** More than a page. */
	private static final int REQUESTS = 1500;

	@TempDir
	private Path directory;

	@Test
	void recordsThatNoClientCanAskForAreRemovedWithTheirPromises() {
		try (TestStore store = TestStore.on(this.directory)) {
			long now = store.time.millis();
			long old = now - KEPT.toMillis() - 1;
			for (int i = 0; i < REQUESTS; i++) {
				accept(store, InternalKeys.ofRequest("old " + i), old);
			}
			Key overwritten = InternalKeys.ofRequest("overwritten");
			accept(store, overwritten, old - 1);
			store.store(overwritten, Generator.live(version(old), "done"));
			Key young = InternalKeys.ofRequest("young");
			accept(store, young, old + 1);
			Key client = Generator.key("a client's");
			accept(store, client, old);

			round(store);

			assertThat(store.read(InternalKeys.ofRequest("old 0"))).isNull();
			assertThat(store.read(InternalKeys.ofRequest("old " + (REQUESTS - 1)))).isNull();
			assertThat(store.read(overwritten)).isNull();
			assertThat(store.read(young)).isNotNull();
			assertThat(store.read(client)).isNotNull();
			assertThat(promises(store)).isEmpty();
		}
	}

	@Test
	void aRecordThatCannotBeReadStaysAndTheOthersGo() {
		try (TestStore store = TestStore.on(this.directory)) {
			long old = store.time.millis() - KEPT.toMillis() - 1;
			List<Key> keys = List.of(InternalKeys.ofRequest("a"), InternalKeys.ofRequest("b"),
					InternalKeys.ofRequest("c"));
			keys.forEach(key -> accept(store, key, old));

			round(store, new ForwardedIndex(store.engine) {
				@Override
				public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
					return key.equals(keys.getFirst())
							? Mono.error(new StorageException.Unreadable(new IOException("damaged")))
							: super.remove(key, version, promisedBeforeMillis);
				}
			});

			assertThat(keys.stream().map(store::read)).satisfiesExactly(first -> assertThat(first).isNotNull(),
					second -> assertThat(second).isNull(), third -> assertThat(third).isNull());
		}
	}

	@Test
	void aDamagedRecordStaysAndTheOthersGoWithTheirPromises() throws RocksDBException {
		Key damaged = InternalKeys.ofRequest("b");
		Key none = InternalKeys.ofRequest("c");
		try (Database database = Database.open(TestSettings.of(this.directory))) {
			byte[] entry = EntryFormat.encode(damaged, Generator.live(version(1), "value"));
			entry[entry.length - 1] ^= 1;
			database.db.put(database.entries, damaged.bytes(), entry);
			database.db.put(database.entries, none.bytes(), new byte[] { 9, 9 });
		}
		try (TestStore store = TestStore.on(this.directory)) {
			long old = store.time.millis() - KEPT.toMillis() - 1;
			Key before = InternalKeys.ofRequest("a");
			Key behind = InternalKeys.ofRequest("d");
			accept(store, before, old);
			accept(store, behind, old);

			round(store);

			assertThat(store.read(before)).isNull();
			assertThat(store.read(behind)).isNull();
			assertThat(promises(store)).isEmpty();
			assertThatExceptionOfType(StorageException.Unreadable.class).isThrownBy(() -> store.read(damaged));
		}
	}

	@Test
	void recordsAndPromisesOutsideOfDamagedBlocksGo() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			Awaited.of(Flux.range(0, REQUESTS)
				.flatMap(i -> store.engine.accept(request(i), record(store.time.millis()), Version.ABSENT,
						Deadline.NONE), REQUESTS)
				.then());
			Awaited.of(Flux.range(0, REQUESTS)
				.flatMap(i -> store.engine.prepare(request(i), version(store.time.millis() + 1), Deadline.NONE),
						REQUESTS)
				.then());
		}
		Tables.damage(this.directory, "entries");
		Tables.damage(this.directory, "promises");
		try (TestStore store = TestStore.on(this.directory)) {
			store.time.pass(KEPT.plusSeconds(1));

			round(store);

			assertThat(store.read(request(REQUESTS - 1))).isNull();
			assertThat(Awaited.of(store.engine.allReadable(null, store.time, Duration.ofSeconds(10)).collectList()))
				.isEmpty();
		}
	}

	private static Key request(int i) {
		return InternalKeys.ofRequest("request %05d".formatted(i));
	}

	private static List<PromiseRecord> promises(TestStore store) {
		return Objects
			.requireNonNull(Awaited.of(store.engine.all(null, store.time, Duration.ofSeconds(10)).collectList()));
	}

	private static Entry record(long millis) {
		Version ballot = version(millis);
		return Generator.live(ballot, "record").under(ballot, Lineage.of(ballot, true, null));
	}

	private static void accept(TestStore store, Key key, long millis) {
		Awaited.of(store.engine.accept(key, record(millis), Version.ABSENT, Deadline.NONE));
	}

	private static Version version(long millis) {
		return new Version(millis << Version.COUNTER_BITS, 1);
	}

	private static void round(TestStore store) {
		round(store, store.engine);
	}

	private static void round(TestStore store, PartitionIndex index) {
		Topology alone = Topology.alone();
		CollectionRule rule = new CollectionRule(
				new RepairLog(alone, alone.members().getFirst(), new InMemoryRecord(1)), RendezvousPlacement::hashOf,
				() -> Long.MAX_VALUE, () -> true, Duration.ofDays(10), KEPT, store.time);
		AtomicInteger alarms = new AtomicInteger();
		CompletableFuture<Long> ended = new CompletableFuture<>();
		Disposable rounds = new RecordCollector(index, store.engine, rule, store.time,
				_ -> (alarms.getAndIncrement() == 0) ? Mono.just(0L)
						: Mono.<Long>never().doOnSubscribe(_ -> ended.complete(0L)),
				Duration.ofMinutes(10))
			.run()
			.subscribe();
		Awaited.of(Mono.fromFuture(ended));
		rounds.dispose();
	}

}
