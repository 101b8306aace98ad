package io.kvorum.observability;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of a gateway's way to Cassandra.
 * <p>
 * Out of service as long as the gateway has not connected, or the schema is missing: the
 * next gateway may serve. Up while Cassandra answers, also where a quorum is lost, since
 * each gateway would report that: requests are then answered with what is missing, and
 * one at a lower level is served.
 */
final class GatewayHealth implements ReactiveHealthIndicator {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	/** Time for which probes share a result. */
	private static final Duration FRESH = Duration.ofSeconds(1);

	private final Mono<Health> health;

	/**
	 * Creates the indicator.
	 * @param absence why the gateway serves nothing; null if it does
	 * @param probe reads from a quorum
	 */
	GatewayHealth(Supplier<@Nullable String> absence, Mono<Void> probe) {
		this.health = Mono.defer(() -> {
			String why = absence.get();
			return (why != null) ? Mono.just(Health.outOfService().withDetail("cassandra", why).build())
					: probe.timeout(TIMEOUT)
						.then(Mono.fromSupplier(() -> Health.up().withDetail("quorum", "answers").build()))
						.onErrorResume(ex -> Mono.just(Health.up().withDetail("quorum", why(ex)).build()));
		}).cache(FRESH);
	}

	private static String why(Throwable ex) {
		return (ex instanceof TimeoutException) ? "no answer within %d ms".formatted(TIMEOUT.toMillis())
				: String.valueOf(ex.getMessage());
	}

	@Override
	public Mono<Health> health() {
		return this.health;
	}

}
