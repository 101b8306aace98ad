package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.operation.Operation;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.MissedStores;
import io.kvorum.storage.CallerThreads;
import io.kvorum.testing.SteeredTime;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A coordinator and the scripted replicas it asks: as many as there are nodes, the first
 * one its own, preferred in their order. Alarms ring when a test says so.
 */
final class ScriptedCluster implements CoordinationEvents {

	static final long SELF = 7;

	final SteeredTime time = new SteeredTime();

	final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	final List<ScriptedReplica> replicas;

	final ReadRepair readRepair;

	final View view;

	final Coordinator coordinator;

	/** What happened, in the order it did. */
	final List<String> events = new ArrayList<>();

	/** The replicas that are to get later what they did not acknowledge. */
	final List<Integer> missed = new ArrayList<>();

	/** The replicas that are to be repaired. */
	final List<Integer> inNeed = new ArrayList<>();

	private final Queue<MonoSink<Long>> alarms = new ArrayDeque<>();

	private CompletableFuture<Void> boundStored = CompletableFuture.completedFuture(null);

	ScriptedCluster(int nodes, int factor) {
		Topology topology = Topology.of(IntStream.range(0, nodes).mapToObj(i -> "http://node-" + i).toList(), factor);
		this.replicas = topology.members().stream().map(ScriptedReplica::new).toList();
		this.clock.start(SELF, 0, _ -> this.boundStored);
		this.readRepair = new ReadRepair(this.time, Coordinators.SETTINGS.writeTimeout(), this);
		this.view = new View((_, _, from) -> topology.members().subList(0, from), topology.members().getFirst(),
				this.replicas, new ReplicationPolicy(topology.size(), topology.factor()));
		this.coordinator = new Coordinator(this.view, this.clock, this.time, Coordinators.SETTINGS, this.readRepair,
				new Recorded(), this::alarm, CallerThreads.NONE, this,
				Coordinators.rangesOf(topology, this.replicas, this.time));
	}

	private Mono<Long> alarm(Duration time) {
		assertThatIsAllowed(time);
		return Mono.create(sink -> {
			this.alarms.add(sink);
			sink.onCancel(() -> this.alarms.remove(sink));
		});
	}

	private static void assertThatIsAllowed(Duration time) {
		if (time.compareTo(Coordinators.SETTINGS.writeTimeout()) > 0) {
			throw new AssertionError("an alarm after " + time);
		}
	}

	ScriptedReplica replica(int index) {
		return this.replicas.get(index);
	}

	/** How many alarms are set. */
	int alarms() {
		return this.alarms.size();
	}

	/** The oldest alarm goes off. */
	void ring() {
		this.alarms.remove().success(0L);
	}

	/** Keeps the bound of the clock from being stored, until it completes. */
	CompletableFuture<Void> holdBound() {
		this.boundStored = new CompletableFuture<>();
		return this.boundStored;
	}

	/** A version that another node gave, so long from now. */
	Version version(long millisFromNow) {
		return new Version((this.time.millis() + millisFromNow) << Version.COUNTER_BITS, 3);
	}

	@Override
	public void decided(Operation operation, Consistency consistency, Outcome outcome) {
		this.events.add("%s %s %s".formatted(operation, consistency, outcome));
	}

	@Override
	public void hedged() {
		this.events.add("hedged");
	}

	@Override
	public void notHedged() {
		this.events.add("not hedged");
	}

	@Override
	public void wroteBack() {
		this.events.add("wrote back");
	}

	@Override
	public void repairing() {
		this.events.add("repairing");
	}

	@Override
	public void repairDropped() {
		this.events.add("repair dropped");
	}

	/** Keeps what the coordinator tells of stores that were not acknowledged. */
	private final class Recorded implements MissedStores {

		@Override
		public void missed(Member member, Key key, Entry entry, Reason why) {
			((why == Reason.CLOCK) ? ScriptedCluster.this.inNeed : ScriptedCluster.this.missed).add(member.index());
		}

	}

}
