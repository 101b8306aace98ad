package io.kvorum.range;

import java.util.function.IntSupplier;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import reactor.core.publisher.Mono;

/**
 * A range that goes on when the nodes change. Its next piece is then that of another
 * {@link RangeRead}, of the nodes as they are now, which begins after the last key that
 * was returned. On the nodes from before it could miss what was moved since.
 */
final class LiveRange implements RangeCursor {

	private final Opening opening;

	private final IntSupplier view;

	private KeyRange rest;

	private long remaining;

	private Opened opened;

	private boolean closed;

	/**
	 * Opens a range.
	 * @param view the number of changes of the nodes so far
	 */
	LiveRange(KeyRange range, long limit, Opening opening, IntSupplier view) {
		this.rest = range;
		this.remaining = limit;
		this.opening = opening;
		this.view = view;
		this.opened = opening.open(range, limit, false);
	}

	/**
	 * Opens a part of the range on the nodes as they are now. One under way is not
	 * refused by the limits of open ranges, which the change may have been the first to
	 * exceed.
	 */
	@FunctionalInterface
	interface Opening {

		Opened open(KeyRange rest, long limit, boolean isUnderWay);

	}

	/** An open part of the range, and how often the nodes had changed before. */
	record Opened(int view, RangeRead read) {
	}

	@Override
	public Mono<RangePiece> next() {
		return Mono.defer(() -> {
			if (this.opened.view != this.view.getAsInt() && !this.closed) {
				RangeRead before = this.opened.read;
				before.free();
				this.opened = this.opening.open(this.rest, this.remaining, true);
				this.opened.read.takeOver(before);
			}
			return this.opened.read.next().doOnNext(this::returned);
		});
	}

	private void returned(RangePiece piece) {
		if (!piece.entries().isEmpty()) {
			Key last = piece.entries().getLast().key();
			this.rest = this.rest.after(last.bytes());
			this.remaining -= piece.entries().size();
		}
	}

	@Override
	public void close() {
		this.closed = true;
		this.opened.read.close();
	}

}
