package io.kvorum.testing;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeScope;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A store of one key in memory, with the conditions of writes. */
public final class OneEntryStore implements KeyValueStore {

	private @Nullable Live entry;

	private boolean losesAlways;

	private @Nullable OperationFailedException failure;

	private Runnable beforeNextWrite = () -> {
	};

	/** Has no condition hold from now on. */
	public void loseAlways() {
		this.losesAlways = true;
	}

	/** Fails all reads and writes from now on. */
	public void fail(OperationFailedException failure) {
		this.failure = failure;
	}

	/** Has something happen between the next read and the write that follows it. */
	public void beforeNextWrite(Runnable task) {
		this.beforeNextWrite = task;
	}

	@Override
	public ReplicationPolicy policy() {
		return new ReplicationPolicy(3, 3);
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked, OperationObserver observer) {
		return (this.failure != null) ? Mono.error(this.failure) : Mono.justOrEmpty(this.entry);
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer) {
		return Mono.fromSupplier(() -> {
			Runnable before = this.beforeNextWrite;
			this.beforeNextWrite = () -> {
			};
			before.run();
			if (this.failure != null) {
				throw this.failure;
			}
			Version current = (this.entry != null) ? this.entry.identity() : null;
			if (this.losesAlways || !options.condition().holdsFor(current)) {
				throw new ConditionNotMetException(current);
			}
			Version version = new Version((current != null) ? current.timestamp() + 1 : 1, 1);
			this.entry = new Live(version, Copies.DEFAULT, Live.NEVER, contentType, value);
			return version;
		});
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options, OperationObserver observer) {
		throw new UnsupportedOperationException();
	}

	@Override
	public @Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked,
			int valueBytes) {
		return null;
	}

	@Override
	public RangeCursor range(RangeScope scope, KeyRange range, long limit, OperationObserver observer) {
		throw new UnsupportedOperationException();
	}

}
