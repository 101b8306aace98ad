package io.kvorum.simulation;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Partitions;
import io.kvorum.replication.Replica;
import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A design with one shortcut in how replicas are made equal.
 * <p>
 * Two are not among them, as they showed nothing in 100 severe histories: a window of
 * hints longer than tombstones are kept, and a node that votes after any absence. A
 * tombstone also waits for a repair with each node, so that one rule backs the other.
 *
 * @param repairsAreForged whether tombstones are collected as if all had been repaired
 * @param agesCount whether it matters how old a disk is, or a backup
 */
record ConvergenceMutant(String name, BiFunction<Replica, TimeSource, Replica> replica, boolean acceptsLoss,
		boolean repairs, boolean repairsAreForged, boolean agesCount) implements Design {

	static Stream<ConvergenceMutant> all() {
		return Stream.of(of("tombstones are collected without repair").forged(),
				of("a node that has lost its disk votes").accepting(),
				of("repair leaves out what a replica has nothing of").on(FlawedReplica::thatIgnoresAbsent),
				of("expiry is stamped and judged by each replica").on(FlawedReplica::thatStampsExpiry),
				of("repair counts stores that are lost").on(FlawedReplica::thatLosesRepairs),
				of("hints stay and nothing is compared").withoutRepair());
	}

	/** Shown where all nodes are restored. */
	static ConvergenceMutant withoutAges() {
		return new ConvergenceMutant("a node votes however old its backup is", ForgetfulWitness::of, false, true, false,
				false);
	}

	private static ConvergenceMutant of(String name) {
		return new ConvergenceMutant(name, (replica, _) -> replica, false, true, false, true);
	}

	private ConvergenceMutant on(BiFunction<Replica, TimeSource, Replica> flawed) {
		return new ConvergenceMutant(this.name, flawed, false, true, false, true);
	}

	private ConvergenceMutant accepting() {
		return new ConvergenceMutant(this.name, this.replica, true, true, false, true);
	}

	private ConvergenceMutant withoutRepair() {
		return new ConvergenceMutant(this.name, this.replica, false, false, false, true);
	}

	private ConvergenceMutant forged() {
		return new ConvergenceMutant(this.name, this.replica, false, true, true, true);
	}

	@Override
	public Replica replica(Replica local, TimeSource time) {
		return this.replica.apply(local, time);
	}

	@Override
	public Duration mostAway(Duration usual) {
		return this.agesCount ? usual : Duration.ofDays(1);
	}

	@Override
	public @Nullable NodeRecord forgedRepairs(Topology topology) {
		return this.repairsAreForged ? new Forgery(topology.fingerprint()) : null;
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** Says of every slice that it has been repaired in the far future. */
	private record Forgery(long fingerprint) implements NodeRecord {

		@Override
		public long identity() {
			return 1;
		}

		@Override
		public long clockBoundMillis() {
			return 0;
		}

		@Override
		public CompletionStage<?> storeClockBound(long millis) {
			return CompletableFuture.completedStage(null);
		}

		@Override
		public boolean isNew() {
			return false;
		}

		@Override
		public byte[] recorded(String name) {
			ByteBuffer forged = ByteBuffer.allocate(Long.BYTES * (1 + Partitions.SLICES)).putLong(this.fingerprint);
			while (forged.hasRemaining()) {
				forged.putLong(Long.MAX_VALUE);
			}
			return forged.array();
		}

		@Override
		public Mono<Void> record(String name, byte[] value) {
			return Mono.empty();
		}

	}

}
