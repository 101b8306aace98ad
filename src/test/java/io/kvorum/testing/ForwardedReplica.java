package io.kvorum.testing;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import reactor.core.publisher.Mono;

/** Another replica, for tests in which one call of it goes differently. */
public abstract class ForwardedReplica implements Replica {

	protected final Replica replica;

	protected ForwardedReplica(Replica replica) {
		this.replica = replica;
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
		return this.replica.store(key, entry, purpose, deadline);
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
