package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply;
import reactor.core.publisher.Mono;

/**
 * Answers what other nodes ask this one beside reading and storing.
 */
@FunctionalInterface
public interface PeerQueries {

	/** Of a node that nobody asks. */
	PeerQueries NONE = (_, _) -> Mono.just(Failed.notDone(Reason.INTERNAL, "this node answers no questions"));

	/**
	 * {@link Answered}, or the failure to answer; no error signals.
	 * @param query of one of the kinds that are known here
	 */
	Mono<Reply> answer(byte[] query, Deadline deadline);

}
