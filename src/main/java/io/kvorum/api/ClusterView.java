package io.kvorum.api;

import java.util.Map;

import reactor.core.publisher.Mono;

/** The cluster as one node sees it, gathered from all nodes. */
@FunctionalInterface
public interface ClusterView {

	/**
	 * Asks all nodes what they are, within a bounded time.
	 * @return the object of the answer, to be written as JSON: the {@code layout}, the
	 * {@code nodes}, and those that are {@code unreachable}; never an error because of a
	 * node that does not answer
	 */
	Mono<Map<String, Object>> gather();

}
