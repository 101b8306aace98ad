package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply;
import reactor.core.publisher.Mono;

/** Answers the queries of peers other than reads and stores. */
@FunctionalInterface
public interface PeerQueries {

	/** Answers no query, on a node without peers. */
	PeerQueries NONE = (_, _) -> Mono.just(Failed.notDone(Reason.INTERNAL, "this node answers no queries"));

	/**
	 * Replies with {@link Answered} or with a failure, never with an error signal.
	 * @param query a query of a kind that this node knows
	 */
	Mono<Reply> answer(byte[] query, Deadline deadline);

}
