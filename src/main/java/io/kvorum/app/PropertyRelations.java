package io.kvorum.app;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import io.kvorum.app.KvorumProperties.Api;
import io.kvorum.app.KvorumProperties.Backup;
import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.app.KvorumProperties.Engine;
import io.kvorum.app.KvorumProperties.Range;
import io.kvorum.app.KvorumProperties.Replication;
import io.kvorum.app.KvorumProperties.Storage;
import org.springframework.util.unit.DataSize;

/**
 * Relations between the properties of a node, each of which is checked for itself before.
 */
final class PropertyRelations {

	/**
	 * Upper bound of the queued size of a write besides its value: key, content type,
	 * overhead.
	 */
	private static final DataSize BESIDE_THE_VALUE = DataSize.ofKilobytes(4);

	/**
	 * Cassandra keeps a row in memory as a whole, and in a transaction several times. It
	 * advises against larger ones.
	 */
	private static final DataSize MAX_VALUE_IN_CASSANDRA = DataSize.ofMegabytes(1);

	private static final Pattern BASE_URL = Pattern.compile("https?://[^/?#]+");

	private static final long BYTES_OF_A_KILOBYTE = DataSize.ofKilobytes(1).toBytes();

	private final List<Violation> violations = new ArrayList<>();

	private PropertyRelations() {
	}

	/** The relations that these properties violate. */
	static List<Violation> violatedBy(KvorumProperties properties) {
		PropertyRelations relations = new PropertyRelations();
		relations.checkMemory(properties.storage(), properties.api());
		relations.checkTime(properties);
		relations.checkRange(properties);
		relations.checkBackup(properties.backup(), properties.storage());
		relations.checkRestore(properties.backup(), properties.cluster());
		if (properties.engine() == Engine.CASSANDRA) {
			relations.checkGateway(properties);
		}
		else if (!properties.takeover().from().isEmpty()) {
			relations.violations.add(new Violation("kvorum.takeover.from", properties.takeover().from().toString(),
					"must be set with kvorum.engine=cassandra only: other nodes have a store of their own"));
		}
		relations.violations.addAll(ClusterRules.violatedBy(properties.cluster()));
		if (!properties.cluster().isAlone()) {
			relations.checkPeers(properties.cluster(), properties.replication());
		}
		return relations.violations;
	}

	private void checkMemory(Storage storage, Api api) {
		check(2 * storage.memtables().toBytes() <= storage.cacheSize().toBytes(), "storage.memtable-size",
				storage.memtables(), "at most half of kvorum.storage.cache-size", storage.cacheSize());
		DataSize heap = DataSize.ofBytes(Runtime.getRuntime().maxMemory());
		check(2 * storage.rowCacheSize().toBytes() <= heap.toBytes(), "storage.row-cache-size", storage.rowCacheSize(),
				"at most half of the heap", heap);
		check(api.maxValueSize().compareTo(api.maxInFlightSize()) <= 0, "api.max-value-size", api.maxValueSize(),
				"at most kvorum.api.max-in-flight-size", api.maxInFlightSize());
		check(api.maxValueSize().toBytes() + BESIDE_THE_VALUE.toBytes() <= storage.writeQueueSize().toBytes(),
				"api.max-value-size", api.maxValueSize(),
				"at least " + text(BESIDE_THE_VALUE) + " less than kvorum.storage.write-queue-size",
				storage.writeQueueSize());
	}

	/** Checks that the memory for ranges suffices for one range over all nodes. */
	private void checkRange(KvorumProperties properties) {
		Range range = properties.range();
		int nodes = Math.max(1, properties.cluster().nodes().size());
		long bytes = ClusterConfiguration.settingsOf(properties).bytesOf(nodes);
		DataSize needed = DataSize.ofKilobytes(Math.ceilDiv(bytes, BYTES_OF_A_KILOBYTE));
		check(needed.compareTo(range.maxInFlightSize()) <= 0, "range.max-in-flight-size", range.maxInFlightSize(),
				"at least what one range over all nodes takes", needed);
	}

	/**
	 * Checks that neither directory contains the other, since files are removed from
	 * both.
	 */
	private void checkBackup(Backup backup, Storage storage) {
		Path directory = backup.directory();
		if (directory != null) {
			Path backups = directory.toAbsolutePath().normalize();
			Path store = storage.path().toAbsolutePath().normalize();
			check(!backups.startsWith(store) && !store.startsWith(backups), "backup.directory", directory,
					"neither in kvorum.storage.path nor around it", storage.path());
		}
	}

	/**
	 * Refuses a restore without a backup, which is most likely a variable that is not
	 * set. Refuses a restore with accept-loss, which would let a node with old entries
	 * vote, and one that waits for others to be rebuilt from, where there are none.
	 */
	private void checkRestore(Backup backup, Cluster cluster) {
		Path from = backup.restoreFrom();
		if (from == null) {
			if (backup.restoreWholeCluster()) {
				this.violations.add(new Violation("kvorum.backup.restore-whole-cluster", "true",
						"must come with kvorum.backup.restore-from: without a backup the node would start empty"));
			}
			return;
		}
		if (cluster.acceptLoss()) {
			check(false, "backup.restore-from", from, "away while kvorum.cluster.accept-loss is set", true);
		}
		if (cluster.nodes().size() == 1 && cluster.isFounder() && !backup.restoreWholeCluster()) {
			this.violations.add(new Violation("kvorum.backup.restore-from", text(from),
					"must come with kvorum.backup.restore-whole-cluster=true in a cluster of one. If other nodes have been added since, they are in kvorum.cluster.nodes too"));
		}
	}

	/** Checks that nothing is asked of a gateway that only a node with a store has. */
	private void checkGateway(KvorumProperties properties) {
		String rule = "must not be set with kvorum.engine=cassandra: a gateway has no %s";
		String self = properties.cluster().self();
		if (self != null) {
			this.violations.add(new Violation("kvorum.cluster.self", self, rule.formatted("peers")));
		}
		Path backups = properties.backup().directory();
		if (backups != null) {
			this.violations.add(new Violation("kvorum.backup.directory", text(backups), rule.formatted("data")));
		}
		Path from = properties.backup().restoreFrom();
		if (from != null) {
			this.violations.add(new Violation("kvorum.backup.restore-from", text(from), rule.formatted("data")));
		}
		properties.takeover()
			.from()
			.stream()
			.filter(url -> !BASE_URL.matcher(url).matches())
			.forEach(url -> this.violations.add(new Violation("kvorum.takeover.from", url,
					"must be URLs of nodes without a path, as http://kvorum-0:8080")));
		check(properties.api().maxValueSize().compareTo(MAX_VALUE_IN_CASSANDRA) <= 0, "api.max-value-size",
				properties.api().maxValueSize(), "at most the largest value for Cassandra", MAX_VALUE_IN_CASSANDRA);
	}

	private void checkTime(KvorumProperties properties) {
		Duration queueTime = properties.storage().writeQueueTime();
		Duration writeTimeout = properties.replication().writeTimeout();
		check(queueTime.compareTo(writeTimeout) < 0, "storage.write-queue-time", queueTime,
				"less than kvorum.replication.write-timeout", writeTimeout);
		Duration retention = properties.idempotency().retention();
		check(retention.compareTo(writeTimeout) > 0, "idempotency.retention", retention,
				"more than kvorum.replication.write-timeout", writeTimeout);
		// Repeats, tombstones and promises have to outlive what is under way.
		check(properties.gcGrace().dividedBy(KvorumProperties.MARGIN_PART).compareTo(writeTimeout) > 0, "gc-grace",
				properties.gcGrace(), "more than four times kvorum.replication.write-timeout", writeTimeout);
		Duration readTimeout = properties.replication().readTimeout();
		check(properties.gcGrace().compareTo(readTimeout) > 0, "gc-grace", properties.gcGrace(),
				"more than kvorum.replication.read-timeout", readTimeout);
		Api api = properties.api();
		check(api.bodyStallTimeout().compareTo(api.bodyTimeout()) <= 0, "api.body-stall-timeout",
				api.bodyStallTimeout(), "at most kvorum.api.body-timeout", api.bodyTimeout());
	}

	private void checkPeers(Cluster cluster, Replication replication) {
		check(cluster.silenceTimeout().compareTo(replication.writeTimeout()) < 0, "cluster.silence-timeout",
				cluster.silenceTimeout(), "less than kvorum.replication.write-timeout", replication.writeTimeout());
		check(cluster.connectTimeout().compareTo(cluster.silenceTimeout()) <= 0, "cluster.connect-timeout",
				cluster.connectTimeout(), "at most kvorum.cluster.silence-timeout", cluster.silenceTimeout());
		check(cluster.hedgeDelay().compareTo(replication.readTimeout()) < 0, "cluster.hedge-delay",
				cluster.hedgeDelay(), "less than kvorum.replication.read-timeout", replication.readTimeout());
	}

	private void check(boolean holds, String name, Object value, String relation, Object other) {
		if (!holds) {
			this.violations.add(new Violation("kvorum." + name, text(value),
					"must be %s, which is %s".formatted(relation, text(other))));
		}
	}

	private static String text(Object value) {
		return switch (value) {
			case DataSize size when size.toBytes() % (1 << 20) == 0 -> size.toMegabytes() + "MB";
			case DataSize size when size.toBytes() % (1 << 10) == 0 -> size.toKilobytes() + "KB";
			case Duration duration -> duration.toMillis() + "ms";
			default -> value.toString();
		};
	}

}
