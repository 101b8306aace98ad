package io.kvorum.clock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * Gives versions that only ever grow: the hybrid logical clock of Kulkarni et al.,
 * "Logical Physical Clocks", 2014, with a bound on disk.
 * <p>
 * <b>A restart never goes back.</b> Every version lies at or below a <i>bound</i> that
 * was stored durably before. After a restart the clock continues above the stored bound,
 * wherever the machine's clock stands.
 * <p>
 * <b>Usually there is no wait.</b> The clock stores a bound {@value #AHEAD_MILLIS} ms
 * ahead, and the next one when half of that is used up. The machine's clock may pass the
 * bound: nothing was written for a while, the process was stopped, or the clock jumped.
 * Then {@link #next()} asks the caller to wait for {@link #extension()}, which takes one
 * sync. Rejected: staying at the bound meanwhile. The first write after an idle hour
 * would get a version of an hour ago.
 * <p>
 * <b>Jumps.</b> When the machine's clock falls back, versions continue from the last one
 * by counting. With peers they do so up to {@value #MAX_LEAD_MILLIS} ms ahead of the
 * machine's clock and no further. Beyond that the peers refuse them, and only this node
 * would have the entries.
 * <p>
 * Thread-safe.
 */
public final class HybridLogicalClock {

	/** The lead of the stored bound over the time, in milliseconds. */
	public static final long AHEAD_MILLIS = 2_000;

	/**
	 * The lead of a version over the machine's clock that a node with peers accepts, in
	 * milliseconds. Beyond that one of the clocks is wrong, and following it would take
	 * every key of the cluster into the future.
	 */
	public static final long MAX_LEAD_MILLIS = 500;

	/** The time for which the clock remembers a refused version. */
	public static final Duration REFUSALS_KEPT = Duration.ofMinutes(1);

	private final TimeSource time;

	private final AtomicLong last = new AtomicLong();

	private volatile Bound bound = Bound.NOT_STARTED;

	private volatile @Nullable Refusal refusal;

	/** The extension under way; guarded by this. */
	private @Nullable CompletableFuture<Long> extending;

	public HybridLogicalClock(TimeSource time) {
		this.time = time;
	}

	/**
	 * Continues after a stop.
	 * @param node the identity of this node
	 * @param storedBoundMillis the bound found on disk; 0 if the node is new
	 * @param store stores bounds
	 * @return completes when versions can be given; fails if the bound cannot be stored
	 */
	public CompletionStage<?> start(long node, long storedBoundMillis, BoundStore store) {
		this.last.set(Version.lastTimestampOf(storedBoundMillis));
		this.bound = new Bound(node, storedBoundMillis, store);
		return extension();
	}

	/**
	 * A version above all given before, however far ahead of the machine's clock: for a
	 * node without peers.
	 * @throws ClockBoundException if there is none below the stored bound: nothing has
	 * happened, and there will be one after {@link #extension()}
	 */
	public Version next() {
		return next(this.time.millis(), Long.MAX_VALUE);
	}

	/**
	 * A version above all given before and above another one, which other nodes will
	 * take.
	 * @throws ClockLeadException if it would be too far ahead, or that one is
	 * @throws ClockBoundException as {@link #next()}
	 */
	public Version nextAfter(Version seen) {
		long nowMillis = this.time.millis();
		if (isTooFarAhead(seen, nowMillis)) {
			refused(seen);
			throw ClockLeadException.ofSeen(seen.millis() - nowMillis);
		}
		follow(seen);
		return next(nowMillis, nowMillis + MAX_LEAD_MILLIS);
	}

	private Version next(long nowMillis, long latestMillis) {
		Bound now = this.bound;
		long earliest = nowMillis << Version.COUNTER_BITS;
		while (true) {
			long previous = this.last.get();
			long next = Math.max(previous + 1, earliest);
			if (millis(next) > latestMillis) {
				throw ClockLeadException.ofOwn(millis(next) - nowMillis);
			}
			if (next > now.latest()) {
				throw new ClockBoundException(now.millis);
			}
			if (this.last.compareAndSet(previous, next)) {
				if (millis(next) > now.millis - AHEAD_MILLIS / 2) {
					var _ = extension();
				}
				return new Version(next, now.node);
			}
		}
	}

	/**
	 * Learns of a version that another node has given, so that those given from now on
	 * are newer; one that is too far ahead is not followed.
	 */
	public void observe(Version seen) {
		if (!isTooFarAhead(seen)) {
			follow(seen);
		}
	}

	private void follow(Version seen) {
		this.last.accumulateAndGet(seen.timestamp(), Math::max);
	}

	/**
	 * Whether a version lies too far ahead of the machine's clock. A version up to the
	 * highest that this node has reached does not: a node whose clock is set back must
	 * not refuse what it has given.
	 */
	public boolean isTooFarAhead(Version version) {
		return isTooFarAhead(version, this.time.millis());
	}

	private boolean isTooFarAhead(Version version, long nowMillis) {
		return version.millis() > nowMillis + MAX_LEAD_MILLIS
				&& Long.compareUnsigned(version.timestamp(), this.last.get()) > 0;
	}

	/** Remembers that a version is refused for being too far ahead. */
	public void refused(Version version) {
		this.refusal = new Refusal(version.millis() - this.time.millis(), this.time.nanos());
	}

	/**
	 * The lead of the last refused version over the machine's clock, in milliseconds; 0
	 * if none was refused for {@link #REFUSALS_KEPT}.
	 */
	public long refusedLeadMillis() {
		Refusal latest = this.refusal;
		return (latest == null || this.time.nanos() - latest.nanos > REFUSALS_KEPT.toNanos()) ? 0 : latest.leadMillis;
	}

	/**
	 * Stores a higher bound, or joins in where that is under way.
	 * @return completes, on any thread, when it is stored; each caller's own, to cancel
	 * as it likes
	 */
	public synchronized CompletionStage<?> extension() {
		if (this.extending != null) {
			return this.extending.copy();
		}
		CompletableFuture<Long> stored = new CompletableFuture<>();
		this.extending = stored;
		long millis = Math.max(this.time.millis(), millis(this.last.get())) + AHEAD_MILLIS;
		// Never lowered: a thread in next() may still count on the one before.
		long higher = Math.max(millis, this.bound.millis);
		store(higher).whenComplete((_, failure) -> {
			extended(higher, failure);
			if (failure == null) {
				stored.complete(higher);
			}
			else {
				stored.completeExceptionally(failure);
			}
		});
		return stored.copy();
	}

	private CompletionStage<?> store(long millis) {
		try {
			return this.bound.store.store(millis);
		}
		catch (RuntimeException ex) {
			// Left to the caller it would leave an extension under way for ever.
			return CompletableFuture.failedStage(ex);
		}
	}

	private synchronized void extended(long millis, @Nullable Throwable failure) {
		if (failure == null) {
			this.bound = new Bound(this.bound.node, millis, this.bound.store);
		}
		this.extending = null;
	}

	/**
	 * The instant by which entries expire, in milliseconds since 1970: that of the newest
	 * version given or followed, or of the machine's clock where that is later. So of two
	 * nodes with clocks that differ, one that has seen a write of the other judges by the
	 * same time. Never further ahead of the machine's clock than versions are followed.
	 */
	public long expiryMillis() {
		long nowMillis = this.time.millis();
		return Math.min(Math.max(nowMillis, millis(this.last.get())), nowMillis + MAX_LEAD_MILLIS);
	}

	/**
	 * The instant that a version just given stands for, in the time of
	 * {@link #expiryMillis()}: its own, but for a node without peers whose versions are
	 * far ahead of its clock.
	 */
	public long expiryMillisOf(Version given) {
		return Math.min(given.millis(), this.time.millis() + MAX_LEAD_MILLIS);
	}

	/** The time of this machine with {@link #expiryMillis()} as its milliseconds. */
	public TimeSource expiryTime() {
		return new TimeSource() {
			@Override
			public long millis() {
				return expiryMillis();
			}

			@Override
			public long nanos() {
				return HybridLogicalClock.this.time.nanos();
			}
		};
	}

	/** The lead of this node's versions over the machine's clock, in milliseconds. */
	public long driftMillis() {
		return Math.max(0, millis(this.last.get()) - this.time.millis());
	}

	private static long millis(long timestamp) {
		return timestamp >>> Version.COUNTER_BITS;
	}

	/** Keeps the bound of the clock on disk. */
	@FunctionalInterface
	public interface BoundStore {

		/** Completes, on any thread, when the bound is stored durably. */
		CompletionStage<?> store(long boundMillis);

	}

	private record Refusal(long leadMillis, long nanos) {
	}

	private record Bound(long node, long millis, BoundStore store) {

		static final Bound NOT_STARTED = new Bound(0, -1,
				_ -> CompletableFuture.failedStage(new IllegalStateException("the clock has not been started")));

		/** The greatest timestamp that may be given. */
		long latest() {
			return Version.lastTimestampOf(this.millis);
		}

	}

}
