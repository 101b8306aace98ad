package io.kvorum.range;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Placements;
import io.kvorum.testing.SteeredTime;
import reactor.core.publisher.Mono;

/** Ranges over scripted replicas, the first one on this node, and what became of them. */
public final class ScriptedRanges implements RangeEvents {

	static final int PAGE_BYTES = 1024;

	public static final Version OLD = new Version(10, 1);

	public static final Version NEW = new Version(10, 2);

	final SteeredTime time = new SteeredTime();

	final List<ListingReplica> replicas;

	public final Ranges ranges;

	/** What happened, in the order it did. */
	final List<String> events = new ArrayList<>();

	/** The keys that were read by themselves. */
	final List<Key> read = new ArrayList<>();

	/** What such a read finds. */
	Mono<Live> found = Mono.empty();

	public ScriptedRanges(int nodes, int factor) {
		this(nodes, factor, new RangeSettings(8, 1 << 20, PAGE_BYTES, 1 << 15, Duration.ofSeconds(5)));
	}

	public ScriptedRanges(int nodes, int factor, RangeSettings settings) {
		Topology topology = Topology.of(IntStream.range(0, nodes).mapToObj(i -> "http://node-" + i).toList(), factor);
		this.replicas = topology.members().stream().map(ListingReplica::new).toList();
		this.ranges = new Ranges(topology, Placements.of(topology), topology.members().getFirst(), this.replicas,
				settings, this.time, this);
	}

	public ListingReplica replica(int index) {
		return this.replicas.get(index);
	}

	/** These replicas hold it. */
	public void put(String key, Entry entry, int... on) {
		for (int index : on) {
			replica(index).put(Generator.key(key), entry);
		}
	}

	/** All replicas hold so many values, of which few fit in a page. */
	public void fill(int count) {
		for (int i = 0; i < count; i++) {
			for (ListingReplica replica : this.replicas) {
				replica.put(key(i), value(OLD, 300));
			}
		}
	}

	static Key key(int i) {
		return Generator.key("key %05d".formatted(i));
	}

	public static Live value(Version version, int bytes) {
		return new Live(version, 3, Live.NEVER, "x/y", Value.of(new byte[bytes]));
	}

	/** One whose value is not in a page. */
	static Live large(Version version) {
		return value(version, 20_000);
	}

	RangeCursor open() {
		return open(Long.MAX_VALUE);
	}

	RangeCursor open(long limit) {
		return open(RangeQuery.of(RangeScope.CLUSTER, KeyRange.all(), limit));
	}

	RangeCursor open(RangeQuery query) {
		return this.ranges.open(query, key -> {
			this.read.add(key);
			return this.found;
		}, OperationObserver.NONE);
	}

	/** The entry of a line that has its value. */
	static Live liveOf(Line line) {
		return ((Item) line).live();
	}

	/** Asks for the next piece. */
	static CompletableFuture<RangePiece> next(RangeCursor read) {
		CompletableFuture<RangePiece> next = new CompletableFuture<>();
		read.next().subscribe(next::complete, next::completeExceptionally);
		return next;
	}

	/** The next piece of one whose replicas answer at once. */
	public static RangePiece piece(RangeCursor read) {
		return done(next(read));
	}

	/** The piece that was asked for, which must be there by now. */
	static RangePiece done(CompletableFuture<RangePiece> piece) {
		if (!piece.isDone()) {
			throw new AssertionError("there is no piece yet");
		}
		return piece.join();
	}

	/** The keys of all pieces of one whose replicas answer at once. */
	public static List<Key> keys(RangeCursor read) {
		List<Key> keys = new ArrayList<>();
		while (true) {
			RangePiece piece = piece(read);
			piece.lines().forEach(item -> keys.add(item.key()));
			if (piece.last()) {
				return keys;
			}
		}
	}

	void pass(Duration time) {
		this.time.pass(time);
	}

	@Override
	public void began(RangeScope scope) {
		this.events.add("began " + scope);
	}

	@Override
	public void ended(RangeScope scope, RangeOutcome outcome, long nanos) {
		this.events.add("%s %s after %d ms".formatted(outcome, scope, Duration.ofNanos(nanos).toMillis()));
	}

	@Override
	public void refused(RangeScope scope) {
		this.events.add("refused " + scope);
	}

	@Override
	public void returned(int entries, long bytes) {
		this.events.add("told " + entries);
	}

	@Override
	public void replicaLost() {
		this.events.add("lost");
	}

	@Override
	public void replicaBack() {
		this.events.add("back");
	}

}
