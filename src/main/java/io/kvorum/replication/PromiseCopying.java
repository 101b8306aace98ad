package io.kvorum.replication;

import java.util.Collection;

import io.kvorum.cluster.Member;
import reactor.core.publisher.Mono;

/** Copies what other nodes have promised. */
@FunctionalInterface
public interface PromiseCopying {

	/**
	 * Completes when this replica has the promises of these members. To be called when it
	 * has their entries: it stores none below a promise. Fails if one of them does not
	 * answer.
	 * @param settles whether keys are settled whose promise stands above the entry here,
	 * which takes a majority of their replicas
	 */
	Mono<Void> copy(Collection<Member> from, boolean settles);

}
