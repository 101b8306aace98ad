package io.kvorum.client;

import java.time.Duration;
import java.util.UUID;

import io.kvorum.client.KvorumException.ConditionNotMet;
import reactor.core.publisher.Mono;

/**
 * Leases: a key with a time to live that one client creates. A lease ends by itself if
 * its holder dies.
 * <p>
 * It cannot promise that its holder works alone: a process may stand still for longer
 * than the lease lasts, and go on without knowing. Only what the lease guards can refuse
 * it, by the {@link Lease#token() token}. A value in Kvorum needs no lease: write it with
 * {@link WriteOptions#ifVersion(Version)}. The keys of leases must not be written in any
 * other way.
 */
public final class Leases {

	/** Of clocks that differ, and the 500 ms by which a value may be gone too early. */
	private static final Duration MARGIN = Duration.ofSeconds(1);

	private final Duration deadline;

	private final Entities<String> owners;

	private final String prefix;

	/**
	 * Leases below a prefix.
	 * @param client the client
	 * @param prefix what their keys begin with, {@code "leases/"} for instance
	 */
	public Leases(KvorumClient client, String prefix) {
		this.deadline = client.deadline();
		this.owners = client.entities(Codec.text());
		this.prefix = prefix;
	}

	/**
	 * Takes a lease, if nobody has it.
	 * @param name what is leased
	 * @param ttl how long, unless it is renewed: at least 2 s, of which one is a margin
	 * @return the lease; empty if another one has it. An error of unknown outcome means
	 * that it may be taken, for this time, by nobody who knows
	 */
	public Mono<Lease> tryAcquire(String name, Duration ttl) {
		return Mono.defer(() -> {
			String owner = UUID.randomUUID().toString();
			return write(name, owner, WriteOptions.DEFAULTS.ifAbsent(), ttl);
		}).onErrorResume(ConditionNotMet::isCertain, held -> Mono.empty());
	}

	/**
	 * Makes a lease last longer. To be done when a third of its time has passed.
	 * @param lease the lease as it was taken or renewed last
	 * @param ttl how long from now on
	 * @return the lease to go on with, whose token is greater; empty if it has ended, and
	 * another one may have it. After an error of unknown outcome try again, with the same
	 * lease
	 */
	public Mono<Lease> renew(Lease lease, Duration ttl) {
		return Mono.defer(() -> {
			WriteOptions options = WriteOptions.DEFAULTS.ifVersion(lease.token()).deadline(inTime(lease.remaining()));
			return write(lease.name(), lease.owner(), options, ttl);
		}).onErrorResume(ConditionNotMet.class, changed -> still(lease));
	}

	/** Not more than is left, but time for a request. */
	private Duration inTime(Duration remaining) {
		Duration atLeast = (remaining.compareTo(MARGIN) > 0) ? remaining : MARGIN;
		return (atLeast.compareTo(this.deadline) < 0) ? atLeast : this.deadline;
	}

	/** The lease, if an earlier renewal of it that was not answered has happened. */
	private Mono<Lease> still(Lease lease) {
		return this.owners.get(this.prefix + lease.name())
			.filter(found -> found.value().equals(lease.owner()))
			.map(found -> lease.with(found.version()));
	}

	private Mono<Lease> write(String name, String owner, WriteOptions condition, Duration ttl) {
		if (ttl.compareTo(MARGIN.multipliedBy(2)) < 0) {
			throw new IllegalArgumentException("a lease lasts at least 2 s, not " + ttl);
		}
		return Mono.defer(() -> {
			long end = System.nanoTime() + ttl.minus(MARGIN).toNanos();
			return this.owners.put(this.prefix + name, owner, condition.ttl(ttl).once())
				.map(token -> new Lease(name, owner, token, end));
		});
	}

	/**
	 * Gives a lease back. Never that of another holder.
	 * @param lease the lease as it was taken or renewed last
	 * @return whether it was still ours
	 */
	public Mono<Boolean> release(Lease lease) {
		return delete(lease).onErrorResume(ConditionNotMet.class,
				changed -> still(lease).flatMap(this::delete)
					.onErrorResume(ConditionNotMet.class, ended -> Mono.empty())
					.defaultIfEmpty(false));
	}

	private Mono<Boolean> delete(Lease lease) {
		return Mono
			.defer(() -> this.owners.delete(this.prefix + lease.name(),
					WriteOptions.DEFAULTS.ifVersion(lease.token()).once()))
			.thenReturn(true);
	}

}
