package io.kvorum.clock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * Gives versions that only ever grow: the hybrid logical clock of Kulkarni et al.,
 * "Logical Physical Clocks", 2014, with a bound on disk.
 * <p>
 * <b>Never back over a restart.</b> Whatever is given lies at or below a <i>bound</i>
 * that has been stored durably before. The clock asks for a bound {@value #AHEAD_MILLIS}
 * ms ahead of the time, again when half of it is used up, so that giving a version never
 * waits for the disk. After a restart it goes on above the stored bound, wherever the
 * machine's clock stands.
 * <p>
 * <b>Jumps.</b> When the machine's clock falls back, versions go on from the last one by
 * counting. When it runs ahead of the bound, they stay at the bound and count there until
 * a higher one is stored, which takes one sync. Only where that takes so long that all
 * counts of the bound are used does {@link #next()} fail; then nothing could be stored
 * either.
 * <p>
 * Safe for use by any thread; lock-free.
 */
public final class HybridLogicalClock {

	/** How far the stored bound lies ahead of the time, in milliseconds. */
	public static final long AHEAD_MILLIS = 10_000;

	private final TimeSource time;

	private final AtomicLong last = new AtomicLong();

	private final AtomicBoolean extending = new AtomicBoolean();

	private volatile State state = State.NOT_STARTED;

	public HybridLogicalClock(TimeSource time) {
		this.time = time;
	}

	/**
	 * Goes on after a stop.
	 * @param node the identity of this node
	 * @param storedBoundMillis the bound found on disk; 0 where the node is new
	 * @param store where bounds are kept
	 * @return completes when versions can be given, fails where the bound cannot be
	 * stored
	 */
	public CompletionStage<@Nullable Void> start(long node, long storedBoundMillis, BoundStore store) {
		this.last.set(Version.lastTimestampOf(storedBoundMillis));
		this.state = new State(node, storedBoundMillis, store);
		return extend(this.time.millis());
	}

	/**
	 * A version above all given or observed before.
	 * @throws ClockExhaustedException if there is none below the stored bound: not now,
	 * and nothing has happened; may be tried again
	 */
	public Version next() {
		State now = this.state;
		long millis = this.time.millis();
		if (Math.max(millis, millis(this.last.get())) > now.boundMillis - AHEAD_MILLIS / 2) {
			var _ = extend(millis);
		}
		long earliest = Math.min(millis, now.boundMillis) << Version.COUNTER_BITS;
		long latest = Version.lastTimestampOf(now.boundMillis);
		while (true) {
			long previous = this.last.get();
			long next = Math.max(previous + 1, earliest);
			if (next > latest) {
				throw new ClockExhaustedException(now.boundMillis);
			}
			if (this.last.compareAndSet(previous, next)) {
				return new Version(next, now.node);
			}
		}
	}

	/** How far versions run ahead of the machine's clock, in milliseconds. */
	public long driftMillis() {
		return Math.max(0, millis(this.last.get()) - this.time.millis());
	}

	private CompletionStage<@Nullable Void> extend(long millis) {
		if (!this.extending.compareAndSet(false, true)) {
			return CompletableFuture.completedStage(null);
		}
		State now = this.state;
		long bound = Math.max(millis, millis(this.last.get())) + AHEAD_MILLIS;
		return now.store.store(bound).whenComplete((stored, failure) -> {
			if (failure == null) {
				this.state = new State(now.node, bound, now.store);
			}
			this.extending.set(false);
		});
	}

	private static long millis(long timestamp) {
		return timestamp >>> Version.COUNTER_BITS;
	}

	/** Keeps the bound of the clock on disk. */
	@FunctionalInterface
	public interface BoundStore {

		/** Completes, on any thread, when the bound is stored durably. */
		CompletionStage<@Nullable Void> store(long boundMillis);

	}

	private record State(long node, long boundMillis, BoundStore store) {

		static final State NOT_STARTED = new State(0, 0,
				bound -> CompletableFuture.failedStage(new IllegalStateException("the clock has not been started")));

	}

}
