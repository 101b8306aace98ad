package io.kvorum.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** A replica that notes what it is asked and answers when a test says so. */
public final class ScriptedReplica implements Replica {

	/** What it is asked for. */
	enum Asked {

		READ, READ_VERSION, STORE, REPAIR, PREPARE, ACCEPT, SCAN

	}

	/** A call and who waits for its reply. */
	static final class Call {

		final Asked asked;

		private final @Nullable Entry entry;

		final Deadline deadline;

		private final MonoSink<Reply> caller;

		private boolean isAnswered;

		private boolean isCancelled;

		private Call(Asked asked, @Nullable Entry entry, Deadline deadline, MonoSink<Reply> caller) {
			this.asked = asked;
			this.entry = entry;
			this.deadline = deadline;
			this.caller = caller;
			caller.onCancel(() -> this.isCancelled = true);
		}

		/** The version of what is to be stored, or the ballot. */
		Version version() {
			return entry().version();
		}

		/** What is to be stored. */
		Entry entry() {
			if (this.entry == null) {
				throw new AssertionError("nothing is stored by a " + this.asked);
			}
			return this.entry;
		}

		boolean isCancelled() {
			return this.isCancelled;
		}

		void answer(Reply reply) {
			assertOpen();
			this.caller.success(reply);
		}

		void fail(Throwable error) {
			assertOpen();
			this.caller.error(error);
		}

		private void assertOpen() {
			if (this.isAnswered) {
				throw new AssertionError("this call was answered before");
			}
			this.isAnswered = true;
		}

	}

	private final Member member;

	private final List<Call> calls = new ArrayList<>();

	private long expectedNanos;

	private boolean isFull;

	/** Says what to answer at once; null for nothing yet. */
	private Function<Call, @Nullable Reply> script = _ -> null;

	public ScriptedReplica(Member member) {
		this.member = member;
		this.expectedNanos = 1_000L * member.index();
	}

	/** What it answers at once, if anything. */
	void script(Function<Call, @Nullable Reply> answers) {
		this.script = answers;
	}

	/** It answers everything at once, from what it holds. */
	void holds(Entry entry) {
		script(call -> answerOf(call, entry));
	}

	/** It answers everything at once and holds nothing. */
	void holdsNothing() {
		script(call -> answerOf(call, null));
	}

	private static Reply answerOf(Call call, @Nullable Entry entry) {
		return switch (call.asked) {
			case STORE, REPAIR, ACCEPT -> Acknowledged.INSTANCE;
			case READ, PREPARE -> (entry != null) ? Held.of(entry) : Held.nothing();
			case SCAN -> throw new AssertionError("no script for scans");
			case READ_VERSION -> new Held((entry != null) ? entry.version() : Version.ABSENT, null);
		};
	}

	/** It answers everything at once by a failure. */
	void fails(Reason reason) {
		script(_ -> Failed.notDone(reason, "scripted"));
	}

	public void isExpectedToTake(long nanos) {
		this.expectedNanos = nanos;
	}

	/** It is away, and says so where it is asked. */
	public void isAway() {
		isExpectedToTake(AWAY);
		fails(Reason.AWAY);
	}

	/** It has no room, and says so before it is asked. */
	void isFull() {
		this.isFull = true;
	}

	@Override
	public boolean hasRoomFor(int valueBytes) {
		return !this.isFull;
	}

	@Override
	public @Nullable Failed refuseStore(int valueBytes) {
		return this.isFull ? Failed.notDone(Reason.OVERLOADED, "full") : null;
	}

	/** All it was asked so far. */
	List<Asked> asked() {
		return this.calls.stream().map(call -> call.asked).toList();
	}

	/** What it was asked last. */
	Call last() {
		return this.calls.getLast();
	}

	List<Call> stores() {
		return this.calls.stream().filter(call -> call.asked == Asked.STORE || call.asked == Asked.REPAIR).toList();
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return call(Asked.READ, null, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return call(Asked.READ_VERSION, null, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return call(purpose.isRepair() ? Asked.REPAIR : Asked.STORE, entry, deadline);
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return call(Asked.PREPARE, new Tombstone(ballot, 1), deadline);
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return call(Asked.ACCEPT, entry, deadline);
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return call(Asked.SCAN, null, deadline);
	}

	private Mono<Reply> call(Asked asked, @Nullable Entry entry, Deadline deadline) {
		return Mono.create(sink -> {
			Call call = new Call(asked, entry, deadline, sink);
			this.calls.add(call);
			Reply atOnce = this.script.apply(call);
			if (atOnce != null) {
				call.answer(atOnce);
			}
		});
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		throw new UnsupportedOperationException();
	}

	@Override
	public long expectedNanos() {
		return this.expectedNanos;
	}

	@Override
	public String toString() {
		return this.member.address();
	}

}
