package io.kvorum.range;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Listed;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import io.kvorum.testing.Pages;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A replica with entries that is asked for ranges: it answers at once or when a test says
 * so, from what it holds then, or fails.
 */
public final class ListingReplica implements Replica {

	/** A question: for a page, or for one entry that was too long for it. */
	final class Call {

		final KeyRange range;

		final Page.Limit limit;

		final Deadline deadline;

		private final MonoSink<Reply> caller;

		private boolean isOver;

		private boolean isCancelled;

		private Call(KeyRange range, Page.Limit limit, Deadline deadline, MonoSink<Reply> caller) {
			this.range = range;
			this.limit = limit;
			this.deadline = deadline;
			this.caller = caller;
			caller.onCancel(() -> this.isCancelled = true);
		}

		boolean isScan() {
			return this.limit.entryBytes() == Page.Limit.USUAL_ENTRY_BYTES;
		}

		boolean isCancelled() {
			return this.isCancelled;
		}

		/** Answers from what is there. */
		void answer() {
			reply(answerTo(this));
		}

		void fail(Reason reason) {
			reply(failure(reason));
		}

		void reply(Reply reply) {
			this.isOver = true;
			this.caller.success(reply);
		}

		/** Ends it without an answer. */
		void endWithoutAReply() {
			this.isOver = true;
			this.caller.success();
		}

		void breakDown(Throwable error) {
			this.isOver = true;
			this.caller.error(error);
		}

	}

	final NavigableMap<Key, Entry> entries = new TreeMap<>();

	/** All it was asked so far. */
	final List<Call> calls = new ArrayList<>();

	private final Member member;

	private boolean isHeld;

	private @Nullable Reason scansFail;

	private @Nullable Reason readsFail;

	private long expectedNanos;

	ListingReplica(Member member) {
		this.member = member;
		this.expectedNanos = 1_000L * member.index();
	}

	private static Failed failure(Reason reason) {
		return Failed.notDone(reason, "scripted");
	}

	void put(Key key, Entry entry) {
		this.entries.put(key, entry);
	}

	/** From now on its answers wait. */
	void hold() {
		this.isHeld = true;
	}

	/** From now on it answers at once. */
	void answerAtOnce() {
		this.isHeld = false;
	}

	void fail(Reason reason) {
		failScans(reason);
		failReads(reason);
	}

	void failScans(Reason reason) {
		this.scansFail = reason;
	}

	void failReads(Reason reason) {
		this.readsFail = reason;
	}

	/** It fails no more. */
	void recover() {
		this.scansFail = null;
		this.readsFail = null;
		this.expectedNanos = 1_000L * this.member.index();
	}

	/** It is known to be away, and says so where it is asked. */
	public void isAway() {
		fail(Reason.AWAY);
		this.expectedNanos = AWAY;
	}

	long scans() {
		return this.calls.stream().filter(Call::isScan).count();
	}

	long reads() {
		return this.calls.size() - scans();
	}

	/** What still waits for an answer. */
	List<Call> open() {
		return this.calls.stream().filter(call -> !call.isOver && !call.isCancelled).toList();
	}

	/** Answers all that waits. */
	void answerAll() {
		open().forEach(Call::answer);
	}

	private Reply answerTo(Call call) {
		Reason failing = call.isScan() ? this.scansFail : this.readsFail;
		if (failing != null) {
			return failure(failing);
		}
		return new Listed(Pages.of(this.entries, call.range, call.limit));
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		throw new AssertionError("a range reads by scans");
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		throw new AssertionError("a range asks for no versions");
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		throw new AssertionError("a range stores nothing");
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return Mono.create(sink -> add(new Call(range, limit, deadline, sink)));
	}

	private void add(Call call) {
		this.calls.add(call);
		if (!this.isHeld) {
			call.answer();
		}
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
