package io.kvorum.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.replication.RangeEvents.Outcome;
import io.kvorum.replication.RangeEvents.Scope;
import io.kvorum.replication.RangeMerge.Large;
import io.kvorum.replication.RangeMerge.Merged;
import io.kvorum.replication.RangeMerge.Whole;
import io.kvorum.replication.RangePiece.Item;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A range under way: asks replicas for pages, merges them, and tells the result piece by
 * piece, each when it is wanted. Nothing is read ahead but a page of each replica, so a
 * client that stops reading stops the scan.
 * <p>
 * It goes on without a replica that fails for as long as enough are left, and asks that
 * one again after a while: a range that takes an hour outlives nodes that restart one
 * after the other, and a damaged block on each of two of them.
 * <p>
 * Large values are not in the pages. The newest version of one is read by itself when it
 * is its turn, from a replica that has shown it: never an older one in its place.
 * <p>
 * Used on the executor that it was opened on. To be closed.
 */
public final class RangeRead {

	private static final Logger logger = LoggerFactory.getLogger(RangeRead.class);

	/** How long until a replica that has failed is asked again. */
	private static final Duration REJOIN_INTERVAL = Duration.ofSeconds(1);

	private static final Failed UNEXPECTED = Failed.notDone(Reason.INTERNAL,
			"the replica met, or sent, what was not expected");

	private final Scope scope;

	private final ReplicaSet replicas;

	/** How many of them must take part, for each key. */
	private final int required;

	private final RangeMerge merge;

	private final RangeSettings settings;

	private final TimeSource time;

	private final RangeEvents events;

	/** Gives back what the range has been lent. */
	private final Runnable onClose;

	private final long startedNanos;

	/** What is asked of each replica. */
	private final @Nullable Question[] asked;

	/** Why a replica does not take part. */
	private final @Nullable Failed[] failures;

	/** From when on one that does not take part is asked again. */
	private final long[] againNanos;

	/** Entries that may still be told. */
	private long remaining;

	/** The next piece, so far. */
	private List<Item> entries = new ArrayList<>();

	private long pieceBytes;

	/** An entry whose value is being read; the piece waits for it. */
	private @Nullable LargeEntry large;

	/** The first key beyond the limit. */
	private @Nullable Key next;

	/** Who waits for a piece. */
	private @Nullable MonoSink<RangePiece> waiting;

	private boolean hasTold;

	private boolean working;

	private boolean workAgain;

	private @Nullable Outcome outcome;

	private boolean closed;

	/**
	 * A range.
	 * @param limit the most entries that are told
	 * @param required how many of the replicas must take part
	 * @param onClose called once
	 */
	RangeRead(Scope scope, KeyRange range, long limit, ReplicaSet replicas, int required, RangeSettings settings,
			TimeSource time, RangeEvents events, Runnable onClose) {
		this.scope = scope;
		this.replicas = replicas;
		this.required = required;
		this.merge = new RangeMerge(range, replicas.size());
		this.settings = settings;
		this.time = time;
		this.events = events;
		this.onClose = onClose;
		this.remaining = limit;
		this.asked = new Question[replicas.size()];
		this.failures = new Failed[replicas.size()];
		this.againNanos = new long[replicas.size()];
		this.startedNanos = time.nanos();
		events.began(scope);
	}

	/**
	 * The next piece, as soon as there is one; to be asked for one after the other, up to
	 * the last. Fails with an {@link OperationFailedException} where too few replicas can
	 * be read.
	 */
	public Mono<RangePiece> next() {
		return Mono.create(sink -> {
			this.waiting = sink;
			work();
		});
	}

	/** Does what can be done now. A reply that comes meanwhile is not waited for. */
	private void work() {
		this.workAgain = true;
		if (this.working) {
			return;
		}
		this.working = true;
		try {
			while (this.workAgain && this.waiting != null && !this.closed) {
				this.workAgain = false;
				advance();
			}
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
		finally {
			this.working = false;
		}
	}

	private void advance() {
		ask();
		if (this.merge.present() < this.required) {
			fail(tooFew());
			return;
		}
		collect();
		ask();
		boolean last = this.large == null && (this.next != null || this.merge.isAtEnd());
		if (last || (this.large == null && !this.entries.isEmpty())) {
			tell(last);
		}
	}

	/** Asks each replica that has room for another page, or may join again. */
	private void ask() {
		for (int position = 0; position < this.asked.length; position++) {
			if (this.asked[position] == null && mayAsk(position)) {
				KeyRange wanted = this.merge.wanted(position);
				if (wanted != null) {
					new PageQuestion(position).ask(this.replicas.at(position).scan(wanted, pageLimit(), deadline()));
				}
			}
		}
	}

	private boolean mayAsk(int position) {
		return this.merge.isPresent(position) || (this.time.nanos() - this.againNanos[position] >= 0
				&& this.replicas.at(position).expectedNanos() != Replica.AWAY);
	}

	/** With a limit, one more: whether there is more has to be told. */
	private Page.Limit pageLimit() {
		return new Page.Limit(this.settings.pageBytes(), (int) Math.min(this.remaining, Integer.MAX_VALUE - 1) + 1);
	}

	private Deadline deadline() {
		return Deadline.after(this.time, this.settings.pageTimeout());
	}

	/** Moves what has been merged to the piece. */
	private void collect() {
		while (this.large == null && this.next == null && this.pieceBytes < this.settings.pageBytes()) {
			Merged merged = this.merge.next(this.time.millis());
			if (merged == null) {
				return;
			}
			if (this.remaining == 0) {
				this.next = merged.key();
				return;
			}
			switch (merged) {
				case Whole whole -> add(whole.key(), whole.live());
				case Large it -> {
					this.large = new LargeEntry(it);
					this.large.read();
				}
			}
		}
	}

	private void add(Key key, Live live) {
		this.entries.add(new Item(key, live));
		this.pieceBytes += key.bytes().length + live.value().length();
		this.remaining--;
	}

	private void tell(boolean last) {
		MonoSink<RangePiece> sink = this.waiting;
		if (sink != null) {
			RangePiece piece = new RangePiece(this.entries, last, this.next);
			this.events.told(this.entries.size(), this.pieceBytes);
			this.waiting = null;
			this.entries = new ArrayList<>();
			this.pieceBytes = 0;
			this.hasTold = true;
			if (last) {
				this.outcome = Outcome.COMPLETE;
			}
			sink.success(piece);
		}
	}

	private void fail(RuntimeException ex) {
		this.outcome = this.hasTold ? Outcome.BROKEN : Outcome.FAILED;
		MonoSink<RangePiece> sink = this.waiting;
		if (sink != null) {
			this.waiting = null;
			sink.error(ex);
		}
	}

	private OperationFailedException tooFew() {
		Tally tally = Tally.awaiting(this.required, this.replicas.size());
		for (int position = 0; position < this.failures.length; position++) {
			Failed failed = this.failures[position];
			tally = tally.add(position, (failed != null) ? failed : Held.nothing());
		}
		return OperationFailedException.ofReads(this.replicas, tally);
	}

	private void lose(int position, Failed why) {
		this.failures[position] = why;
		this.againNanos[position] = this.time.nanos() + REJOIN_INTERVAL.toNanos();
		if (this.merge.isPresent(position)) {
			this.merge.leave(position);
			this.events.replicaLost();
		}
	}

	private void show(int position, Page page) {
		boolean wasPresent = this.merge.isPresent(position);
		this.merge.add(position, page);
		if (!wasPresent && this.merge.isPresent(position)) {
			this.failures[position] = null;
			this.events.replicaBack();
		}
	}

	/** Gives back all that it holds; it tells no more. */
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.waiting = null;
		for (Question question : this.asked) {
			if (question != null) {
				question.cancel();
			}
		}
		if (this.large != null) {
			this.large.cancel();
		}
		this.events.ended(this.scope, (this.outcome != null) ? this.outcome : Outcome.CANCELLED,
				this.time.nanos() - this.startedNanos);
		this.onClose.run();
	}

	/** Something that a replica is asked for: where that flow ends. */
	private abstract class Question extends BaseSubscriber<Reply> {

		private boolean answered;

		void ask(Mono<Reply> reply) {
			reply.subscribe(this);
		}

		@Override
		protected void hookOnNext(Reply reply) {
			answer(reply);
		}

		@Override
		protected void hookOnComplete() {
			if (!this.answered) {
				answer(UNEXPECTED);
			}
		}

		@Override
		protected void hookOnError(Throwable error) {
			logger.error("A replica that was asked for a range met an error that nobody expected", error);
			answer(UNEXPECTED);
		}

		private void answer(Reply reply) {
			this.answered = true;
			if (!RangeRead.this.closed) {
				answered(reply);
				work();
			}
		}

		abstract void answered(Reply reply);

	}

	/** A page of a replica. */
	private final class PageQuestion extends Question {

		private final int position;

		PageQuestion(int position) {
			this.position = position;
			RangeRead.this.asked[position] = this;
		}

		@Override
		void answered(Reply reply) {
			RangeRead.this.asked[this.position] = null;
			switch (reply) {
				case Listed listed -> show(this.position, listed.page());
				case Failed failed -> lose(this.position, failed);
				default -> lose(this.position, UNEXPECTED);
			}
		}

	}

	/** A large entry, asked of one after the other of those who have shown it. */
	private final class LargeEntry {

		private final Large it;

		/** Which holder is asked next. */
		private int turn;

		private @Nullable Question question;

		LargeEntry(Large it) {
			this.it = it;
		}

		void read() {
			int holder = this.it.holders().get(this.turn++);
			Question asking = new Question() {
				@Override
				void answered(Reply reply) {
					answer(holder, reply);
				}
			};
			this.question = asking;
			asking.ask(RangeRead.this.replicas.at(holder).read(this.it.key(), deadline()));
		}

		private void answer(int holder, Reply reply) {
			if (reply instanceof Held held) {
				// Perhaps written, deleted or collected since it was shown: that is told.
				end(held.entry());
			}
			else if (this.turn < this.it.holders().size()) {
				lose(holder, (reply instanceof Failed failed) ? failed : UNEXPECTED);
				read();
			}
			else {
				lose(holder, (reply instanceof Failed failed) ? failed : UNEXPECTED);
				fail(noneReadable());
			}
		}

		private void end(@Nullable Entry entry) {
			RangeRead.this.large = null;
			if (entry instanceof Live live && live.isVisibleAt(RangeRead.this.time.millis())) {
				add(this.it.key(), live);
			}
		}

		private OperationFailedException noneReadable() {
			ReplicaSet holders = RangeRead.this.replicas.only(this.it.holders());
			Tally tally = Tally.awaiting(1, holders.size());
			for (int i = 0; i < holders.size(); i++) {
				Failed failed = RangeRead.this.failures[this.it.holders().get(i)];
				tally = tally.add(i, (failed != null) ? failed : UNEXPECTED);
			}
			return OperationFailedException.ofReads(holders, tally);
		}

		void cancel() {
			if (this.question != null) {
				this.question.cancel();
			}
		}

	}

}
