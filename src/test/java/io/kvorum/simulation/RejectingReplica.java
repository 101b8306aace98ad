package io.kvorum.simulation;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import reactor.core.publisher.Mono;

/** A replica that says when a newer entry is there, as if that were a failure. */
final class RejectingReplica implements Replica {

	private static final String REJECTED = "a newer entry is there";

	private final Replica replica;

	RejectingReplica(Replica replica) {
		this.replica = replica;
	}

	static boolean isRejection(Failed failed) {
		return failed.detail().equals(REJECTED);
	}

	@Override
	public Member member() {
		return this.replica.member();
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return this.replica.read(key, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return this.replica.readVersion(key, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return this.replica.readVersion(key, deadline)
			.flatMap(reply -> (!purpose.isRepair() && reply instanceof Held held
					&& held.version().isNewerThan(entry.version()))
							? Mono.just(Failed.notDone(Reason.INTERNAL, REJECTED))
							: this.replica.store(key, entry, purpose, deadline));
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return this.replica.prepare(key, ballot, deadline);
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return this.replica.accept(key, entry, base, deadline);
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return this.replica.scan(range, limit, deadline);
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		return this.replica.ask(query, deadline);
	}

	@Override
	public long expectedNanos() {
		return this.replica.expectedNanos();
	}

}
