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
 * <b>Never back over a restart.</b> Every version lies at or below a <i>bound</i> that
 * was stored durably before. After a restart the clock goes on above the stored bound,
 * wherever the machine's clock stands.
 * <p>
 * <b>No wait in the usual case.</b> The clock stores a bound {@value #AHEAD_MILLIS} ms
 * ahead, and a new one when half of that is used up. The machine's clock passes the bound
 * after an idle time, a stop of the process or a jump. Only then does {@link #next()} ask
 * the caller to wait for {@link #extension()}: one sync. Rejected: staying at the bound
 * meanwhile. The first write after an idle hour would have a version of an hour ago.
 * <p>
 * <b>Jumps.</b> When the machine's clock falls back, versions go on from the last one by
 * counting. In a cluster they go at most {@value #MAX_LEAD_MILLIS} ms ahead of the
 * machine's clock. Other nodes would refuse those beyond, and this node alone would have
 * them.
 * <p>
 * Thread-safe.
 */
public final class HybridLogicalClock {

	/** The lead of the stored bound over the time, in milliseconds. */
	public static final long AHEAD_MILLIS = 2_000;

	/**
	 * The greatest lead of a version over the machine's clock in a cluster, in
	 * milliseconds. Beyond that one of the clocks is wrong, and following it would take
	 * every key into the future.
	 */
	public static final long MAX_LEAD_MILLIS = 500;

	/** The time for which the clock remembers a refused version. */
	public static final Duration REFUSALS_KEPT = Duration.ofMinutes(1);

	private final TimeSource time;

	private final AtomicLong last = new AtomicLong();

	private volatile Bound bound = Bound.NOT_STARTED;

	private volatile @Nullable Refusal refusal;

	/** The extension under way; null if there is none. Guarded by this. */
	private @Nullable CompletableFuture<Long> extending;

	public HybridLogicalClock(TimeSource time) {
		this.time = time;
	}

	/**
	 * Continues above the stored bound.
	 * @param node the identity of this node
	 * @param storedBoundMillis the bound found on disk; 0 for a new node
	 * @param store keeps the bounds
	 * @return completes when versions can be given, fails if the bound cannot be stored
	 */
	public CompletionStage<?> start(long node, long storedBoundMillis, BoundStore store) {
		this.last.set(Version.lastTimestampOf(storedBoundMillis));
		this.bound = new Bound(node, storedBoundMillis, store);
		return extension();
	}

	/**
	 * A version above all given before, however far ahead of the machine's clock. For a
	 * node without peers.
	 * @throws ClockBoundException if there is none up to the stored bound: nothing has
	 * happened, and there is one after {@link #extension()}
	 */
	public Version next() {
		return next(this.time.millis(), Long.MAX_VALUE);
	}

	/**
	 * A version as {@link #next()} gives it, and above {@code seen}.
	 * @throws ClockLeadException if {@code seen} is newer: another node gave it, and its
	 * clock was ahead of this one
	 * @throws ClockBoundException as {@link #next()}
	 */
	public Version nextAlone(Version seen) {
		Version next = next();
		if (seen.isNewerThan(next)) {
			throw ClockLeadException.ofSeen(seen.millis() - next.millis());
		}
		return next;
	}

	/**
	 * A version above {@code seen} and all given before, with a lead that other nodes
	 * accept.
	 * @throws ClockLeadException if {@code seen} or this version is too far ahead
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
	 * Follows a version of another node, so that versions given from now on are newer.
	 * Ignores one that is too far ahead.
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
	 * Whether a version lies too far ahead of the machine's clock, and above all that
	 * this node has given or followed. So a node whose clock is set back does not refuse
	 * its own versions.
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
	 * Stores a higher bound, or joins the extension under way.
	 * @return completes, on any thread, when the bound is stored; each caller has its own
	 * and may cancel it
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
			// Thrown to the caller it would leave the extension under way for ever.
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
	 * The time by which entries expire, in milliseconds since 1970. It is the later one
	 * of the newest version given or followed, and the machine's clock. A node that has
	 * seen a write of another judges by the same time, although their clocks differ. The
	 * lead over the machine's clock is at most {@link #MAX_LEAD_MILLIS}.
	 */
	public long expiryMillis() {
		long nowMillis = this.time.millis();
		return Math.min(Math.max(nowMillis, millis(this.last.get())), nowMillis + MAX_LEAD_MILLIS);
	}

	/**
	 * The instant of a version just given, in the time of {@link #expiryMillis()}. It
	 * differs from that of the version only on a node without peers whose versions are
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

	/**
	 * The lead of the versions of this node over the machine's clock, in milliseconds.
	 */
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
