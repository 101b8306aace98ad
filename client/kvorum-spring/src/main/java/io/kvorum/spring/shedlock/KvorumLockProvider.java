package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.Outcome;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import net.javacrumbs.shedlock.support.Utils;

/**
 * Locks of ShedLock in Kvorum. A lock is a key with a time to live that one provider
 * creates; its value says who holds it.
 * <p>
 * <b>Times.</b> A lock that is not given back ends one to two seconds after
 * {@code lockAtMostFor}. Kvorum may end a value half a second early, and more if the
 * clocks of its nodes differ; without the added second a second holder could begin before
 * {@code lockAtMostFor} is over. So {@code lockAtMostFor} may be less than a second,
 * which is the least time to live in Kvorum, but such a lock still ends after more than a
 * second. {@code lockAtLeastFor} is exact to the same half second. Both are counted from
 * the call on: the clock of this process and {@link LockConfiguration}'s time of creation
 * do not matter.
 * <p>
 * <b>Failures.</b> A lock is returned only if it is held, and an empty result means that
 * another one holds it. All else is a {@link LockException}, also a name that cannot be a
 * key and a call on an event loop: then the task must not run. All writes have an
 * idempotency key, so that the client can repeat them. If the outcome is still unknown,
 * the lock may be taken without a holder, until its time is over.
 * <p>
 * <b>What a lock cannot promise.</b> A process may stand still for longer than
 * {@code lockAtMostFor} and go on without knowing. Only what the task writes to can
 * refuse it, by the {@link KvorumLock#token() fencing token}.
 * <p>
 * All methods block, each request at most for the deadline of the client, even if the
 * thread is interrupted, so they must not be called on the event loops of Reactor.
 */
public final class KvorumLockProvider implements ExtensibleLockProvider {

	/** The prefix of keys unless another is given. */
	public static final String DEFAULT_PREFIX = "shedlock/";

	/** For clocks that differ, and the 500 ms by which a value may be gone too early. */
	static final Duration MARGIN = Duration.ofSeconds(1);

	/**
	 * Of the margin, what is surely left when an answer comes after a short lock is over.
	 */
	static final Duration LEAST_HELD = Duration.ofMillis(500);

	private final LockStore store;

	/**
	 * Locks with the prefix {@value #DEFAULT_PREFIX}.
	 * @param client the client
	 */
	public KvorumLockProvider(KvorumClient client) {
		this(client, DEFAULT_PREFIX);
	}

	/**
	 * Locks with a prefix.
	 * @param client the client
	 * @param prefix what their keys begin with, the rest is the name of the lock; other
	 * programs must not write such keys
	 */
	public KvorumLockProvider(KvorumClient client, String prefix) {
		this(client, prefix, System::nanoTime);
	}

	KvorumLockProvider(KvorumClient client, String prefix, LongSupplier nanoTime) {
		this.store = new LockStore(client.entities(Codec.text()), prefix, nanoTime);
	}

	/**
	 * Takes a lock.
	 * @param configuration its name and its times
	 * @return a {@link KvorumLock}; empty if another one holds it
	 * @throws LockException if neither is certain; if its cause is a
	 * {@link KvorumException}, {@link KvorumException#outcome()} says whether the lock
	 * may be taken without a holder
	 */
	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		long begun = this.store.nanoTime();
		String owner = Utils.getHostname() + ' ' + UUID.randomUUID();
		Version token;
		try {
			token = this.store.put(configuration.getName(), owner, WriteOptions.DEFAULTS.ifAbsent(),
					configuration.getLockAtMostFor().plus(MARGIN));
		}
		catch (RuntimeException ex) {
			if (ex instanceof ConditionNotMet held && held.outcome() == Outcome.NOT_APPLIED) {
				return Optional.empty();
			}
			throw new LockException(
					"the lock %s cannot be taken: %s".formatted(configuration.getName(), ex.getMessage()), ex);
		}
		KvorumLock lock = new KvorumLock(this.store, configuration, owner, token, begun);
		return Optional.of(lock.inTime());
	}

}
