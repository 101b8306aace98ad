package io.kvorum.app;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.tombstones.CollectedTombstones;
import io.kvorum.convergence.tombstones.CollectionEvents;
import io.kvorum.convergence.tombstones.CollectionRule;
import io.kvorum.convergence.tombstones.RecordCollector;
import io.kvorum.convergence.tombstones.TombstoneCollector;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures the removal of tombstones, and what it shares with repairs. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class ConvergenceConfiguration {

	@Bean
	ConvergenceThread convergenceThread(EventLoopCallers callers) {
		return new ConvergenceThread(callers);
	}

	@Bean
	RepairLog repairLog(Topology topology, Member self, RocksStorage storage) {
		return new RepairLog(topology, self, storage);
	}

	@Bean
	CollectionRule collectionRule(RepairLog log, RocksStorage storage, @Nullable Handoffs handoffs,
			KvorumProperties properties, TimeSource time) {
		return new CollectionRule(log, storage.keyHash(),
				(handoffs != null) ? handoffs::oldestMillis : () -> Long.MAX_VALUE,
				(handoffs != null) ? handoffs::isEarlierOver : () -> true, properties.gcGrace(),
				properties.idempotencyRetention().multipliedBy(2), time);
	}

	@Bean
	CollectedTombstones collectedTombstones() {
		return new CollectedTombstones();
	}

	@Bean
	TombstoneCollector tombstoneCollector(RocksStorage storage, CollectionRule rule, CollectedTombstones collected,
			TimeSource time, ConvergenceThread thread, KvorumProperties properties, CollectionEvents events) {
		return new TombstoneCollector(storage, storage, rule, collected, time, thread.alarms(),
				properties.storage().collectInterval(), TombstoneCollector.PROMISE_MARGIN, events);
	}

	/** A collector that removes records within three times their retention. */
	@Bean
	RecordCollector recordCollector(RocksStorage storage, CollectionRule rule, TimeSource time,
			ConvergenceThread thread, KvorumProperties properties) {
		return new RecordCollector(storage, storage, rule, time, thread.alarms(), properties.idempotencyRetention());
	}

	@Bean
	BackgroundWork recordCollection(RecordCollector collector, ConvergenceThread thread) {
		return BackgroundWork.of(BackgroundWork.REPLICA_PORT_OPEN, collector.run().subscribeOn(thread.scheduler()));
	}

	@Bean
	BackgroundWork tombstoneCollection(TombstoneCollector collector, ConvergenceThread thread) {
		return BackgroundWork.of(BackgroundWork.REPLICA_PORT_OPEN, collector.run().subscribeOn(thread.scheduler()));
	}

}
