package io.kvorum.range;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangeScope;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.range.RangeMerge.Large;
import io.kvorum.range.RangeMerge.Merged;
import io.kvorum.range.RangeMerge.Whole;
import io.kvorum.replication.Listed;
import io.kvorum.replication.ObservedCall;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicaSet;
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
 * one again after a while, or at once where it would be one too few otherwise: a range
 * that takes an hour outlives nodes that restart one after the other, and a damaged block
 * on each of two of them.
 * <p>
 * Large values are not in the pages. The newest version of one is read by itself when it
 * is its turn, from a replica that has shown it; where that fails, that replica is left
 * out and the key is merged again.
 * <p>
 * Used on the executor that it was opened on. To be closed.
 */
public final class RangeRead implements RangeCursor {

	private static final Logger logger = LoggerFactory.getLogger(RangeRead.class);

	/** How long until a replica that has failed is asked again. */
	private static final Duration REJOIN_INTERVAL = Duration.ofSeconds(1);

	/** How much longer the pages of a range with a limit become, each time. */
	private static final int PAGE_GROWTH = 4;

	private static final Failed UNEXPECTED = Failed.notDone(Reason.INTERNAL,
			"the replica met, or sent, what was not expected");

	private static final Failed NOT_THERE = Failed.notDone(Reason.UNREADABLE,
			"the replica has lost an entry that it had shown");

	private final RangeScope scope;

	private final ReplicaSet replicas;

	/** How many of them must take part, for each key. */
	private final int required;

	private final RangeMerge merge;

	private final RangeSettings settings;

	private final TimeSource time;

	private final RangeEvents events;

	private final OperationObserver observer;

	/** Gives back what the range has been lent. */
	private final Runnable onClose;

	private final long startedNanos;

	/** What is asked of each replica. */
	private final @Nullable ReplicaCall[] calls;

	/** Why a replica does not take part. */
	private final @Nullable Failed[] failures;

	/** From when on one that does not take part is asked again. */
	private final long[] againNanos;

	/** Where the merge was when one was lost. */
	private final long[] lostAt;

	/** Whether the next page of a replica could not be read before it was needed. */
	private final boolean[] hasFailedAhead;

	/** How many items the next page of a replica may have. */
	private final long[] pageItems;

	/** Whether a replica has answered at all. */
	private final boolean[] hasAnswered;

	/** Entries that may still be told. */
	private long remaining;

	/** The next piece, so far. */
	private List<Item> entries = new ArrayList<>();

	private long pieceBytes;

	/** An entry whose value is being read; the piece waits for it. */
	private @Nullable LargeCall large;

	/** The first key beyond the limit. */
	private @Nullable Key next;

	/** Who waits for a piece. */
	private @Nullable MonoSink<RangePiece> waiting;

	private boolean hasEmitted;

	private boolean working;

	private boolean workAgain;

	private @Nullable RangeOutcome outcome;

	private boolean closed;

	/**
	 * A range.
	 * @param limit the most entries that are told
	 * @param required how many of the replicas must take part
	 * @param observer told how it goes
	 * @param onClose called once
	 */
	RangeRead(RangeScope scope, KeyRange range, long limit, ReplicaSet replicas, int required, RangeSettings settings,
			TimeSource time, RangeEvents events, OperationObserver observer, Runnable onClose) {
		this.scope = scope;
		this.replicas = replicas;
		this.required = required;
		this.merge = new RangeMerge(range, replicas.size(), required);
		this.settings = settings;
		this.time = time;
		this.events = events;
		this.observer = observer;
		this.onClose = onClose;
		this.remaining = limit;
		this.calls = new ReplicaCall[replicas.size()];
		this.failures = new Failed[replicas.size()];
		this.againNanos = new long[replicas.size()];
		this.lostAt = new long[replicas.size()];
		this.hasAnswered = new boolean[replicas.size()];
		this.hasFailedAhead = new boolean[replicas.size()];
		this.pageItems = new long[replicas.size()];
		// With a limit, one more: whether there is more has to be told.
		Arrays.fill(this.pageItems, Math.min(limit, Integer.MAX_VALUE - 1) + 1);
		this.startedNanos = time.nanos();
		events.began(scope);
	}

	@Override
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
		collect();
		ask();
		if (!this.merge.hasEnoughFeeds() && !rejoin()) {
			endBroken();
			return;
		}
		boolean last = this.large == null && (this.next != null || this.merge.isAtEnd());
		if (last || (this.large == null && !this.entries.isEmpty())) {
			emit(last);
		}
	}

	/** What was heard by enough is told before the failure is. */
	private void endBroken() {
		if (this.large == null && !this.entries.isEmpty()) {
			emit(false);
		}
		else {
			fail(tooFew());
		}
	}

	/** Asks each replica that has room for another page, or may take part again. */
	private void ask() {
		for (int position = 0; position < this.calls.length; position++) {
			if (this.calls[position] == null && mayAsk(position)) {
				KeyRange wanted = this.merge.wanted(position);
				if (wanted != null) {
					new PageCall(position, wanted).ask(pageLimit(position));
				}
			}
		}
	}

	private boolean mayAsk(int position) {
		if (this.merge.isPresent(position)) {
			return !this.hasFailedAhead[position] || this.merge.isStarved(position);
		}
		return this.time.nanos() - this.againNanos[position] >= 0
				&& this.replicas.at(position).expectedNanos() != Replica.AWAY;
	}

	/**
	 * Whether there are replicas left to ask: those that were lost at an earlier key, for
	 * they may have what comes now. They are waited for.
	 */
	private boolean rejoin() {
		for (int position = 0; position < this.calls.length; position++) {
			if (!this.merge.isPresent(position) && this.lostAt[position] < this.merge.progress()) {
				cancel(position);
				this.merge.join(position);
			}
		}
		this.workAgain = this.merge.hasEnoughFeeds();
		return this.workAgain;
	}

	/**
	 * Who wants few entries gets short pages; but longer ones each time, since what is
	 * deleted or has expired is in them too.
	 */
	private Page.Limit pageLimit(int position) {
		if (!this.merge.isPresent(position)) {
			return Page.Limit.of(this.settings.pageBytes(), 1);
		}
		long items = this.pageItems[position];
		this.pageItems[position] = Math.min(PAGE_GROWTH * items, Integer.MAX_VALUE);
		return Page.Limit.of(this.settings.pageBytes(), (int) items);
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
					this.large = new LargeCall(it);
					this.large.ask(Page.Limit.ofWhole());
				}
			}
		}
	}

	private void add(Key key, Live live) {
		this.entries.add(new Item(key, live));
		this.pieceBytes += key.bytes().length + live.value().length();
		this.remaining--;
	}

	private void emit(boolean last) {
		MonoSink<RangePiece> sink = this.waiting;
		if (sink != null) {
			RangePiece piece = new RangePiece(this.entries, last, this.next);
			this.events.returned(this.entries.size(), this.pieceBytes);
			this.waiting = null;
			this.entries = new ArrayList<>();
			this.pieceBytes = 0;
			this.hasEmitted = true;
			if (last) {
				this.outcome = RangeOutcome.COMPLETE;
			}
			sink.success(piece);
		}
	}

	private void fail(RuntimeException ex) {
		this.outcome = this.hasEmitted ? RangeOutcome.BROKEN : RangeOutcome.FAILED;
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
			if (failed != null) {
				tally = tally.add(position, failed);
			}
			else if (this.hasAnswered[position]) {
				tally = tally.add(position, Held.nothing());
			}
		}
		return OperationFailures.ofReads(this.replicas, tally);
	}

	private void lose(int position, Failed why) {
		this.failures[position] = why;
		this.hasFailedAhead[position] = false;
		this.lostAt[position] = this.merge.progress();
		this.againNanos[position] = this.time.nanos() + REJOIN_INTERVAL.toNanos();
		if (this.merge.isPresent(position)) {
			this.merge.leave(position);
			this.events.replicaLost();
		}
	}

	private void cancel(int position) {
		ReplicaCall call = this.calls[position];
		if (call != null) {
			this.calls[position] = null;
			call.cancel();
		}
	}

	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.waiting = null;
		for (int position = 0; position < this.calls.length; position++) {
			cancel(position);
		}
		if (this.large != null) {
			this.large.cancel();
		}
		RangeOutcome how = (this.outcome != null) ? this.outcome : RangeOutcome.CANCELLED;
		this.events.ended(this.scope, how, this.time.nanos() - this.startedNanos);
		this.observer.ended(how);
		this.onClose.run();
	}

	/** What a replica is asked to show: where that flow ends. */
	private abstract class ReplicaCall extends BaseSubscriber<Reply> {

		final int position;

		final KeyRange wanted;

		private boolean answered;

		ReplicaCall(int position, KeyRange wanted) {
			this.position = position;
			this.wanted = wanted;
		}

		void ask(Page.Limit limit) {
			Replica replica = RangeRead.this.replicas.at(this.position);
			Mono<Reply> call = replica.scan(this.wanted, limit,
					Deadline.after(RangeRead.this.time, RangeRead.this.settings.pageTimeout()));
			ObservedCall.of(call, replica, Step.PAGE, false, RangeRead.this.observer, RangeRead.this.time)
				.subscribe(this);
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
				switch (reply) {
					case Listed listed when listed.page().isWithin(this.wanted) -> received(listed.page());
					case Failed failed -> failed(failed);
					default -> failed(UNEXPECTED);
				}
				work();
			}
		}

		abstract void received(Page page);

		abstract void failed(Failed why);

	}

	/** For a page; of one that does not take part, whether it can show any. */
	private final class PageCall extends ReplicaCall {

		private final boolean isProbe;

		PageCall(int position, KeyRange wanted) {
			super(position, wanted);
			this.isProbe = !RangeRead.this.merge.isPresent(position);
			RangeRead.this.calls[position] = this;
		}

		@Override
		void received(Page page) {
			RangeRead.this.calls[this.position] = null;
			RangeRead.this.failures[this.position] = null;
			RangeRead.this.hasAnswered[this.position] = true;
			RangeRead.this.hasFailedAhead[this.position] = false;
			if (this.isProbe) {
				// The merge may have gone on: what it needs now is asked for anew.
				RangeRead.this.merge.join(this.position);
				RangeRead.this.events.replicaBack();
			}
			else {
				RangeRead.this.merge.add(this.position, page);
			}
		}

		/** What it has shown so far counts; then it is asked once more. */
		@Override
		void failed(Failed why) {
			RangeRead.this.calls[this.position] = null;
			if (RangeRead.this.merge.isPresent(this.position) && !RangeRead.this.merge.isStarved(this.position)) {
				RangeRead.this.hasFailedAhead[this.position] = true;
			}
			else {
				lose(this.position, why);
			}
		}

	}

	/** For an entry that is too long for a page. */
	private final class LargeCall extends ReplicaCall {

		private final Large it;

		LargeCall(Large it) {
			super(it.holder(),
					KeyRange.of(it.key().bytes(), Arrays.copyOf(it.key().bytes(), it.key().bytes().length + 1)));
			this.it = it;
		}

		/** Perhaps written or deleted since it was shown: that is told. */
		@Override
		void received(Page page) {
			long now = RangeRead.this.time.millis();
			Page.Cursor cursor = page.cursor();
			boolean isThere = cursor.advance() && cursor.version().compareTo(this.it.version()) >= 0;
			if (isThere || this.it.expiresAtMillis() <= now) {
				RangeRead.this.large = null;
				if (isThere && cursor.isVisibleAt(now)) {
					add(this.it.key(), (Live) cursor.entry());
				}
			}
			else {
				failed(NOT_THERE);
			}
		}

		@Override
		void failed(Failed why) {
			RangeRead.this.large = null;
			RangeRead.this.merge.rewind();
			for (int other = 0; other < RangeRead.this.calls.length; other++) {
				RangeRead.this.cancel(other);
			}
			lose(this.position, why);
		}

	}

}
