package io.kvorum.transport;

import java.util.List;
import java.util.Objects;
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
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.Listed;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.transport.TransportEvents.Call;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The replica of a node under test: in memory, or as scripted. For any threads. */
final class TestReplica implements Replica {

	/** What was asked. */
	record Asked(Call call, Key key, Version version, @Nullable Entry entry, Deadline deadline) {

		private Entry stored() {
			return Objects.requireNonNull(this.entry);
		}

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
		return switch (one.call()) {
			case STORE, WRITE_BACK -> replyTo(this.storage.store(one.key(), one.stored(), Deadline.NONE));
			case REPAIR -> replyTo(this.storage.repair(one.key(), one.stored(), Deadline.NONE));
			case ACCEPT -> replyTo(this.storage.accept(one.key(), one.stored(), one.version(), Deadline.NONE));
			case PREPARE -> replyTo(this.storage.prepare(one.key(), one.version(), Deadline.NONE))
				.flatMap(reply -> (reply instanceof Acknowledged) ? held(one) : Mono.just(reply));
			default -> held(one);
		};
	}

	private Mono<Reply> held(Asked one) {
		return this.storage.read(one.key(), Deadline.NONE)
			.<Reply>map(found -> (one.call() == Call.READ_VERSION) ? new Held(found.version(), null) : Held.of(found))
			.defaultIfEmpty(new Held(Version.ABSENT, null));
	}

	private static Mono<Reply> replyTo(Mono<StoreOutcome> outcome) {
		return outcome.map(done -> done.isRefused()
				? new Refusal(done.state().promise(), done.state().held()).toFailed() : Acknowledged.INSTANCE);
	}

	private Mono<Reply> call(Call call, Key key, @Nullable Entry entry, Deadline deadline) {
		return call(call, key, Version.ABSENT, entry, deadline);
	}

	private Mono<Reply> call(Call call, Key key, Version version, @Nullable Entry entry, Deadline deadline) {
		Asked one = new Asked(call, key, version, entry, deadline);
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
		return switch (purpose) {
			case WRITE -> call(Call.STORE, key, entry, deadline);
			case WRITE_BACK -> call(Call.WRITE_BACK, key, entry, deadline);
			case REPAIR -> call(Call.REPAIR, key, entry, deadline);
		};
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return call(Call.PREPARE, key, ballot, null, deadline);
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return call(Call.ACCEPT, key, base, entry, deadline);
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
