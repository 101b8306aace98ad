package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
import io.kvorum.storage.PromiseRecord;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

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
			List<PromiseRecord> promises = Awaited
				.of(store.engine.all(null, store.time, Duration.ofSeconds(10)).collectList());
			assertThat(promises).isEmpty();
		}
	}

	private static void accept(TestStore store, Key key, long millis) {
		Version ballot = version(millis);
		Entry entry = Generator.live(ballot, "record").under(ballot, Lineage.of(ballot, true, null));
		Awaited.of(store.engine.accept(key, entry, Version.ABSENT, Deadline.NONE));
	}

	private static Version version(long millis) {
		return new Version(millis << Version.COUNTER_BITS, 1);
	}

	private static void round(TestStore store) {
		Topology alone = Topology.alone();
		CollectionRule rule = new CollectionRule(
				new RepairLog(alone, alone.members().getFirst(), new InMemoryRecord(1)), RendezvousPlacement::hashOf,
				() -> Long.MAX_VALUE, Duration.ofDays(10), KEPT, store.time);
		AtomicInteger alarms = new AtomicInteger();
		CompletableFuture<Long> ended = new CompletableFuture<>();
		Disposable rounds = new RecordCollector(store.engine, store.engine, store.engine, rule, store.time,
				_ -> (alarms.getAndIncrement() == 0) ? Mono.just(0L)
						: Mono.<Long>never().doOnSubscribe(_ -> ended.complete(0L)),
				Duration.ofMinutes(10))
			.run()
			.subscribe();
		Awaited.of(Mono.fromFuture(ended));
		rounds.dispose();
	}

}
