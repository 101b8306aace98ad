package io.kvorum.operation;

import java.time.Duration;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A store of keys and values, as the API sees it.
 * <p>
 * Operations begin when they are subscribed to. They fail with an
 * {@link OperationFailedException}. Cancelling a write does not undo it. Results arrive
 * on the executor of the caller.
 */
public interface KeyValueStore {

	/** How operations are replicated, and what each level promises. */
	ReplicationPolicy policy();

	/**
	 * Reads the value of a key; empty if the key has none, was deleted, or has expired.
	 * @param asked how many replicas must answer, of how many
	 * @param timeout the longest time that the caller waits; null for that of the store,
	 * which it does not exceed
	 */
	Mono<Live> get(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer);

	/**
	 * Reads what is newest of a key, also of one without a value where the store
	 * remembers that; empty if there is nothing.
	 * @param asked as in {@link #get}
	 * @param timeout as in {@link #get}
	 */
	default Mono<Newest> newest(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return get(key, asked, timeout, observer).map(Newest::of);
	}

	/** Reads the value of a key within the time of the store. */
	default Mono<Live> get(Key key, Replicas asked, OperationObserver observer) {
		return get(key, asked, null, observer);
	}

	/**
	 * Stores a value and replaces any other.
	 * <p>
	 * Fails with a {@link ConditionNotMetException} if the condition does not hold.
	 * Comparing and storing are one step of a linearizable history. So a condition needs
	 * linearizable {@code replicas}.
	 * <p>
	 * A write with an idempotency key happens once. A repeat returns, or fails with, what
	 * the first one has found, through any node. That holds for a limited time, and not
	 * for failures: a write that failed is tried again.
	 * @param ttl how long the value lives, from the instant of its version; null if it
	 * does not expire
	 * @return the version of the write, which is its identity
	 */
	Mono<Version> put(Key key, WriteOptions options, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer);

	/** Stores a value without a condition. */
	default Mono<Version> put(Key key, Replicas asked, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer) {
		return put(key, WriteOptions.of(asked), contentType, value, ttl, observer);
	}

	/**
	 * Removes the value of a key, if there is one; returns the version of the removal.
	 * @param options as in {@link #put}
	 */
	Mono<Version> delete(Key key, WriteOptions options, OperationObserver observer);

	/** Removes the value of a key without a condition. */
	default Mono<Version> delete(Key key, Replicas asked, OperationObserver observer) {
		return delete(key, WriteOptions.of(asked), observer);
	}

	/**
	 * Refuses a write that is certain to fail. The caller asks before it reads the value.
	 * @param valueBytes the length of the value
	 * @return why the write is refused; null if it should be tried, and may still fail
	 */
	@Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked, int valueBytes);

	/**
	 * Opens a range of keys. The caller closes the cursor and uses it on one executor.
	 * @throws OperationFailedException if too many ranges are open; nothing was done
	 */
	RangeCursor range(RangeQuery query, OperationObserver observer);

}
