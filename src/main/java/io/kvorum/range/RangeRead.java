package io.kvorum.range;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

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
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.RangeQuery;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.range.RangeMerge.Bare;
import io.kvorum.range.RangeMerge.Large;
import io.kvorum.range.RangeMerge.Merged;
import io.kvorum.range.RangeMerge.Unsettled;
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
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * An open range: asks replicas for pages, merges them, and returns the result piece by
 * piece, on demand. It reads ahead at most one page of each replica: a client that stops
 * reading stops the scan.
 * <p>
 * If a replica fails, the range goes on while enough are left, and asks that one again
 * after a second. If too few are left, it at once asks again those that failed at an
 * earlier key. So a range of an hour outlives nodes that restart one after the other, and
 * damaged blocks at different keys.
 * <p>
 * Large values are not in the pages. The newest version of one is read by itself when it
 * is its turn, from a replica that has shown it. If that fails, the replica is left out
 * and the key is merged again.
 * <p>
 * An entry that was stored under a ballot, and that less than a majority shows, may be of
 * a conditional write that does not happen. Its key is read by itself too, as a GET reads
 * it.
 * <p>
 * Used on the executor on which it was opened. The caller closes it.
 */
public final class RangeRead implements RangeCursor {

	private static final Logger logger = LoggerFactory.getLogger(RangeRead.class);

	/** The time after which a replica that has failed is asked again. */
	private static final Duration ASK_AGAIN_INTERVAL = Duration.ofSeconds(1);

	/**
	 * The loss position of a replica that had already failed when the range was reopened.
	 */
	private static final long BEFORE_ALL = -1;

	/** What a line without a value takes beside its key, about. */
	private static final int HEAD_BYTES = 128;

	/** The factor by which each further page of a range with a limit is longer. */
	private static final int PAGE_GROWTH = 4;

	private static final Failed UNEXPECTED = Failed.notDone(Reason.INTERNAL,
			"the replica failed unexpectedly or sent an unexpected reply");

	private static final Failed NOT_THERE = Failed.notDone(Reason.UNREADABLE,
			"the replica has lost an entry that it had shown");

	private final RangeQuery query;

	private final ReplicaSet replicas;

	/** The number of replicas that must take part for each key. */
	private final int required;

	private final RangeMerge merge;

	/** Reads a key by itself. */
	private final Function<Key, Mono<Live>> read;

	private final BooleanSupplier isOutdated;

	private final RangeSettings settings;

	private final TimeSource time;

	private final RangeEvents events;

	private final OperationObserver observer;

	/** Gives back the memory of the range. */
	private final Runnable onClose;

	private long startedNanos;

	/** The call of each replica that is under way. */
	private final @Nullable ReplicaCall[] calls;

	/** The failure of each replica that does not take part. */
	private final @Nullable Failed[] failures;

	/** The instant from which on an absent replica is asked again. */
	private final long[] againNanos;

	/** The position of the merge when the replica was lost. */
	private final long[] lostAt;

	/**
	 * Whether reading ahead failed: the next page of a replica is asked for again when it
	 * is needed.
	 */
	private final boolean[] hasFailedAhead;

	/** The most items of the next page of a replica. */
	private final long[] pageItems;

	/** Whether a replica has answered at all. */
	private final boolean[] hasAnswered;

	/** The number of entries that may still be returned. */
	private long remaining;

	/** The entries of the next piece, so far. */
	private List<Line> lines = new ArrayList<>();

	private long pieceBytes;

	/** The call for one entry; the piece waits for it. */
	private @Nullable Disposable single;

	/** The failure of that call, which ends the range. */
	private @Nullable RuntimeException broken;

	/** The first key beyond the limit. */
	private @Nullable Key next;

	/** The subscriber that waits for a piece. */
	private @Nullable MonoSink<RangePiece> waiting;

	private boolean hasEmitted;

	private boolean working;

	private boolean workAgain;

	private @Nullable RangeOutcome outcome;

	private boolean closed;

	/** Whether the end was told, or is told by another one. */
	private boolean isHandedOver;

	/**
	 * Creates a range, which returns a folder as often as it has keys.
	 * @param required how many of the replicas must take part
	 * @param majority how many of the voters must show the same entry under a ballot
	 * @param read reads a key by itself
	 * @param isOutdated whether the nodes have changed since
	 * @param observer observes the range
	 * @param onClose called once
	 */
	RangeRead(RangeQuery query, ReplicaSet replicas, int required, int majority, RangeMerge.Voters voters,
			Function<Key, Mono<Live>> read, BooleanSupplier isOutdated, RangeSettings settings, TimeSource time,
			RangeEvents events, OperationObserver observer, Runnable onClose) {
		this.isOutdated = isOutdated;
		this.query = query;
		this.replicas = replicas;
		this.required = required;
		this.merge = new RangeMerge(query.range(), replicas.size(), required, majority, voters);
		this.read = read;
		this.settings = settings;
		this.time = time;
		this.events = events;
		this.observer = observer;
		this.onClose = onClose;
		this.remaining = query.limit();
		this.calls = new ReplicaCall[replicas.size()];
		this.failures = new Failed[replicas.size()];
		this.againNanos = new long[replicas.size()];
		this.lostAt = new long[replicas.size()];
		this.hasAnswered = new boolean[replicas.size()];
		this.hasFailedAhead = new boolean[replicas.size()];
		this.pageItems = new long[replicas.size()];
		// With a limit, one more: the answer says whether there are more entries.
		Arrays.fill(this.pageItems, Math.min(query.limit(), Integer.MAX_VALUE - 1) + 1);
		this.startedNanos = time.nanos();
	}

	@Override
	public Mono<RangePiece> next() {
		return Mono.create(sink -> {
			this.waiting = sink;
			work();
		});
	}

	/** Does what can be done now. A reply that arrives meanwhile makes it begin again. */
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

	/**
	 * Merges what is there and returns it, without waiting for a large value behind it.
	 * Its entries are slices of pages, which a range keeps only while it merges them.
	 * <p>
	 * Once the nodes have changed it returns what there is, if only nothing: the pages
	 * behind that are to be read on the nodes as they are now.
	 */
	private void advance() {
		ask();
		collect();
		ask();
		if (!this.merge.hasEnoughFeeds() && !askAgain()) {
			endBroken();
			return;
		}
		if (this.broken != null && this.lines.isEmpty()) {
			fail(this.broken);
			return;
		}
		boolean last = this.single == null && (this.next != null || this.merge.isAtEnd());
		if (last || !this.lines.isEmpty() || this.isOutdated.getAsBoolean()) {
			emit(last);
		}
	}

	/** Returns what was merged and fails at the next piece, or at once without any. */
	private void endBroken() {
		if (this.lines.isEmpty()) {
			fail(tooFew());
		}
		else {
			emit(false);
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
	 * Adds again the replicas that were lost at an earlier key, since they may have the
	 * next ones. Returns whether enough replicas take part then.
	 */
	private boolean askAgain() {
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
	 * Begins with short pages if few entries are wanted. Each further page is longer,
	 * since tombstones and expired entries are in them too.
	 */
	private Page.Limit pageLimit(int position) {
		if (!this.merge.isPresent(position)) {
			return limitOf(1);
		}
		long items = this.pageItems[position];
		this.pageItems[position] = Math.min(PAGE_GROWTH * items, Integer.MAX_VALUE);
		return limitOf((int) items);
	}

	private Page.Limit limitOf(int items) {
		int bytes = this.settings.pageBytes();
		return this.query.hasValues() ? Page.Limit.of(bytes, items) : Page.Limit.ofHeads(bytes, items);
	}

	/** Moves merged entries to the piece. */
	private void collect() {
		while (this.single == null && this.next == null && this.pieceBytes < this.settings.pageBytes()) {
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
				case Bare bare -> add(bare.head(), HEAD_BYTES);
				case Large it when this.query.folderOf(it.key()) != null -> add(new Folder(it.key()), HEAD_BYTES);
				case Large it -> {
					LargeCall call = new LargeCall(it);
					this.single = call;
					call.ask(Page.Limit.ofWhole());
				}
				case Unsettled it -> read(it.key());
			}
		}
	}

	private void read(Key key) {
		KeyCall call = new KeyCall(key);
		this.single = call;
		call.ask();
	}

	private void add(Key key, Live live) {
		int valueBytes = live.value().length();
		if (this.query.hasValues()) {
			add(new Item(key, live), valueBytes);
		}
		else {
			add(Head.of(key, live, valueBytes), HEAD_BYTES);
		}
	}

	private void add(Line line, int bytes) {
		Key folder = this.query.folderOf(line.key());
		this.lines.add((folder != null) ? new Folder(folder) : line);
		this.pieceBytes += line.key().bytes().length + bytes;
		this.remaining--;
	}

	private void emit(boolean last) {
		MonoSink<RangePiece> sink = this.waiting;
		if (sink != null) {
			RangePiece piece = new RangePiece(this.lines, last, this.next);
			this.events.returned(this.lines.size(), this.pieceBytes);
			this.waiting = null;
			this.lines = new ArrayList<>();
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
		this.againNanos[position] = this.time.nanos() + ASK_AGAIN_INTERVAL.toNanos();
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
		free();
		if (!this.isHandedOver) {
			this.isHandedOver = true;
			RangeOutcome how = (this.outcome != null) ? this.outcome : RangeOutcome.CANCELLED;
			this.events.ended(this.query.scope(), how, this.time.nanos() - this.startedNanos);
			this.observer.ended(how);
		}
	}

	/**
	 * Goes on with the rest of another one. To clients and meters both are one range,
	 * whose end this one tells. A replica that did not answer there is not waited for
	 * again.
	 */
	void takeOver(RangeRead before) {
		this.startedNanos = before.startedNanos;
		this.hasEmitted = before.hasEmitted;
		before.isHandedOver = true;
		for (int position = 0; position < this.calls.length; position++) {
			if (isSameReplica(before, position) && !before.merge.isPresent(position)) {
				// It is asked beside the others, and waited for if these are too few.
				this.merge.leave(position);
				this.failures[position] = before.failures[position];
				this.againNanos[position] = before.againNanos[position];
				this.lostAt[position] = BEFORE_ALL;
			}
		}
	}

	private boolean isSameReplica(RangeRead before, int position) {
		return this.calls.length == before.calls.length
				&& this.replicas.at(position).member().equals(before.replicas.at(position).member());
	}

	/** The limit is reached by what was returned, with some of it folded. */
	void complete() {
		this.outcome = RangeOutcome.COMPLETE;
	}

	/** Ends all calls and frees the memory. */
	void free() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.waiting = null;
		for (int position = 0; position < this.calls.length; position++) {
			cancel(position);
		}
		if (this.single != null) {
			this.single.dispose();
		}
		this.onClose.run();
	}

	/** A call of one replica, and the subscriber of its reply. */
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
			logger.error("A range met an unexpected error of a replica", error);
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

	/** The call for a page. For a replica that does not take part it is a probe. */
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

		/**
		 * Keeps the pages that the replica has shown, and asks for this one once more
		 * when it is needed.
		 */
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

	/** The call for an entry that is too large for a page. */
	private final class LargeCall extends ReplicaCall {

		private final Large it;

		LargeCall(Large it) {
			super(it.holder(),
					KeyRange.of(it.key().bytes(), Arrays.copyOf(it.key().bytes(), it.key().bytes().length + 1)));
			this.it = it;
		}

		/**
		 * Adds the entry that the replica holds now: it may have been replaced or deleted
		 * since it was shown. A conditional write that has done so may not happen.
		 */
		@Override
		void received(Page page) {
			long now = RangeRead.this.time.millis();
			Page.Cursor cursor = page.cursor();
			int later = cursor.advance() ? cursor.version().compareTo(this.it.version()) : -1;
			boolean isThere = later >= 0;
			if (later > 0 && cursor.hasLineage()) {
				read(this.it.key());
			}
			else if (isThere || this.it.expiresAtMillis() <= now) {
				RangeRead.this.single = null;
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
			RangeRead.this.single = null;
			RangeRead.this.merge.rewind();
			for (int other = 0; other < RangeRead.this.calls.length; other++) {
				RangeRead.this.cancel(other);
			}
			lose(this.position, why);
		}

	}

	/** The read of a key whose entry may be of a write that does not happen. */
	private final class KeyCall extends BaseSubscriber<Live> {

		private final Key key;

		KeyCall(Key key) {
			this.key = key;
		}

		void ask() {
			RangeRead.this.read.apply(this.key).subscribe(this);
		}

		@Override
		protected void hookOnNext(Live live) {
			add(this.key, live);
		}

		@Override
		protected void hookOnComplete() {
			RangeRead.this.single = null;
			work();
		}

		@Override
		protected void hookOnError(Throwable error) {
			if (!(error instanceof OperationFailedException)) {
				logger.error("A range met an unexpected error of a read", error);
			}
			RangeRead.this.broken = (error instanceof OperationFailedException failure) ? failure : tooFew();
			work();
		}

	}

}
