package io.kvorum.cassandra;

import java.util.function.Function;

import io.kvorum.kv.Key;
import io.kvorum.operation.Newest;
import reactor.core.publisher.Mono;

/**
 * Nodes of Kvorum whose keys gateways take over. Once all are retired, nothing changes
 * there.
 */
public interface RetiredNodes {

	/**
	 * Completes if all of them are retired; fails with a message that says what is not.
	 */
	Mono<Void> check();

	/**
	 * Reads what is newest of a key.
	 * @param use what is done with it, while which its memory counts; not called if there
	 * is nothing
	 * @return fails if no node answers, or one that does is not retired
	 */
	Mono<Void> read(Key key, Function<Newest, Mono<Void>> use);

}
