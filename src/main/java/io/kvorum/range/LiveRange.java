package io.kvorum.range;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

import io.kvorum.kv.KeyRange;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.RangeQuery;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A range that goes on when the nodes change, and which returns each folder once. Its
 * next piece may be that of another {@link RangeRead}, which begins after the last key
 * that was returned: of the nodes as they are now, as on those from before it could miss
 * what was moved since; or behind a folder, whose keys need not be read.
 */
final class LiveRange implements RangeCursor {

	private final RangeQuery query;

	private final Opening opening;

	private final IntSupplier view;

	private KeyRange rest;

	/** The lines that may still be returned. */
	private long remaining;

	/** The last line, if it is a folder. */
	private @Nullable Folder folder;

	/** Whether all of the last piece was in that folder. */
	private boolean isInFolder;

	private Opened opened;

	private boolean closed;

	/**
	 * Opens a range.
	 * @param view the number of changes of the nodes so far
	 */
	LiveRange(RangeQuery query, Opening opening, IntSupplier view) {
		this.query = query;
		this.rest = query.range();
		this.remaining = query.limit();
		this.opening = opening;
		this.view = view;
		this.opened = open(false);
	}

	/**
	 * Opens a part of the range on the nodes as they are now. One under way is not
	 * refused by the limits of open ranges, which the change may have been the first to
	 * exceed.
	 */
	@FunctionalInterface
	interface Opening {

		Opened open(RangeQuery rest, boolean isUnderWay);

	}

	/** An open part of the range, and how often the nodes had changed before. */
	record Opened(int view, RangeRead read) {
	}

	/** How many keys make up the lines is not known if keys are folded. */
	private Opened open(boolean isUnderWay) {
		long most = (this.query.folding() != null) ? RangeQuery.NO_LIMIT : this.remaining;
		return this.opening.open(this.query.ofRest(this.rest, most), isUnderWay);
	}

	@Override
	public Mono<RangePiece> next() {
		return Mono.defer(() -> {
			if (!this.closed && (this.isInFolder || this.opened.view != this.view.getAsInt())) {
				if (this.folder != null) {
					this.rest = this.rest.afterAll(this.folder.key().bytes());
				}
				RangeRead before = this.opened.read;
				before.free();
				this.opened = open(true);
				this.opened.read.takeOver(before);
				this.isInFolder = false;
			}
			return this.opened.read.next().map(this::folded);
		});
	}

	/** Leaves out a folder that was returned already. */
	private RangePiece folded(RangePiece piece) {
		if (piece.lines().isEmpty()) {
			return piece;
		}
		this.rest = this.rest.after(piece.lines().getLast().key().bytes());
		if (this.query.folding() == null) {
			this.remaining -= piece.lines().size();
			return piece;
		}
		List<Line> lines = new ArrayList<>();
		for (Line line : piece.lines()) {
			if (line.equals(this.folder)) {
				continue;
			}
			if (this.remaining == 0) {
				this.opened.read.complete();
				return new RangePiece(lines, true, line.key());
			}
			this.folder = (line instanceof Folder it) ? it : null;
			this.remaining--;
			lines.add(line);
		}
		this.isInFolder = lines.isEmpty() && !piece.last();
		return new RangePiece(lines, piece.last(), piece.next());
	}

	@Override
	public void close() {
		this.closed = true;
		this.opened.read.close();
	}

}
