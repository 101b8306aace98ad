package io.kvorum.app;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.MissedStores;
import io.kvorum.storage.StorageEngine;
import io.kvorum.transport.PeerReports;
import io.kvorum.transport.PeerStatus;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import reactor.core.publisher.Mono;

/**
 * Configures a node without peers, with beans of the same types as
 * {@link PeersConfiguration}.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
@Conditional(AloneConfiguration.IsAlone.class)
class AloneConfiguration {

	@Bean
	LocalReplica localReplica(Member self, StorageEngine storage, HybridLogicalClock clock, TimeSource time) {
		return LocalReplica.alone(self, storage, clock, time);
	}

	@Bean
	AllReplicas allReplicas(LocalReplica local) {
		return new AllReplicas(List.of(local));
	}

	@Bean
	Supplier<List<PeerStatus>> peerStatuses() {
		return List::of;
	}

	@Bean
	PeerReports peerReports() {
		return _ -> Mono.error(new IllegalStateException("this node has no peers"));
	}

	@Bean
	MissedStores missedStores() {
		return MissedStores.NONE;
	}

	@Bean
	Convergence convergence() {
		return Convergence.alone();
	}

	static final class IsAlone implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return !PeersConfiguration.hasPeers(context);
		}

	}

}
