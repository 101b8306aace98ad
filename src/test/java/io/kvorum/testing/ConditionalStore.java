package io.kvorum.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A store in memory that keeps conditions: one register a key, three replicas by name. It
 * stores each value under a ballot that is a minute newer than its write, so the version
 * of a value is never its identity.
 */
public final class ConditionalStore implements KeyValueStore {

	private static final int NODES = 3;

	private static final long NODE = 7;

	/** Fails all writes; null while they succeed. */
	private volatile @Nullable RuntimeException failure;

	/** Fails reads; null while they succeed. */
	private volatile @Nullable RuntimeException readFailure;

	/** The least number of replicas of a read that fails. */
	private volatile int failingAck;

	private volatile ReplicationPolicy policy = new ReplicationPolicy(NODES, NODES);

	private final List<Replicas> reads = new ArrayList<>();

	private volatile Runnable beforeNextWrite = () -> {
	};

	private final Map<Key, Live> values = new HashMap<>();

	private final List<WriteOptions> options = new ArrayList<>();

	private long millis = SteeredTime.START_MILLIS;

	/** Fails all writes from now on; null to let them succeed. */
	public void failWrites(@Nullable RuntimeException failure) {
		this.failure = failure;
	}

	/** Fails all reads from now on; null to let them succeed. */
	public void failReads(@Nullable RuntimeException failure) {
		failReads(failure, 1);
	}

	/**
	 * Fails reads from now on that wait for so many replicas; null to let them succeed.
	 */
	public void failReads(@Nullable RuntimeException failure, int ack) {
		this.failingAck = ack;
		this.readFailure = failure;
	}

	/** Says from now on that operations are replicated in this way. */
	public void policy(ReplicationPolicy policy) {
		this.policy = policy;
	}

	/** The levels of all reads so far. */
	public synchronized List<Replicas> reads() {
		return List.copyOf(this.reads);
	}

	/** Has something happen between the next read and the write that follows it. */
	public void beforeNextWrite(Runnable task) {
		this.beforeNextWrite = task;
	}

	/** The conditions of all writes so far. */
	public synchronized List<Condition> conditions() {
		return this.options.stream().map(WriteOptions::condition).toList();
	}

	/** The options of all writes so far. */
	public synchronized List<WriteOptions> options() {
		return List.copyOf(this.options);
	}

	@Override
	public ReplicationPolicy policy() {
		return this.policy;
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return Mono.fromSupplier(() -> current(key, asked));
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer) {
		return Mono.fromSupplier(() -> written(key, options,
				identity -> new Live(identity, Copies.of(NODES), Live.NEVER, contentType, value)));
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options, OperationObserver observer) {
		return Mono.fromSupplier(() -> written(key, options, _ -> null));
	}

	private synchronized @Nullable Live current(Key key, Replicas asked) {
		this.reads.add(asked);
		RuntimeException failure = this.readFailure;
		if (failure != null && asked.ack() >= this.failingAck) {
			throw failure;
		}
		return this.values.get(key);
	}

	private Version written(Key key, WriteOptions options, Maker maker) {
		Runnable before = this.beforeNextWrite;
		this.beforeNextWrite = () -> {
		};
		before.run();
		return write(key, options, maker);
	}

	private synchronized Version write(Key key, WriteOptions options, Maker maker) {
		this.options.add(options);
		RuntimeException failure = this.failure;
		if (failure != null) {
			throw failure;
		}
		Live current = this.values.get(key);
		Version identity = (current != null) ? current.identity() : null;
		if (!options.condition().holdsFor(identity)) {
			throw new ConditionNotMetException(identity);
		}
		this.millis += 1;
		Version written = new Version(this.millis << Version.COUNTER_BITS, NODE);
		Live made = maker.make(written);
		if (made == null) {
			this.values.remove(key);
		}
		else {
			this.values.put(key, (Live) made.again(new Version((this.millis + 60_000) << Version.COUNTER_BITS, NODE)));
		}
		return written;
	}

	@Override
	public @Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked,
			int valueBytes) {
		return null;
	}

	@Override
	public RangeCursor range(RangeQuery query, OperationObserver observer) {
		throw new UnsupportedOperationException("no ranges");
	}

	/** Makes the value of a write; null for a delete. */
	private interface Maker {

		@Nullable Live make(Version identity);

	}

}
