package io.kvorum.replication;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.StorageEngine;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Carries out operations on keys. In a cluster of one the replica set of every key is
 * this node: its storage keeps one order per key, and a version from its clock is newer
 * than all it has stored, so that a read or a write is one step.
 * <p>
 * Errors are {@link OperationFailedException}s. Cancelling a write does not stop it.
 */
public final class Coordinator {

	private final StorageEngine storage;

	private final HybridLogicalClock clock;

	private final TimeSource time;

	private final ReplicationPolicy policy;

	private final CallerThreads callers;

	public Coordinator(StorageEngine storage, HybridLogicalClock clock, TimeSource time, ReplicationPolicy policy,
			CallerThreads callers) {
		this.storage = storage;
		this.clock = clock;
		this.time = time;
		this.policy = policy;
		this.callers = callers;
	}

	public ReplicationPolicy policy() {
		return this.policy;
	}

	/**
	 * The value of a key; empty where it has none, has been deleted, or has expired.
	 */
	public Mono<Live> get(Key key) {
		return this.storage.read(key)
			.onErrorMap(LocalReplica::failure)
			.filter(entry -> entry.isVisibleAt(this.time.millis()))
			.cast(Live.class);
	}

	/**
	 * Stores a value, in the place of any other.
	 * @param replicas the copies to keep
	 * @param ttl how long it lives from now on; null for ever
	 * @return the version it got
	 */
	public Mono<Version> put(Key key, Replicas replicas, String contentType, Value value, @Nullable Ttl ttl) {
		long expiresAt = (ttl != null) ? ttl.expiresAtMillis(this.time.millis()) : Live.NEVER;
		return write(key, version -> new Live(version, replicas.from(), expiresAt, contentType, value));
	}

	/** Removes the value of a key, if it has one; returns the version of the removal. */
	public Mono<Version> delete(Key key, Replicas replicas) {
		return write(key, version -> new Tombstone(version, replicas.from()));
	}

	private Mono<Version> write(Key key, EntryMaker maker) {
		return nextVersion().flatMap(version -> this.storage.store(key, maker.make(version)).thenReturn(version))
			.onErrorMap(LocalReplica::failure);
	}

	private Mono<Version> nextVersion() {
		try {
			return Mono.just(this.clock.next());
		}
		catch (ClockBoundException _) {
			return Mono.fromCompletionStage(this.clock::extension)
				// Completed by whoever asked first, and answered by who asks now.
				.publishOn(Schedulers.fromExecutor(this.callers.current()))
				.then(Mono.fromSupplier(this.clock::next));
		}
	}

	@FunctionalInterface
	private interface EntryMaker {

		Entry make(Version version);

	}

}
