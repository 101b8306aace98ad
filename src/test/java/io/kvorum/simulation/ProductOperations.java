package io.kvorum.simulation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.cluster.Topology;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.replication.Coordinator;
import io.kvorum.replication.RangeEvents;
import io.kvorum.replication.RangeEvents.Scope;
import io.kvorum.replication.RangePiece;
import io.kvorum.replication.RangePiece.Item;
import io.kvorum.replication.RangeRead;
import io.kvorum.replication.RangeSettings;
import io.kvorum.replication.Ranges;
import io.kvorum.replication.ReadRepair;
import io.kvorum.replication.ReplicationEvents;
import io.kvorum.replication.ReplicationSettings;
import io.kvorum.storage.CallerThreads;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The coordinator itself. */
final class ProductOperations implements Operations {

	/** Of all values: the one that is not spelt out when they are stored. */
	private static final String CONTENT_TYPE = "application/octet-stream";

	static final Duration READ_TIMEOUT = Duration.ofSeconds(1);

	static final Duration WRITE_TIMEOUT = Duration.ofSeconds(2);

	private final Coordinator coordinator;

	private final Parts parts;

	/** Of the default number of replicas. */
	private final int factor;

	ProductOperations(Parts parts) {
		this(parts, parts.policy().factor());
	}

	/**
	 * Operations of which ranges believe in another number of replicas than there is.
	 */
	ProductOperations(Parts parts, int factorOfRanges) {
		this.parts = parts;
		this.factor = factorOfRanges;
		SimulatedNode node = parts.node();
		ReadRepair repair = new ReadRepair(node.time(), WRITE_TIMEOUT, ReplicationEvents.NONE);
		repair.run().subscribe();
		this.coordinator = new Coordinator(parts.placement(), node.member(), parts.replicas(), parts.clock(),
				node.time(), parts.policy(),
				new ReplicationSettings(READ_TIMEOUT, WRITE_TIMEOUT, Duration.ofMillis(35)), repair,
				parts.missedStores(), node.alarms(), CallerThreads.NONE, ReplicationEvents.NONE);
	}

	@Override
	public Mono<Integer> get(Key key, Replicas asked) {
		return this.coordinator.get(key, asked).map(Values::number);
	}

	@Override
	public Mono<Version> put(Key key, Replicas asked, int value, @Nullable Ttl ttl) {
		return this.coordinator.put(key, asked, CONTENT_TYPE, Values.of(value), ttl);
	}

	@Override
	public Mono<Version> delete(Key key, Replicas asked) {
		return this.coordinator.delete(key, asked);
	}

	@Override
	public Mono<Map<Key, Integer>> range(int pageBytes) {
		List<String> addresses = this.parts.replicas().stream().map(replica -> replica.member().address()).toList();
		Ranges ranges = new Ranges(Topology.of(addresses, this.factor), this.parts.node().member(),
				this.parts.replicas(), new RangeSettings(1, Long.MAX_VALUE, pageBytes, 0, READ_TIMEOUT),
				this.parts.clock().expiryTime(), RangeEvents.NONE);
		return Mono.using(() -> ranges.open(Scope.CLUSTER, KeyRange.all(), Long.MAX_VALUE),
				read -> Mono.defer(read::next)
					.repeat()
					.takeUntil(RangePiece::last)
					.flatMapIterable(RangePiece::entries)
					.collect(TreeMap::new, (all, item) -> add(all, item)),
				RangeRead::close);
	}

	private static void add(Map<Key, Integer> all, Item item) {
		if (all.put(item.key(), Values.number(item.live())) != null) {
			throw new IllegalStateException("a key is in a range twice");
		}
	}

}
