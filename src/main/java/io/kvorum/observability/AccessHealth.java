package io.kvorum.observability;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessState;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of access control: whether it is on, and whether the keys file can be used.
 * Always up: the node still serves with its previous keys, and out of service it would
 * serve no client.
 */
final class AccessHealth implements ReactiveHealthIndicator {

	private final AccessControl control;

	AccessHealth(AccessControl control) {
		this.control = control;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> healthOf(this.control.state()));
	}

	private static Health healthOf(AccessState state) {
		Health.Builder health = Health.up().withDetail("controlled", state.controlled());
		if (state.controlled()) {
			health.withDetail("keys", state.keys());
		}
		String trouble = state.trouble();
		if (trouble != null) {
			health.withDetail("file", "cannot be used, so the previous keys stay in force: " + trouble);
		}
		return health.build();
	}

}
