package io.kvorum.simulation;

import java.util.Map;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What clients ask a node for. */
interface Operations {

	/** The replicas of an operation that names none. */
	Replicas defaults();

	/** The value, or empty. */
	Mono<Live> get(Key key, Replicas asked);

	Mono<Version> put(Key key, WriteOptions options, int value, @Nullable Ttl ttl);

	Mono<Version> delete(Key key, WriteOptions options);

	/**
	 * Goes on with other nodes; operations under way do so with those they began with.
	 */
	default void become(Parts parts) {
		throw new UnsupportedOperationException("these nodes do not change");
	}

	/** The values of all keys that have one, in pages of about so many bytes. */
	Mono<Map<Key, Integer>> range(int pageBytes);

}
