package io.kvorum.app;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.storage.Durability;
import io.kvorum.storage.ExpiryHorizon;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * Configuration of a node. {@link PropertyRelations} checks properties against each
 * other, {@link ViolationCollector} refuses unknown ones.
 *
 * @param engine what keeps the data: this node and its peers (rocksdb), or an Apache
 * Cassandra that spring.cassandra connects to (cassandra)
 * @param storage location of the data and limits of the store
 * @param api limits of the HTTP API
 * @param replication number of replicas and time limits of operations
 * @param idempotency writes with an Idempotency-Key
 * @param cluster the other nodes
 * @param range limits of ranges
 * @param hints hinted handoff: writes kept for nodes that missed them
 * @param antiEntropy comparison and repair of replicas
 * @param access API keys of the HTTP API
 * @param console the console, a page for people
 * @param tracing traces of operations
 * @param gcGrace shortest time for which a deletion is remembered. A node that was away
 * for nearly as long, or that returns with a disk of that age, is rebuilt from the other
 * nodes
 * @param backup backups of this node and its restore
 * @param takeover nodes of Kvorum whose keys a gateway to Cassandra takes over
 */
@Validated
@ConfigurationProperties("kvorum")
record KvorumProperties(@NotNull @DefaultValue("rocksdb") Engine engine, @Valid @DefaultValue Storage storage,
		@Valid @DefaultValue Api api, @Valid @DefaultValue Replication replication,
		@Valid @DefaultValue Idempotency idempotency, @Valid @DefaultValue Cluster cluster,
		@Valid @DefaultValue Range range, @Valid @DefaultValue Hints hints,
		@Valid @DefaultValue AntiEntropy antiEntropy, @Valid @DefaultValue Access access,
		@Valid @DefaultValue Console console, @Valid @DefaultValue Tracing tracing,
		@NotNull @DurationMin(seconds = 10) @DurationMax(
				days = KvorumProperties.MAX_DAYS) @DefaultValue("10d") Duration gcGrace,
		@Valid @DefaultValue Backup backup, @Valid @DefaultValue Takeover takeover) {

	/** What keeps the data. */
	enum Engine {

		/** This node, and its peers. */
		ROCKSDB,

		/** A keyspace of Apache Cassandra. */
		CASSANDRA

	}

	/**
	 * The longest time that can be set, in days. It is counted in nanoseconds, and must
	 * not overflow a long.
	 */
	static final long MAX_DAYS = 3650;

	/** Largest margin by which absences and hints stay below gc-grace. */
	private static final Duration MAX_MARGIN = Duration.ofDays(1);

	/** Divisor of gc-grace for what has to be much shorter. */
	static final int MARGIN_PART = 4;

	/**
	 * Limit of hints' age and of absences: gc-grace less a day, or less a quarter of it
	 * if that is shorter.
	 */
	Duration withinGrace() {
		Duration part = this.gcGrace.dividedBy(MARGIN_PART);
		return this.gcGrace.minus((part.compareTo(MAX_MARGIN) < 0) ? part : MAX_MARGIN);
	}

	/** The longest time for which hints are kept, below gc-grace. */
	Duration hintsWindow() {
		Duration window = this.hints.window();
		return (window.compareTo(withinGrace()) < 0) ? window : withinGrace();
	}

	/**
	 * The time in which a write may be sent again. Tombstones that are newer than that
	 * write are still there then.
	 */
	Duration idempotencyRetention() {
		Duration retention = this.idempotency.retention();
		Duration part = this.gcGrace.dividedBy(MARGIN_PART);
		return (retention.compareTo(part) < 0) ? retention : part;
	}

	/**
	 * The least time for which an expired entry stays on disk. A node alone leaves no
	 * tombstone for it, and a write that is sent again must find what came after it.
	 */
	Duration expiryMargin() {
		Duration retention = idempotencyRetention();
		return (this.cluster.isAlone() && retention.compareTo(ExpiryHorizon.MARGIN) > 0) ? retention
				: ExpiryHorizon.MARGIN;
	}

	/**
	 * The topology with which a cluster begins; this node alone if no other nodes are
	 * configured, or if it waits to be added to them.
	 */
	Topology topology() {
		if (this.cluster.isAlone()) {
			return Topology.alone();
		}
		ReplicaAddress self = this.cluster.address();
		return this.cluster.isFounder() ? topology(this.cluster.nodes(), this.replication.factor())
				: Topology.of(List.of(String.valueOf(self)), this.replication.factor());
	}

	private static Topology topology(List<String> nodes, int factor) {
		return Topology.ofMembers(nodes.stream().map(ClusterNode::parse).map(ClusterNode::toMember).toList(), factor);
	}

	/**
	 * Location of the data and limits of the store.
	 *
	 * @param path directory of the data; each node needs its own
	 * @param durability place that an acknowledged write has reached: the disk (fsync),
	 * or the operating system (os), where a power failure can lose it
	 * @param cacheSize memory of the block cache, outside the heap. Memtables, indexes
	 * and filters count towards it
	 * @param memtableSize memory for writes that are not in tables yet. Part of
	 * cache-size, at most half of it. By default a quarter of it, 32 MB to 64 MB, and
	 * half of a cache below 64 MB
	 * @param rowCacheSize heap memory for recently written or read entries; 0 disables
	 * this cache
	 * @param maxOpenFiles maximum number of table files that are open at the same time
	 * @param minFreeSpace free disk space below which writes are refused, so that the
	 * store can still compact
	 * @param readThreads number of threads for reads that memory cannot answer
	 * @param readQueueLength maximum number of reads that wait for each of these threads;
	 * more are refused with 503
	 * @param writeQueueLength maximum number of writes that wait for the disk; more are
	 * refused with 503
	 * @param writeQueueSize maximum memory of the waiting writes; more are refused with
	 * 503
	 * @param writeQueueTime time that a write may wait before it is refused with 503.
	 * Must be less than kvorum.replication.write-timeout
	 * @param collectInterval interval at which expired entries and old tombstones are
	 * removed from the disk
	 */
	record Storage(@NotNull @DefaultValue("./data") Path path, @NotNull @DefaultValue("fsync") Durability durability,
			@NotNull @SizeBounds(min = "8MB") @DefaultValue("64MB") DataSize cacheSize,
			@Nullable @SizeBounds(min = "4MB") DataSize memtableSize,
			@NotNull @SizeBounds(min = "0B", max = "1GB") @DefaultValue("16MB") DataSize rowCacheSize,
			@Min(64) @DefaultValue("512") int maxOpenFiles,
			@NotNull @SizeBounds(min = "0B") @DefaultValue("64MB") DataSize minFreeSpace,
			@Min(1) @Max(1024) @DefaultValue("4") int readThreads,
			@Min(1) @Max(100_000) @DefaultValue("256") int readQueueLength,
			@Min(1) @Max(1_000_000) @DefaultValue("8192") int writeQueueLength,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("32MB") DataSize writeQueueSize,
			@NotNull @DurationMin(millis = 10) @DurationMax(
					days = MAX_DAYS) @DefaultValue("1s") Duration writeQueueTime,
			@NotNull @DurationMin(millis = 10) @DurationMax(
					days = MAX_DAYS) @DefaultValue("1m") Duration collectInterval) {

		private static final DataSize LEAST_MEMTABLES = DataSize.ofMegabytes(32);

		/**
		 * With larger ones a write of a small value costs more: the skip list is deeper.
		 */
		private static final DataSize MOST_MEMTABLES = DataSize.ofMegabytes(64);

		/** The memory for memtables, also where none is set. */
		DataSize memtables() {
			if (this.memtableSize != null) {
				return this.memtableSize;
			}
			long quarter = Math.clamp(this.cacheSize.toBytes() / 4, LEAST_MEMTABLES.toBytes(),
					MOST_MEMTABLES.toBytes());
			return DataSize.ofBytes(Math.min(quarter, this.cacheSize.toBytes() / 2));
		}

	}

	/**
	 * Limits of the HTTP API.
	 *
	 * @param maxValueSize size of the largest value; larger ones are refused with 413
	 * @param maxInFlightSize maximum memory of the values being received, and as much
	 * again for large values being sent; more requests are refused with 503
	 * @param maxConnections maximum number of open connections; more are closed at once
	 * @param idleTimeout time after which a connection without a request is closed
	 * @param headerTimeout time limit of the headers of a request, from their first byte;
	 * 408 after that
	 * @param bodyStallTimeout longest pause of a client that sends a value; 408 after
	 * that
	 * @param bodyTimeout time limit of the whole value of a request, 408 after that, and
	 * of the whole value of a response, after which the connection is closed
	 * @param writeStallTimeout longest pause of a client that receives a response; after
	 * that the connection is closed
	 * @param drainTime time for which a stopping node keeps connections without a request
	 * open, so that the next request on them is answered. Part of the time that a stop
	 * takes
	 * @param slowRequestTime time from which on a request is logged as slow, with the
	 * steps and calls that it took, without its id; none is by default
	 * @param retired whether this node leaves its keys to gateways: it refuses all
	 * requests for entities but their reads
	 */
	record Api(@NotNull @SizeBounds(min = "1B", max = "64MB") @DefaultValue("1MB") DataSize maxValueSize,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("32MB") DataSize maxInFlightSize,
			@Min(1) @DefaultValue("2000") int maxConnections,
			@NotNull @DurationMin(millis = 100) @DurationMax(days = MAX_DAYS) @DefaultValue("60s") Duration idleTimeout,
			@NotNull @DurationMin(millis = 100) @DurationMax(
					days = MAX_DAYS) @DefaultValue("10s") Duration headerTimeout,
			@NotNull @DurationMin(millis = 100) @DurationMax(
					days = MAX_DAYS) @DefaultValue("10s") Duration bodyStallTimeout,
			@NotNull @DurationMin(millis = 100) @DurationMax(days = MAX_DAYS) @DefaultValue("60s") Duration bodyTimeout,
			@NotNull @DurationMin(millis = 100) @DurationMax(
					days = MAX_DAYS) @DefaultValue("30s") Duration writeStallTimeout,
			@NotNull @DurationMin(millis = 0) @DurationMax(seconds = 5) @DefaultValue("1s") Duration drainTime,
			@Nullable @DurationMin(millis = 1) @DurationMax(days = MAX_DAYS) Duration slowRequestTime,
			@DefaultValue("false") boolean retired) {
	}

	/**
	 * The nodes whose keys this gateway takes over.
	 *
	 * @param from URLs of their API; any of them may answer for all
	 * @param apiKey API key with the rights to read all entities and the metrics; none is
	 * by default
	 */
	record Takeover(@NotNull @DefaultValue( {
		}) List<String> from, @Nullable String apiKey){
	}

	/**
	 * The console.
	 *
	 * @param enabled whether the API port serves it at /console; by default only if there
	 * are no API keys
	 */
	record Console(@Nullable Boolean enabled) {
	}

	/**
	 * Number of replicas and time limits of operations.
	 *
	 * @param factor number of replicas of a key unless a request says otherwise, at most
	 * the number of nodes
	 * @param readTimeout time limit of a read; 504 after that
	 * @param writeTimeout time limit of a write; 504 after that, and the write may have
	 * happened
	 */
	record Replication(@Min(1) @Max(Entry.MAX_COPIES) @DefaultValue("3") int factor,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("1s") Duration readTimeout,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("2s") Duration writeTimeout) {
	}

	/**
	 * Writes with an Idempotency-Key.
	 *
	 * @param retention time for which a write is remembered, from its first request on; a
	 * quarter of kvorum.gc-grace if that is shorter
	 * @param maxRecords maximum number of new ones that this node takes within that time;
	 * more are refused with 503
	 */
	record Idempotency(
			@NotNull @DurationMin(seconds = 1) @DurationMax(hours = 24) @DefaultValue("10m") Duration retention,
			@Min(1) @Max(10_000_000) @DefaultValue("1000000") int maxRecords) {
	}

	/**
	 * Limits of ranges.
	 *
	 * @param maxConcurrent maximum number of ranges under way on this node; more are
	 * refused with 503
	 * @param maxInFlightSize maximum memory of the ranges under way; more are refused
	 * with 503. A range takes two pages (each plus 17 KB) for each node, two more pages,
	 * and four times kvorum.api.max-value-size
	 * @param pageSize amount of a range that each node reads at a time
	 * @param pageTimeout time limit of a node for a page or a large value; after that the
	 * range goes on without the node
	 * @param stallTimeout longest pause of a client that receives a range; after that the
	 * connection is closed
	 * @param threads number of threads that read pages, beside those for reads of single
	 * entries
	 * @param queueLength maximum number of pages that wait for each of these threads;
	 * beyond that the node counts as overloaded
	 */
	record Range(@Min(1) @Max(10_000) @DefaultValue("8") int maxConcurrent,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("40MB") DataSize maxInFlightSize,
			@NotNull @SizeBounds(min = "1KB", max = "1MB") @DefaultValue("64KB") DataSize pageSize,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("5s") Duration pageTimeout,
			@NotNull @DurationMin(millis = 100) @DurationMax(
					days = MAX_DAYS) @DefaultValue("30s") Duration stallTimeout,
			@Min(1) @Max(1024) @DefaultValue("2") int threads,
			@Min(1) @Max(100_000) @DefaultValue("256") int queueLength) {
	}

	/**
	 * Hinted handoff: writes kept for nodes that missed them, until they are replayed.
	 *
	 * @param window time for which hints are kept for a node that is away; after that it
	 * is repaired instead. A longer time is cut to stay below kvorum.gc-grace
	 * @param replayInterval interval at which hints are replayed to nodes that are back
	 * @param maxSize maximum size of the hints for one node; beyond that it is repaired
	 * instead
	 * @param maxRate maximum size of the hints replayed to one node each second
	 */
	record Hints(@NotNull @DurationMin(seconds = 1) @DurationMax(days = MAX_DAYS) @DefaultValue("3h") Duration window,
			@NotNull @DurationMin(millis = 10) @DurationMax(
					days = MAX_DAYS) @DefaultValue("10s") Duration replayInterval,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("256MB") DataSize maxSize,
			@NotNull @SizeBounds(min = "1KB") @DefaultValue("1MB") DataSize maxRate) {
	}

	/**
	 * Comparison and repair of replicas.
	 *
	 * @param interval interval at which all data is compared with every other node
	 * @param concurrency number of nodes that this node compares itself with at the same
	 * time
	 * @param maxRate maximum size of the entries exchanged with one node each second,
	 * also during a rebuild
	 */
	record AntiEntropy(
			@NotNull @DurationMin(millis = 100) @DurationMax(days = MAX_DAYS) @DefaultValue("10m") Duration interval,
			@Min(1) @Max(254) @DefaultValue("1") int concurrency,
			@NotNull @SizeBounds(min = "1KB") @DefaultValue("16MB") DataSize maxRate) {
	}

	/**
	 * API keys of the HTTP API and the management endpoints.
	 *
	 * @param keysFile JSON file of the API keys; without it every request is allowed
	 * @param reloadInterval interval at which the file is checked for changes
	 */
	record Access(@Nullable Path keysFile,
			@NotNull @DurationMin(millis = 100) @DurationMax(hours = 1) @DefaultValue("5s") Duration reloadInterval) {
	}

	/**
	 * The other nodes. Without them a node is a cluster of one and opens no replica port.
	 *
	 * @param self replica address of this node, http://host:port, on which it listens for
	 * the other nodes. The form https:// names the same address and needs
	 * kvorum.cluster.ssl.bundle
	 * @param nodes replica addresses of the nodes with which the cluster begins,
	 * including this one. The same list on all of them, in any order. Later changes are
	 * made by the endpoint "layout" and kept on disk. A list without this node has
	 * addresses of nodes of a cluster that this one waits to be added to. Each may be
	 * followed by a zone and a weight: http://host:port?zone=a&weight=2. The copies of a
	 * key lie in different zones, and a node of weight 2 holds twice as much as one of
	 * weight 1
	 * @param join how a node that is not in its own list of nodes is added to the
	 * cluster: by an operator with the endpoint "layout" (manual), or by the nodes of the
	 * cluster, if they have auto too (auto). With auto nodes need kvorum.cluster.secret,
	 * and kvorum.cluster.self may be followed by a zone and a weight
	 * @param secret secret of all nodes, which protects their replica ports; 16 to 256
	 * visible ASCII characters. Without a secret, restrict the network of the nodes
	 * @param ssl TLS between the nodes
	 * @param silenceTimeout silence after which a node that owes an answer counts as
	 * away. Must be less than kvorum.replication.write-timeout
	 * @param connectTimeout time limit for connecting to a node and for its handshake; at
	 * most silence-timeout
	 * @param probeInterval interval at which this node tries to connect to a node that is
	 * away
	 * @param maxInFlight maximum number of operations under way to one node, for each
	 * event loop; beyond that the node counts as overloaded
	 * @param hedgeDelay longest time after which a read asks one more replica; the 99th
	 * percentile of reads if that is shorter. Must be less than
	 * kvorum.replication.read-timeout
	 * @param acceptLoss whether to accept this node as it is, and to give up entries that
	 * only the lost disks held. For one start, when several nodes have lost their disks
	 * at once and wait for each other
	 * @param acceptAddress whether to accept a store that belonged to another address.
	 * For one start, when the address of this node has changed
	 */
	record Cluster(@Nullable String self, @DefaultValue List<String> nodes, @DefaultValue("manual") Join join,
			@Nullable @Pattern(regexp = "\\p{Graph}{16,256}",
					message = "must be 16 to 256 visible ASCII characters") String secret,
			@Valid @DefaultValue Ssl ssl,
			@NotNull @DurationMin(millis = 100) @DurationMax(minutes = 10) @DefaultValue("1s") Duration silenceTimeout,
			@NotNull @DurationMin(millis = 10) @DurationMax(
					minutes = 10) @DefaultValue("500ms") Duration connectTimeout,
			@NotNull @DurationMin(millis = 10) @DurationMax(seconds = 1) @DefaultValue("500ms") Duration probeInterval,
			@Min(1) @Max(1_000_000) @DefaultValue("1024") int maxInFlight,
			@NotNull @DurationMin(millis = 1) @DurationMax(minutes = 10) @DefaultValue("35ms") Duration hedgeDelay,
			@DefaultValue("false") boolean acceptLoss, @DefaultValue("false") boolean acceptAddress) {

		Cluster {
			self = (self == null || self.isBlank()) ? null : self;
			nodes = List.copyOf(nodes);
		}

		/** Whether there are no other nodes. */
		boolean isAlone() {
			return this.self == null;
		}

		/** Whether it is one of the nodes with which its cluster begins. */
		boolean isFounder() {
			ReplicaAddress own = address();
			return own != null
					&& this.nodes.stream().map(ClusterNode::parse).anyMatch(node -> node.address().equals(own));
		}

		/** The address on which this node listens for the others; null if it is alone. */
		@Nullable ReplicaAddress address() {
			return (this.self != null) ? ClusterNode.parse(this.self).address() : null;
		}

		/** This node, if nodes join by themselves; null if an operator adds them. */
		@Nullable ClusterNode joining() {
			return (this.join == Join.AUTO && this.self != null) ? ClusterNode.parse(this.self) : null;
		}

		/** How a node is added to a cluster. */
		enum Join {

			/** By an operator. */
			MANUAL,

			/** By the nodes of the cluster, when the node asks for it. */
			AUTO

		}

		/** Hides the secret. */
		@Override
		public String toString() {
			return "Cluster[self=%s, nodes=%s, join=%s, secret=%s, ssl=%s, silenceTimeout=%s, connectTimeout=%s, probeInterval=%s, maxInFlight=%d, hedgeDelay=%s, acceptLoss=%s, acceptAddress=%s]"
				.formatted(this.self, this.nodes, this.join, (this.secret != null) ? Violation.HIDDEN : null, this.ssl,
						this.silenceTimeout, this.connectTimeout, this.probeInterval, this.maxInFlight, this.hedgeDelay,
						this.acceptLoss, this.acceptAddress);
		}

	}

	/**
	 * TLS between the nodes.
	 *
	 * @param bundle name of the SSL bundle (spring.ssl.bundle) with this node's
	 * certificate, its key, and the authorities of all nodes' certificates. The replica
	 * port then speaks only TLS 1.3 with certificates on both sides. A certificate must
	 * name the host of the node's replica address. Without a bundle, restrict the network
	 * of the nodes
	 */
	record Ssl(@Nullable @Pattern(regexp = ".*\\S.*",
			message = "must name a bundle: leave the property out if nothing is to be encrypted") String bundle) {

	}

	/**
	 * Backups of this node and its restore.
	 *
	 * @param directory directory of the backups, outside of kvorum.storage.path; each
	 * node needs its own. On the same file system backups are links and take no space at
	 * first. Without a directory no backups are made
	 * @param keep number of good backups to keep; each new one removes the oldest beyond
	 * that, except for the newest converged one
	 * @param maxRate maximum size of the files that are read for verification, or copied
	 * for a restore, each second
	 * @param restoreFrom directory of one backup of this node, for a start with an empty
	 * kvorum.storage.path. Ignored once the backup is restored
	 * @param restoreWholeCluster whether all nodes are restored from their backups
	 * together. Otherwise a restored node is rebuilt from the others. Needs restore-from
	 */
	record Backup(@Nullable Path directory, @Min(1) @Max(10_000) @DefaultValue("7") int keep,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("64MB") DataSize maxRate, @Nullable Path restoreFrom,
			@DefaultValue("false") boolean restoreWholeCluster) {

		Backup {
			directory = orNull(directory);
			restoreFrom = orNull(restoreFrom);
		}

		/** The path; null if it is empty, as for other properties. */
		private static @Nullable Path orNull(@Nullable Path path) {
			return (path == null || path.toString().isBlank()) ? null : path;
		}

	}

	/**
	 * Traces of operations with OpenTelemetry.
	 *
	 * @param enabled whether operations are traced: one span for each sampled operation
	 * and one for each call of a replica. Set the share with
	 * management.tracing.sampling.probability and the target with
	 * management.opentelemetry.tracing.export.otlp.endpoint
	 */
	record Tracing(@DefaultValue("false") boolean enabled) {
	}

}
