package io.kvorum.simulation;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Mono;

/** A replica that says "absent" of what it cannot read. */
final class ForgetfulReplica extends ForwardedReplica {

	ForgetfulReplica(Replica replica) {
		super(replica);
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return this.replica.read(key, deadline).map(ForgetfulReplica::orAbsent);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return this.replica.readVersion(key, deadline).map(ForgetfulReplica::orAbsent);
	}

	private static Reply orAbsent(Reply reply) {
		return (reply instanceof Failed) ? Held.nothing() : reply;
	}

}
