package io.kvorum.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Listed;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.transport.TransportEvents.Call;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The replica of a node under test: in memory, or as scripted. For any threads. */
final class TestReplica implements Replica {

	/** What was asked. */
	record Asked(Call call, Key key, @Nullable Entry entry, Deadline deadline) {
	}

	final List<Asked> asked = new CopyOnWriteArrayList<>();

	final StorageEngine storage = new InMemoryStorage();

	private final Member member;

	private volatile Function<Asked, Mono<Reply>> script = this::fromMemory;

	TestReplica(Member member) {
		this.member = member;
	}

	void script(Function<Asked, Mono<Reply>> answers) {
		this.script = answers;
	}

	/** What a replica answers that works. */
	Mono<Reply> fromMemory(Asked one) {
		Entry entry = one.entry();
		if (entry != null) {
			return this.storage.store(one.key(), entry, Deadline.NONE).map(_ -> Acknowledged.INSTANCE);
		}
		return this.storage.read(one.key(), Deadline.NONE)
			.<Reply>map(found -> (one.call() == Call.READ) ? Held.of(found) : new Held(found.version(), null))
			.defaultIfEmpty(new Held(Version.ABSENT, null));
	}

	private Mono<Reply> call(Call call, Key key, @Nullable Entry entry, Deadline deadline) {
		Asked one = new Asked(call, key, entry, deadline);
		this.asked.add(one);
		return this.script.apply(one);
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return call(Call.READ, key, null, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return call(Call.READ_VERSION, key, null, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return call(purpose.isRepair() ? Call.REPAIR : Call.STORE, key, entry, deadline);
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return this.storage.scan(range, limit, deadline).map(Listed::new);
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		throw new UnsupportedOperationException();
	}

	@Override
	public long expectedNanos() {
		return 0;
	}

}
