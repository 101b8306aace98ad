package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.NoAnswer;
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

	private final LongSupplier nanoTime;

	/**
	 * Leases below a prefix.
	 * @param client the client
	 * @param prefix what their keys begin with, {@code "leases/"} for instance
	 */
	public Leases(KvorumClient client, String prefix) {
		this(client, prefix, System::nanoTime);
	}

	Leases(KvorumClient client, String prefix, LongSupplier nanoTime) {
		this.deadline = client.deadline();
		this.owners = client.entities(Codec.text());
		this.prefix = prefix;
		this.nanoTime = nanoTime;
	}

	/**
	 * Takes a lease, if nobody has it.
	 * @param name what is leased
	 * @param ttl how long, unless it is renewed: at least 2 s, of which one is a margin
	 * @return the lease; empty if another one has it; an error if it had ended before it
	 * was known to be taken. An error of unknown outcome means that it may be taken, for
	 * this time, by nobody who knows
	 */
	public Mono<Lease> tryAcquire(String name, Duration ttl) {
		return Mono.defer(() -> {
			String owner = UUID.randomUUID().toString();
			return write(name, owner, WriteOptions.DEFAULTS.ifAbsent(), ttl, ttl, Mono::error);
		}).onErrorResume(ConditionNotMet::isCertain, held -> Mono.empty());
	}

	/**
	 * Makes a lease last longer. To be done when a third of its time has passed.
	 * @param lease the lease as it was taken or renewed last
	 * @param ttl how long from now on; as long as it lasts anyway if that is more
	 * @return the lease to go on with, whose token is greater; empty if it has ended, and
	 * another one may have it. After an error of unknown outcome try again, with the same
	 * lease
	 */
	public Mono<Lease> renew(Lease lease, Duration ttl) {
		return Mono.defer(() -> {
			Duration remaining = lease.remaining();
			// A renewal without an answer must not have made it shorter.
			Duration lasting = remaining.plus(MARGIN);
			return write(lease.name(), lease.owner(), WriteOptions.DEFAULTS.ifVersion(lease.token()),
					(lasting.compareTo(ttl) > 0) ? lasting : ttl, remaining, late -> Mono.empty());
		}).onErrorResume(ConditionNotMet.class, changed -> still(lease));
	}

	/** Not more than is left, but time for a request. */
	private Duration inTime(Duration remaining) {
		Duration atLeast = (remaining.compareTo(MARGIN) > 0) ? remaining : MARGIN;
		return lesser(atLeast, this.deadline);
	}

	private static Duration lesser(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	/** The lease, if an earlier renewal of it that was not answered has happened. */
	private Mono<Lease> still(Lease lease) {
		return this.owners.get(this.prefix + lease.name())
			.filter(found -> found.value().equals(lease.owner()))
			.map(found -> lease.with(found.version()));
	}

	/**
	 * Writes a lease.
	 * @param remaining the time that is left for it
	 * @param ended what comes if the answer came too late, made of the error that says so
	 */
	private Mono<Lease> write(String name, String owner, WriteOptions condition, Duration ttl, Duration remaining,
			Function<NoAnswer, Mono<Lease>> ended) {
		if (ttl.compareTo(MARGIN.multipliedBy(2)) < 0) {
			throw new IllegalArgumentException("a lease lasts at least 2 s, not " + ttl);
		}
		return Mono.defer(() -> {
			Duration lasting = ttl.minus(MARGIN);
			long end = this.nanoTime.getAsLong() + lasting.toNanos();
			WriteOptions options = condition.ttl(ttl).once().deadline(inTime(lesser(lasting, remaining)));
			return this.owners.answerToPut(this.prefix + name, owner, options).flatMap(answer -> {
				Lease lease = new Lease(name, owner, Objects.requireNonNull(answer.version()), end, this.nanoTime);
				return lease.remaining().isZero() ? giveBack(lease, answer.node().url()).flatMap(ended)
						: Mono.just(lease);
			});
		});
	}

	private Mono<NoAnswer> giveBack(Lease lease, URI node) {
		return release(lease).thenReturn(Outcome.NOT_APPLIED)
			.onErrorReturn(Outcome.UNKNOWN)
			.map(outcome -> new NoAnswer(
					"%s has answered after the end of the lease %s, which was%s given back".formatted(node,
							lease.name(), (outcome == Outcome.UNKNOWN) ? " perhaps not" : ""),
					outcome, node, null, false));
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
