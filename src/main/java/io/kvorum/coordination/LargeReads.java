package io.kvorum.coordination;

import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.kv.Entry.Live;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.storage.Page;

/**
 * Bounds the memory of large values that reads have got from one replica and keep until
 * others have answered. Thread-safe.
 */
final class LargeReads {

	private final long limit;

	private final AtomicLong kept = new AtomicLong();

	LargeReads(long limit) {
		this.limit = limit;
	}

	/** The large values of one read. */
	final class OfRead {

		/** Guarded by this, as is what follows. */
		private long bytes;

		private boolean hasEnded;

		/** A reply, or a failure of the replica if its value has no room. */
		Reply keep(Reply reply) {
			int length = (reply instanceof Held held && held.entry() instanceof Live live) ? live.value().length() : 0;
			return (length <= Page.Limit.USUAL_ENTRY_BYTES || hasRoomFor(length)) ? reply : Failed.notDone(
					Reason.OVERLOADED,
					"large values of %d bytes wait for replicas, the limit is kvorum.api.max-in-flight-size of %d"
						.formatted(LargeReads.this.kept.get(), LargeReads.this.limit));
		}

		/** A read that has got one copy of its value gets the others too. */
		private synchronized boolean hasRoomFor(int length) {
			long all = LargeReads.this.kept.addAndGet(length);
			if (this.hasEnded || (all > LargeReads.this.limit && all > length && this.bytes == 0)) {
				LargeReads.this.kept.addAndGet(-length);
				return this.hasEnded;
			}
			this.bytes += length;
			return true;
		}

		synchronized void end() {
			this.hasEnded = true;
			LargeReads.this.kept.addAndGet(-this.bytes);
			this.bytes = 0;
		}

	}

	long kept() {
		return this.kept.get();
	}

}
