package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import reactor.core.publisher.Mono;

/** The keys of locks. Each write has an idempotency key. */
final class LockStore {

	private static final Duration LONGEST = Duration.ofDays(3650);

	private final Entities<String> owners;

	private final String prefix;

	LockStore(Entities<String> owners, String prefix) {
		this.owners = owners;
		this.prefix = prefix;
	}

	Version put(String name, String owner, WriteOptions options, Duration ttl) {
		Duration limited = (ttl.compareTo(LONGEST) > 0) ? LONGEST : ttl;
		return Objects.requireNonNull(this.owners.put(this.prefix + name, owner, options.ttl(limited).once()).block());
	}

	void delete(String name, Version version) {
		deletion(name, version).block();
	}

	Mono<Void> deletion(String name, Version version) {
		return Mono
			.defer(() -> this.owners.delete(this.prefix + name, WriteOptions.DEFAULTS.ifVersion(version).once()));
	}

	/** The version of a lock, if this owner still holds it. */
	Optional<Version> heldBy(String name, String owner) {
		return this.owners.get(this.prefix + name)
			.filter(lock -> lock.value().equals(owner))
			.map(Entity::version)
			.blockOptional();
	}

}
