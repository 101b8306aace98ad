package io.kvorum.app;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.storage.Durability;
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
 * The configuration of a node. {@link PropertyRelations} checks properties against each
 * other, {@link ViolationCollector} refuses unknown ones.
 *
 * @param storage how and where data is kept
 * @param api limits of the HTTP API
 * @param replication how keys are replicated
 * @param cluster the other nodes
 * @param range limits of ranges
 * @param hints writes that are kept for nodes that are away
 * @param antiEntropy how replicas are compared
 * @param access access to the HTTP API
 * @param tracing whether operations are traced
 * @param gcGrace the least time that a deleted key is remembered; a node that was away
 * for nearly as long, or gets back a disk of that age, is rebuilt
 * @param backup backups of this node, and the backup that it is restored from
 */
@Validated
@ConfigurationProperties("kvorum")
record KvorumProperties(@Valid @DefaultValue Storage storage, @Valid @DefaultValue Api api,
		@Valid @DefaultValue Replication replication, @Valid @DefaultValue Cluster cluster,
		@Valid @DefaultValue Range range, @Valid @DefaultValue Hints hints,
		@Valid @DefaultValue AntiEntropy antiEntropy, @Valid @DefaultValue Access access,
		@Valid @DefaultValue Tracing tracing,
		@NotNull @DurationMin(seconds = 10) @DurationMax(days = 3650) @DefaultValue("10d") Duration gcGrace,
		@Valid @DefaultValue Backup backup) {

	/** The most by which absences and hints must stay below gc-grace. */
	private static final Duration MAX_MARGIN = Duration.ofDays(1);

	/** It is a part of gc-grace where that is shorter. */
	private static final int MARGIN_PART = 4;

	/**
	 * The most age of hints and the longest absence of nodes: less than gc-grace by a
	 * day, or by a quarter of it.
	 */
	Duration withinGrace() {
		Duration part = this.gcGrace.dividedBy(MARGIN_PART);
		return this.gcGrace.minus((part.compareTo(MAX_MARGIN) < 0) ? part : MAX_MARGIN);
	}

	/** The nodes that this one works with; itself alone where no others are given. */
	Topology topology() {
		return this.cluster.isAlone() ? Topology.alone()
				: Topology.of(ReplicaAddress.normalized(this.cluster.nodes()), this.replication.factor());
	}

	/**
	 * The storage of a node.
	 *
	 * @param path directory of the data, one for each node
	 * @param durability what an acknowledged write has reached: the disk (fsync), or the
	 * operating system (os), which a loss of power may take back
	 * @param cacheSize memory of the block cache, outside the heap; memtables, indexes
	 * and filters count towards it
	 * @param memtableSize memory for writes that are not in tables yet, part of
	 * cache-size; at most half of it
	 * @param rowCacheSize memory for entries that were written or read lately, in the
	 * heap; 0 for none
	 * @param maxOpenFiles table files held open at the same time
	 * @param minFreeSpace writes are refused while the disk has less than this free, so
	 * that the store can still tidy up
	 * @param readThreads threads for reads that memory cannot answer
	 * @param readQueueLength reads that may wait for each of these threads; beyond that
	 * they are refused with 503
	 * @param writeQueueLength writes that may wait for the disk; beyond that they are
	 * refused with 503
	 * @param writeQueueSize memory of the writes that wait; beyond that they are refused
	 * with 503
	 * @param writeQueueTime how long a write may wait before it is refused with 503; less
	 * than kvorum.replication.write-timeout
	 * @param collectInterval how often expired entries are removed from the disk
	 */
	record Storage(@NotNull @DefaultValue("./data") Path path, @NotNull @DefaultValue("fsync") Durability durability,
			@NotNull @SizeBounds(min = "8MB") @DefaultValue("64MB") DataSize cacheSize,
			@NotNull @SizeBounds(min = "4MB") @DefaultValue("32MB") DataSize memtableSize,
			@NotNull @SizeBounds(min = "0B", max = "1GB") @DefaultValue("16MB") DataSize rowCacheSize,
			@Min(64) @DefaultValue("512") int maxOpenFiles,
			@NotNull @SizeBounds(min = "0B") @DefaultValue("64MB") DataSize minFreeSpace,
			@Min(1) @Max(1024) @DefaultValue("4") int readThreads,
			@Min(1) @Max(100_000) @DefaultValue("256") int readQueueLength,
			@Min(1) @Max(1_000_000) @DefaultValue("8192") int writeQueueLength,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("32MB") DataSize writeQueueSize,
			@NotNull @DurationMin(millis = 10) @DefaultValue("1s") Duration writeQueueTime,
			@NotNull @DurationMin(millis = 10) @DefaultValue("1m") Duration collectInterval) {
	}

	/**
	 * Limits of the HTTP API.
	 *
	 * @param maxValueSize largest value; larger ones are refused with 413
	 * @param maxInFlightSize memory of the values on their way in, and as much again for
	 * large values on their way out; beyond that requests are refused with 503
	 * @param maxConnections connections open at the same time; more are closed at once
	 * @param idleTimeout how long a connection may stay open without a request
	 * @param headerTimeout how long the headers of a request may take from their first
	 * byte; 408 after that
	 * @param bodyStallTimeout how long a client may pause while it sends a value; 408
	 * after that
	 * @param bodyTimeout how long a value may take in all; 408 after that
	 * @param writeStallTimeout how long a client may pause while it receives an answer
	 * before it is cut off
	 * @param drainTime how long a node that stops keeps connections open that have no
	 * request, so that the next one is answered; part of the time that a stop takes
	 */
	record Api(@NotNull @SizeBounds(min = "1B", max = "64MB") @DefaultValue("1MB") DataSize maxValueSize,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("32MB") DataSize maxInFlightSize,
			@Min(1) @DefaultValue("2000") int maxConnections,
			@NotNull @DurationMin(millis = 100) @DefaultValue("60s") Duration idleTimeout,
			@NotNull @DurationMin(millis = 100) @DefaultValue("10s") Duration headerTimeout,
			@NotNull @DurationMin(millis = 100) @DefaultValue("10s") Duration bodyStallTimeout,
			@NotNull @DurationMin(millis = 100) @DefaultValue("60s") Duration bodyTimeout,
			@NotNull @DurationMin(millis = 100) @DefaultValue("30s") Duration writeStallTimeout,
			@NotNull @DurationMin(millis = 0) @DurationMax(seconds = 5) @DefaultValue("1s") Duration drainTime) {
	}

	/**
	 * The replication of keys.
	 *
	 * @param factor replicas of a key, unless a request names another number; at most the
	 * number of nodes
	 * @param readTimeout how long a read may take; 504 after that
	 * @param writeTimeout how long a write may take; 504 after that, and it may have
	 * happened
	 */
	record Replication(@Min(1) @Max(Entry.MAX_COPIES) @DefaultValue("3") int factor,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("1s") Duration readTimeout,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("2s") Duration writeTimeout) {
	}

	/**
	 * Limits of ranges.
	 *
	 * @param maxConcurrent ranges under way on this node; beyond that they are refused
	 * with 503
	 * @param maxInFlightSize memory of the ranges under way; a range takes two pages (and
	 * 17 KB) for each node it asks, two more, and four times kvorum.api.max-value-size;
	 * beyond that they are refused with 503
	 * @param pageSize how much of a range is read at a time, on each node
	 * @param pageTimeout how long a node may take for a page or a large value, before a
	 * range goes on without it
	 * @param stallTimeout how long a client may pause while it receives a range before it
	 * is cut off
	 * @param threads threads that read pages, beside those for reads of single entries
	 * @param queueLength pages that may wait for each of these threads; beyond that the
	 * node counts as overloaded
	 */
	record Range(@Min(1) @Max(10_000) @DefaultValue("8") int maxConcurrent,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("40MB") DataSize maxInFlightSize,
			@NotNull @SizeBounds(min = "1KB", max = "1MB") @DefaultValue("64KB") DataSize pageSize,
			@NotNull @DurationMin(millis = 10) @DurationMax(minutes = 10) @DefaultValue("5s") Duration pageTimeout,
			@NotNull @DurationMin(millis = 100) @DefaultValue("30s") Duration stallTimeout,
			@Min(1) @Max(1024) @DefaultValue("2") int threads,
			@Min(1) @Max(100_000) @DefaultValue("256") int queueLength) {
	}

	/**
	 * The writes that are kept for nodes that did not take them.
	 *
	 * @param window a node that has been away for longer is repaired instead; no hint
	 * gets older, nor as old as kvorum.gc-grace
	 * @param replayInterval how often waiting hints are tried
	 * @param maxSize size of the entries that wait for one node; beyond that it is
	 * repaired instead
	 * @param maxRate entries sent to one node, each second
	 */
	record Hints(@NotNull @DurationMin(seconds = 1) @DefaultValue("3h") Duration window,
			@NotNull @DurationMin(millis = 10) @DefaultValue("10s") Duration replayInterval,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("256MB") DataSize maxSize,
			@NotNull @SizeBounds(min = "1KB") @DefaultValue("1MB") DataSize maxRate) {
	}

	/**
	 * The comparison of replicas with those of other nodes.
	 *
	 * @param interval how often everything is compared
	 * @param concurrency nodes that this one compares itself with at the same time
	 * @param maxRate entries exchanged with one node, each second; also while a node is
	 * rebuilt
	 */
	record AntiEntropy(@NotNull @DurationMin(millis = 100) @DefaultValue("10m") Duration interval,
			@Min(1) @Max(254) @DefaultValue("1") int concurrency,
			@NotNull @SizeBounds(min = "1KB") @DefaultValue("16MB") DataSize maxRate) {
	}

	/**
	 * Access to the HTTP API and the management endpoints.
	 *
	 * @param keysFile file of the API keys, in JSON; without it every client may do
	 * everything
	 * @param reloadInterval how often the file is checked for changes
	 */
	record Access(@Nullable Path keysFile,
			@NotNull @DurationMin(millis = 100) @DurationMax(hours = 1) @DefaultValue("5s") Duration reloadInterval) {
	}

	/**
	 * The other nodes. Without them a node is a cluster of one and opens no second port.
	 *
	 * @param self replica address of this node, http://host:port: it listens there for
	 * the other nodes; one of kvorum.cluster.nodes. https:// is the same address, and
	 * allowed where kvorum.cluster.ssl.bundle is set
	 * @param nodes replica addresses of all nodes of the cluster, this one among them;
	 * the same for all nodes, in any order
	 * @param secret shared by all nodes, so that others cannot use their replica ports;
	 * 16 to 256 visible ASCII characters. Without it the network of the nodes has to be
	 * closed to others
	 * @param ssl TLS between the nodes
	 * @param silenceTimeout how long a node may be silent while it owes an answer before
	 * the connections to it are given up; less than kvorum.replication.write-timeout
	 * @param connectTimeout how long connecting to a node may take; at most
	 * silence-timeout
	 * @param probeInterval how often a node that is absent is tried
	 * @param maxInFlight operations that may wait for one node, for each event loop;
	 * beyond that they are refused
	 * @param hedgeDelay when a read asks one more replica, or after the 99th percentile
	 * of such reads if that is sooner; less than kvorum.replication.read-timeout
	 * @param acceptLoss for one start, when several nodes have lost their disks at once
	 * and wait for each other: takes this node as it is, and what only it had
	 * acknowledged as lost
	 * @param acceptAddress for one start, when the address of this node has changed:
	 * takes a store that was that of another address
	 */
	record Cluster(@Nullable String self, @DefaultValue List<String> nodes,
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

		/** The address where this node listens for the others; null if it is alone. */
		@Nullable ReplicaAddress address() {
			return (this.self != null) ? ReplicaAddress.parse(this.self) : null;
		}

		/** The properties without the secret. */
		@Override
		public String toString() {
			return "Cluster[self=%s, nodes=%s, secret=%s, ssl=%s, silenceTimeout=%s, connectTimeout=%s, probeInterval=%s, maxInFlight=%d, hedgeDelay=%s, acceptLoss=%s, acceptAddress=%s]"
				.formatted(this.self, this.nodes, (this.secret != null) ? Violation.HIDDEN : null, this.ssl,
						this.silenceTimeout, this.connectTimeout, this.probeInterval, this.maxInFlight, this.hedgeDelay,
						this.acceptLoss, this.acceptAddress);
		}

	}

	/**
	 * TLS between the nodes.
	 *
	 * @param bundle name of the SSL bundle (spring.ssl.bundle) that has the certificate
	 * of this node, its key, and the authorities that the certificates of all nodes come
	 * from; the replica port speaks nothing but TLS 1.3 then, with certificates on both
	 * sides, to nodes whose certificate names the host of their replica address. Without
	 * it the network of the nodes has to be closed to others
	 */
	record Ssl(@Nullable @Pattern(regexp = ".*\\S.*",
			message = "must name a bundle: leave the property out if nothing is to be encrypted") String bundle) {

	}

	/**
	 * Backups of this node, and what it is restored from.
	 *
	 * @param directory where they are made, one directory for each node, outside of
	 * kvorum.storage.path; on its file system they are links and take no space at first.
	 * Without it there are none
	 * @param keep good backups that are kept: after each one the oldest beyond them are
	 * removed
	 * @param maxRate how fast the files of a backup are read to be verified, and copied
	 * to be restored, each second
	 * @param restoreFrom the directory of one backup of this node, for a start with an
	 * empty kvorum.storage.path; ignored once it is restored
	 * @param restoreWholeCluster whether all nodes are restored from their backups, and
	 * none of them has gone on; without it the node is rebuilt from the others
	 */
	record Backup(@Nullable Path directory, @Min(1) @Max(10_000) @DefaultValue("7") int keep,
			@NotNull @SizeBounds(min = "1MB") @DefaultValue("64MB") DataSize maxRate, @Nullable Path restoreFrom,
			@DefaultValue("false") boolean restoreWholeCluster) {

		Backup {
			directory = orNull(directory);
			restoreFrom = orNull(restoreFrom);
		}

		/** An empty path is none, as for other properties. */
		private static @Nullable Path orNull(@Nullable Path path) {
			return (path == null || path.toString().isBlank()) ? null : path;
		}

	}

	/**
	 * Traces of operations, by OpenTelemetry.
	 *
	 * @param enabled whether operations are traced: a span for each that is sampled, and
	 * one for each call of a replica. How many and where to is said by
	 * management.tracing.sampling.probability and
	 * management.opentelemetry.tracing.export.otlp.endpoint
	 */
	record Tracing(@DefaultValue("false") boolean enabled) {
	}

}
