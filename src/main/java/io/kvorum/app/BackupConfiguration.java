package io.kvorum.app;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

import io.kvorum.backup.BackedUpNode;
import io.kvorum.backup.BackupEvents;
import io.kvorum.backup.BackupService;
import io.kvorum.backup.BackupSettings;
import io.kvorum.backup.Origin;
import io.kvorum.backup.Restore;
import io.kvorum.backup.Restore.Remembering;
import io.kvorum.backup.RestoreSettings;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.convergence.quarantine.Restored;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Configures backups of a node and its restore. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class BackupConfiguration {

	private static final int IDLE_THREAD_SECONDS = 60;

	@Bean
	Origin origin(Topology topology, Member self, @Nullable BuildProperties build) {
		return originOf(new Layout(0, topology), self, build);
	}

	private static Origin originOf(Layout layout, Member self, @Nullable BuildProperties build) {
		Topology topology = layout.topology();
		return new Origin(self.address(), topology.members().stream().map(BackupConfiguration::describe).toList(),
				topology.factor(), layout.number(), HttpConfiguration.version(build));
	}

	/** A node as {@code kvorum.cluster.nodes} has it. */
	private static String describe(Member member) {
		boolean isBare = member.zone().isEmpty() && member.weight() == 1;
		return isBare ? member.address()
				: new ClusterNode(ReplicaAddress.parse(member.address()), member.zone(), member.weight()).text();
	}

	/** A thread of its own, since backups read the whole store. */
	@Bean(destroyMethod = "dispose")
	Scheduler backupScheduler() {
		return oneThread("kvorum-backup");
	}

	@Bean(destroyMethod = "dispose")
	Scheduler backupListScheduler() {
		return oneThread("kvorum-backup-list");
	}

	private static Scheduler oneThread(String name) {
		return Schedulers.newBoundedElastic(1, BackupService.QUEUE_LENGTH, name, IDLE_THREAD_SECONDS, true);
	}

	@Bean
	BackedUpNode backedUpNode(Supplier<Layout> layout, Member self, RocksStorage storage, Convergence convergence,
			@Nullable BuildProperties build) {
		return new BackedUpNode() {

			@Override
			public Origin origin() {
				return originOf(layout.get(), self, build);
			}

			@Override
			public long identity() {
				return storage.identity();
			}

			@Override
			public @Nullable String doubt() {
				QuarantineProgress quarantine = convergence.status().quarantine();
				return quarantine.withheldBecause().isEmpty() ? null : quarantine.withheldBecause();
			}

			@Override
			public boolean isConverged() {
				return convergence.status().converged();
			}

		};
	}

	@Bean
	BackupService backupService(KvorumProperties properties, RocksStorage storage, BackedUpNode node, TimeSource time,
			BackupEvents events, @Qualifier("backupScheduler") Scheduler scheduler,
			@Qualifier("backupListScheduler") Scheduler lists) {
		return new BackupService(settings(properties), storage.checkpoints(), node, time, events, scheduler, lists);
	}

	private static @Nullable BackupSettings settings(KvorumProperties properties) {
		KvorumProperties.Backup backup = properties.backup();
		return (backup.directory() == null) ? null : new BackupSettings(backup.directory(), properties.storage().path(),
				backup.keep(), properties.storage().minFreeSpace().toBytes(), backup.maxRate().toBytes());
	}

	/** Removes the remains of interrupted backups once the store is open. */
	@Bean
	BackgroundWork backupTidying(BackupService backups) {
		return BackgroundWork.of(BackgroundWork.STORE_OPEN, backups.tidy());
	}

	@Bean
	Restore restore(KvorumProperties properties, Origin origin, RocksStorage storage, TimeSource time) {
		KvorumProperties.Backup backup = properties.backup();
		return new Restore(
				new RestoreSettings(properties.storage().path(), backup.restoreFrom(),
						properties.storage().minFreeSpace().toBytes(), backup.maxRate().toBytes()),
				origin, storage.checkpoints(), remembering(properties), time);
	}

	/**
	 * Decides which records a restored node has. A node without peers keeps those of the
	 * backup.
	 */
	private static Remembering remembering(KvorumProperties properties) {
		if (properties.cluster().isAlone()) {
			return (recorded, _) -> Restored.withoutOthers(recorded);
		}
		return properties.backup().restoreWholeCluster()
				? (recorded, made) -> Restored.withAllOthers(recorded, ChangeState.restored(recorded), made)
				: BackupConfiguration::alone;
	}

	private static Map<String, byte[]> alone(Map<String, byte[]> recorded, Instant made) {
		Map<String, byte[]> records = new HashMap<>(recorded);
		// In a change it may have closed its step since.
		records.putAll(ChangeState.restored(recorded));
		return Restored.alone(records, made);
	}

}
