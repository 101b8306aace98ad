package io.kvorum.simulation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.CoordinationEvents;
import io.kvorum.coordination.CoordinationSettings;
import io.kvorum.coordination.CoordinationSettings.Idempotency;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.ReadRepair;
import io.kvorum.coordination.View;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.range.RangeEvents;
import io.kvorum.range.RangeSettings;
import io.kvorum.range.Ranges;
import io.kvorum.storage.CallerThreads;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The coordinator itself. */
final class ProductOperations implements Operations {

	/** Of all values: the one that is not spelt out when they are stored. */
	private static final String CONTENT_TYPE = "application/octet-stream";

	static final Duration READ_TIMEOUT = Duration.ofSeconds(1);

	static final Duration WRITE_TIMEOUT = Duration.ofSeconds(2);

	private static final Idempotency IDEMPOTENCY = new Idempotency(Duration.ofMinutes(10), 1000);

	private static final int PAGE_BYTES = 64 << 10;

	private final Coordinator coordinator;

	private Parts parts;

	private final Ranges ranges;

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
		ReadRepair repair = new ReadRepair(node.time(), node.longestWrite(), CoordinationEvents.NONE);
		repair.run().subscribe();
		this.ranges = ranges(PAGE_BYTES);
		this.coordinator = new Coordinator(viewOf(parts), parts.clock(), node.time(),
				new CoordinationSettings(READ_TIMEOUT, node.longestWrite(), Duration.ofMillis(35), IDEMPOTENCY), repair,
				parts.missedStores(), node.alarms(), CallerThreads.NONE, CoordinationEvents.NONE, this.ranges);
	}

	private static View viewOf(Parts parts) {
		return new View(parts.placement(), parts.node().member(), parts.replicas(), parts.policy());
	}

	@Override
	public void become(Parts next) {
		this.parts = next;
		this.ranges.become(next.node().topology(), next.placement(), next.node().member(), next.replicas());
		this.coordinator.become(viewOf(next));
	}

	Mono<Held> settle(Key key, Version least) {
		return this.coordinator.settle(key, least);
	}

	@Override
	public Replicas defaults() {
		return this.parts.policy().defaults();
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked) {
		return this.coordinator.get(key, asked, OperationObserver.NONE);
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, int value, @Nullable Ttl ttl) {
		return this.coordinator.put(key, options, CONTENT_TYPE, Values.of(value), ttl, OperationObserver.NONE);
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options) {
		return this.coordinator.delete(key, options, OperationObserver.NONE);
	}

	@Override
	public Mono<Map<Key, Integer>> range(int pageBytes) {
		return Mono.using(
				() -> ranges(pageBytes).open(RangeQuery.of(RangeScope.CLUSTER, KeyRange.all(), RangeQuery.NO_LIMIT),
						key -> get(key, this.parts.policy().defaults()), OperationObserver.NONE),
				read -> Mono.defer(read::next)
					.repeat()
					.takeUntil(RangePiece::last)
					.flatMapIterable(RangePiece::lines)
					.collect(TreeMap::new, (all, line) -> add(all, (Item) line)),
				RangeCursor::close);
	}

	private Ranges ranges(int pageBytes) {
		Topology own = this.parts.node().topology();
		Topology topology = (this.factor == own.factor()) ? own
				: Topology.of(own.members().stream().map(Member::address).toList(), this.factor);
		return new Ranges(topology, this.parts.placement(), this.parts.node().member(), this.parts.replicas(),
				new RangeSettings(1, Long.MAX_VALUE, pageBytes, 0, READ_TIMEOUT), this.parts.clock().expiryTime(),
				RangeEvents.NONE);
	}

	private static void add(Map<Key, Integer> all, Item item) {
		if (all.put(item.key(), Values.number(item.live())) != null) {
			throw new IllegalStateException("a key is in a range twice");
		}
	}

}
