package io.kvorum.replication;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Held;
import reactor.core.publisher.Mono;

/**
 * Settles keys whose promises keep an entry from being copied: the newest entry is
 * proposed again, and then stands above the promises.
 */
@FunctionalInterface
public interface KeySettling {

	/**
	 * Makes the newest entry of a key what a majority of its replicas holds.
	 * @param least the least version that it is to have
	 * @return the entry, or nothing if the key has none; empty if too few replicas answer
	 */
	Mono<Held> settle(Key key, Version least);

}
