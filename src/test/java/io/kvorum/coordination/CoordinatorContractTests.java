package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.RangeStoreContract;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The contract of the store that the API sees, on nodes without a disk. */
class CoordinatorContractTests {

	abstract static class InMemory extends RangeStoreContract {

		final SteeredTime time = new SteeredTime();

		final HybridLogicalClock clock = new HybridLogicalClock(this.time);

		private volatile @Nullable Overloaded full;

		private volatile @Nullable Unavailable broken;

		InMemory() {
			this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		}

		final StorageEngine storage() {
			return new Steered(() -> this.full, () -> this.broken);
		}

		@Override
		protected Scheduler caller() {
			return Schedulers.immediate();
		}

		@Override
		protected void pass(Duration time) {
			this.time.pass(time);
		}

		@Override
		protected void fill() {
			this.full = new Overloaded("a limit", 1);
		}

		@Override
		protected void breakDown() {
			this.broken = new Unavailable("it is broken");
		}

	}

	@Nested
	class Alone extends InMemory {

		private final Coordinator coordinator = Coordinators.alone(storage(), this.clock, this.time);

		@Override
		protected KeyValueStore store() {
			return this.coordinator;
		}

	}

	@Nested
	class OneOfThree extends InMemory {

		private final Topology topology = Topology.of(List.of("http://a", "http://b", "http://c"), 3);

		private final Coordinator coordinator = Coordinators.of(this.topology, this.topology.members().getFirst(),
				this.topology.members().stream().map(this::replica).toList(), this.clock, this.time, _ -> Mono.never());

		private LocalReplica replica(Member member) {
			return new LocalReplica(member, storage(), this.clock, this.time, VotingRight.TRUSTED, PeerQueries.NONE,
					_ -> false);
		}

		@Override
		protected KeyValueStore store() {
			return this.coordinator;
		}

	}

	/** A storage that refuses writes or fails when the test wants it to. */
	private record Steered(Supplier<@Nullable Overloaded> full, Supplier<@Nullable Unavailable> broken,
			InMemoryStorage stored) implements StorageEngine {

		Steered(Supplier<@Nullable Overloaded> full, Supplier<@Nullable Unavailable> broken) {
			this(full, broken, new InMemoryStorage());
		}

		private <T> Mono<T> unless(@Nullable StorageException failure, Mono<T> answer) {
			return (failure != null) ? Mono.error(failure) : answer;
		}

		@Override
		public boolean hasRoomFor(int valueBytes) {
			return this.full.get() == null;
		}

		@Override
		public @Nullable Overloaded refuseWrite(int valueBytes) {
			return this.full.get();
		}

		@Override
		public Mono<Entry> read(Key key, Deadline deadline) {
			return unless(this.broken.get(), this.stored.read(key, deadline));
		}

		@Override
		public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
			return unless(this.broken.get(), unless(this.full.get(), this.stored.store(key, entry, deadline)));
		}

		@Override
		public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
			return unless(this.broken.get(), this.stored.repair(key, entry, deadline));
		}

		@Override
		public Mono<Version> promised(Key key, Deadline deadline) {
			return unless(this.broken.get(), this.stored.promised(key, deadline));
		}

		@Override
		public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
			return unless(this.broken.get(), unless(this.full.get(), this.stored.prepare(key, ballot, deadline)));
		}

		@Override
		public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
			return unless(this.broken.get(), unless(this.full.get(), this.stored.accept(key, entry, base, deadline)));
		}

		@Override
		public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			return unless(this.broken.get(), this.stored.scan(range, limit, deadline));
		}

		@Override
		public Mono<Void> probe() {
			return unless(this.broken.get(), this.stored.probe());
		}

	}

}
