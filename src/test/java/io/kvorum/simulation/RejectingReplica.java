package io.kvorum.simulation;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Mono;

/** A replica that says when a newer entry is there, as if that were a failure. */
final class RejectingReplica extends ForwardedReplica {

	private static final String REJECTED = "a newer entry is there";

	RejectingReplica(Replica replica) {
		super(replica);
	}

	static boolean isRejection(Failed failed) {
		return failed.detail().equals(REJECTED);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return this.replica.readVersion(key, deadline)
			.flatMap(reply -> (!purpose.isRepair() && reply instanceof Held held
					&& held.version().isNewerThan(entry.version()))
							? Mono.just(Failed.notDone(Reason.INTERNAL, REJECTED))
							: this.replica.store(key, entry, purpose, deadline));
	}

}
