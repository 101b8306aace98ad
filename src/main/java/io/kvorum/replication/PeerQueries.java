package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import reactor.core.publisher.Mono;

/** Answers the queries of other nodes. */
@FunctionalInterface
public interface PeerQueries {

	/** The answers of a node without peers. */
	PeerQueries NONE = (_, _) -> Mono.just(Failed.notDone(Reason.INTERNAL, "this node answers no queries"));

	/** Replies with {@link Answered} or a failure; there are no error signals. */
	Mono<Reply> answer(PeerQuery query, Deadline deadline);

}
