package io.kvorum.boot;

import java.time.Duration;

import io.kvorum.client.Entities;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.AccessDenied;
import io.kvorum.client.Problem;
import io.kvorum.client.ReadOptions;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import reactor.core.publisher.Mono;

/**
 * Whether the cluster answers. It reads, within 2 seconds, a key that applications do not
 * use, from a majority of its replicas, and asks another node if one has not answered
 * after half a second. So it is down if the client reaches no node, if too few replicas
 * answer, and if the API key is missing or wrong. An API key without the right to read
 * that key is up: the cluster has checked it.
 * <p>
 * Details are the time limit and, unless the read succeeded, the node that was asked
 * last.
 */
public final class KvorumHealthIndicator extends AbstractReactiveHealthIndicator {

	private static final String KEY = "io.kvorum.boot.health";

	private static final Duration TIME_LIMIT = Duration.ofSeconds(2);

	/** Of a node, after which another one is asked, too. */
	private static final Duration PATIENCE = Duration.ofMillis(500);

	private static final ReadOptions WITHIN_LIMIT = ReadOptions.DEFAULTS.deadline(TIME_LIMIT).hedgeAfter(PATIENCE);

	private final Entities<byte[]> entities;

	/**
	 * An indicator for a cluster.
	 * @param client asks the cluster
	 */
	public KvorumHealthIndicator(KvorumClient client) {
		super("Kvorum health check failed");
		this.entities = client.entities();
	}

	@Override
	protected Mono<Health> doHealthCheck(Health.Builder builder) {
		builder.withDetail("timeLimit", TIME_LIMIT.toString());
		// An answer to HEAD has no body that would tell 403 of Kvorum from that of a
		// proxy.
		return this.entities.get(KEY, WITHIN_LIMIT)
			.then(Mono.fromSupplier(() -> builder.up().build()))
			.onErrorResume(KvorumException.class, (failure) -> Mono.just(health(builder, failure)));
	}

	private static Health health(Health.Builder builder, KvorumException failure) {
		builder.withDetail("node", failure.node().toString());
		return (isForbidden(failure) ? builder.up().withDetail("answer", "forbidden") : builder.down(failure)).build();
	}

	private static boolean isForbidden(KvorumException failure) {
		Problem problem = failure.problem();
		return failure instanceof AccessDenied && problem != null && problem.name().equals("forbidden");
	}

}
