package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

/**
 * A lock that was held when it was returned. Not for several threads at once.
 */
public final class KvorumLock extends AbstractSimpleLock {

	private static final Log logger = LogFactory.getLog(KvorumLock.class);

	/** The least time to live in Kvorum. */
	private static final Duration LEAST_TTL = Duration.ofSeconds(1);

	private final LockStore store;

	private final String owner;

	private final Version token;

	/** From before the request, so that this never counts less than the nodes. */
	private final long begunNanos;

	KvorumLock(LockStore store, LockConfiguration configuration, String owner, Version token, long begunNanos) {
		super(configuration);
		this.store = store;
		this.owner = owner;
		this.token = token;
		this.begunNanos = begunNanos;
	}

	/**
	 * The fencing token: greater than those of all holders of the lock before. What the
	 * task writes to refuses a token that is less than the greatest that it has seen.
	 * @return the token, compared as text by others than Java
	 */
	public Version token() {
		return this.token;
	}

	String name() {
		return this.lockConfiguration.getName();
	}

	/** Whether {@code lockAtMostFor}, or at least this time, is over. */
	private boolean hasEnded(Duration atLeast) {
		Duration elapsed = elapsed();
		return elapsed.compareTo(this.lockConfiguration.getLockAtMostFor()) >= 0 && elapsed.compareTo(atLeast) >= 0;
	}

	private Duration elapsed() {
		return Duration.ofNanos(this.store.nanoTime() - this.begunNanos);
	}

	/** This, unless its write was repeated for longer than it lasts. */
	KvorumLock inTime() {
		if (hasEnded(KvorumLockProvider.LEAST_HELD)) {
			giveBackQuietly();
			throw new LockException(
					"the lock %s was taken, but had ended before that was known; it was given back".formatted(name()));
		}
		return this;
	}

	private void giveBackQuietly() {
		try {
			this.store.delete(name(), this.token);
		}
		catch (RuntimeException ex) {
			logger.debug("A lock that came too late ends by itself", ex);
		}
	}

	@Override
	protected void doUnlock() {
		ifHeld(this::unlock);
	}

	private Version unlock(Version held) {
		Duration rest = this.lockConfiguration.getLockAtLeastFor().minus(elapsed());
		if (rest.isZero() || rest.isNegative()) {
			this.store.delete(name(), held);
			return held;
		}
		boolean isShort = rest.compareTo(LEAST_TTL) < 0;
		Version kept = this.store.put(name(), this.owner, WriteOptions.DEFAULTS.ifVersion(held),
				isShort ? LEAST_TTL : rest);
		if (isShort) {
			endAfter(rest, kept);
		}
		return kept;
	}

	/**
	 * Ends a lock before its time to live is over, which cannot be less than a second. If
	 * this process ends first, the lock lasts for that second.
	 */
	private void endAfter(Duration rest, Version kept) {
		Mono.delay(rest)
			.then(this.store.deletion(name(), kept))
			.subscribe(null, failure -> logger.debug("A lock lasts for a second, not for " + rest, failure));
	}

	@Override
	protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
		long begun = this.store.nanoTime();
		Optional<KvorumLock> lock = ifHeld(held -> this.store.put(name(), this.owner,
				WriteOptions.DEFAULTS.ifVersion(held), extended.getLockAtMostFor().plus(KvorumLockProvider.MARGIN)))
			.map(version -> new KvorumLock(this.store, extended, this.owner, version, begun));
		return lock.map(KvorumLock::inTime);
	}

	/**
	 * Does something with a lock that is still held. It may have another version than is
	 * known: after an extension of unknown outcome.
	 * @return empty if the lock has ended, and perhaps has another holder
	 */
	private Optional<Version> ifHeld(Function<Version, Version> action) {
		try {
			return Optional.of(attempt(action));
		}
		catch (ConditionNotMet ended) {
			logger.warn("The lock %s ended before its task. lockAtMostFor is %s, which should be longer than any run"
				.formatted(name(), this.lockConfiguration.getLockAtMostFor()));
			return Optional.empty();
		}
		catch (RuntimeException ex) {
			throw new LockException("it is not known whether the lock %s is still held, or for how long: %s"
				.formatted(name(), ex.getMessage()), ex);
		}
	}

	private Version attempt(Function<Version, Version> action) {
		try {
			return action.apply(this.token);
		}
		catch (ConditionNotMet changed) {
			Version held = this.store.heldBy(name(), this.owner).orElseThrow(() -> changed);
			return action.apply(held);
		}
	}

}
