package io.kvorum.simulation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.kvorum.kv.Key;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.simulation.Habits.Intent;
import io.kvorum.simulation.PromiseScenario.Leaving;
import io.kvorum.simulation.SimulatedClient.Numbers;
import io.kvorum.simulation.SimulatedCluster.Moments;
import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * One history of some seconds, on one key of three nodes. A conditional write is left in
 * the middle of its ballot, beside a write that few replicas have. Then repairs, a disk
 * that was lost, or messages that come late meet what was promised.
 */
final class PromiseSimulation implements Moments, Habits {

	private static final long SECOND = 1_000_000_000;

	private static final long LOOK_INTERVAL = SECOND / 20;

	private static final long MOST_WAIT = 30 * SECOND;

	private final long seed;

	private final Chance chance;

	private final PromiseScenario scenario;

	private final SimulatedCluster cluster;

	private final Key key;

	private final Map<Key, List<Operation>> histories = new LinkedHashMap<>();

	private final Numbers numbers = new Numbers();

	/** The node of the write that few replicas have. */
	private final SimulatedNode writer;

	/** The node of the conditional write. */
	private final SimulatedNode proposer;

	private final SimulatedNode third;

	/** The newest value that a client was told; null before the first. */
	private @Nullable Intent exchange;

	private int clients;

	/** Whether what the writer stores reaches no other node. */
	private boolean alone;

	/** Whether the next node that answers a promise loses its disk. */
	private boolean losing;

	/** Whether the proposer has not yet asked others to accept. */
	private boolean leaving;

	private boolean ending;

	private PromiseSimulation(long seed, Function<Chance, PromiseScenario> scenarios, Design design, boolean logged) {
		this.seed = seed;
		this.chance = new Chance(seed);
		this.scenario = scenarios.apply(this.chance);
		this.cluster = new SimulatedCluster(this.chance.split(), this.scenario.cluster(), design,
				ConvergenceSettings.any(this.chance), logged);
		this.cluster.watch(this);
		this.key = Key.of(new byte[] { 0, (byte) this.chance.below(128) });
		int first = this.chance.below(3);
		int step = 1 + this.chance.below(2);
		List<SimulatedNode> nodes = this.cluster.nodes();
		this.writer = nodes.get(first);
		this.proposer = nodes.get((first + step) % 3);
		this.third = nodes.get((first + 2 * step) % 3);
	}

	/**
	 * Runs the history of a seed.
	 * @return what is wrong with it, without the log; null where all is well
	 */
	static @Nullable String run(long seed, Function<Chance, PromiseScenario> scenarios, Design design) {
		return new PromiseSimulation(seed, scenarios, design, false).run();
	}

	/** Runs the history of a seed again, and tells all of it. */
	static String story(long seed, Function<Chance, PromiseScenario> scenarios, Design design) {
		PromiseSimulation simulation = new PromiseSimulation(seed, scenarios, design, true);
		String fault = simulation.run();
		return "Seed %d, %s%n%s%n%s".formatted(seed, simulation.scenario, simulation.cluster.log(),
				(fault != null) ? fault : Simulation.ALL_IS_WELL);
	}

	private @Nullable String run() {
		await(this::mayAllVote, () -> {
			if (this.scenario.begins()) {
				send(Intent.to(Kind.PUT), any());
			}
			after(SECOND / 2, this::write);
		});
		this.cluster.timeline().run();
		return fault();
	}

	/** Two writes at about the same time. */
	private void write() {
		this.alone = this.scenario.reachesNone();
		send(Intent.to(Kind.PUT), this.writer);
		after(this.chance.nanos(2, 20), () -> {
			if (this.scenario.cutsWriter()) {
				this.cluster.network().cutLink(this.writer.index(), this.proposer.index(), false);
			}
			this.losing = this.scenario.losesDisk();
			this.leaving = true;
			send(exchange(), this.proposer);
		});
		after(this.chance.nanos(30, 600), this::meet);
	}

	/** Joins the two other nodes again; the proposer may stay away for some seconds. */
	private void meet() {
		this.alone = false;
		this.losing = false;
		this.leaving = false;
		this.cluster.network().heal();
		if (this.scenario.leaves() != Leaving.HANGS) {
			this.cluster.network().isolate(this.proposer.index());
		}
		if (this.scenario.leaves() == Leaving.HANGS && this.chance.of(0.9)) {
			await(this::mayAllVote, this::leaveRebuilt);
		}
		long wait = this.chance.nanos(10, 12_000);
		after(wait, () -> send(usual(), this.chance.of(0.5) ? this.writer : this.third));
		after(wait + this.chance.nanos(10, 8_000), this::end);
	}

	/** Cuts the proposer off from the node that has just been rebuilt. */
	private void leaveRebuilt() {
		if (!this.ending) {
			this.cluster.network().isolate(this.proposer.index());
			after(this.chance.nanos(1, 200), () -> send(usual(), this.chance.of(0.5) ? this.writer : this.third));
		}
	}

	private Intent usual() {
		return Intent.to(this.chance.of(0.8) ? Kind.GET : Kind.PUT);
	}

	/** Puts everything right, and reads on each node. */
	private void end() {
		this.ending = true;
		this.cluster.network().heal();
		send(Intent.to(Kind.GET), this.chance.of(0.5) ? this.proposer : any());
		after(this.chance.nanos(10, 3_000), () -> {
			this.cluster.settle();
			await(() -> this.cluster.nodes().stream().allMatch(SimulatedNode::isUp) && mayAllVote(), () -> readAll(0));
		});
	}

	private void readAll(int node) {
		if (node == this.cluster.nodes().size()) {
			after(3 * SECOND, () -> readAndWriteAll(0));
			return;
		}
		client().send(Intent.to(Kind.GET), this.key, this.cluster.nodes().get(node), Long.MAX_VALUE,
				_ -> readAll(node + 1));
	}

	/** Once all that was begun before has ended, everything succeeds on each node. */
	private void readAndWriteAll(int index) {
		if (index == this.cluster.nodes().size()) {
			this.cluster.timeline().end();
			return;
		}
		SimulatedNode node = this.cluster.nodes().get(index);
		must(Intent.to(Kind.GET), node,
				() -> must(Intent.to(Kind.PUT), node, () -> must(exchange(), node, () -> readAndWriteAll(index + 1))));
	}

	private Intent exchange() {
		Intent intent = this.exchange;
		return (intent != null) ? intent : Intent.to(Kind.PUT, Condition.ABSENT);
	}

	private void must(Intent intent, SimulatedNode node, Runnable then) {
		client().send(intent, this.key, node, Long.MAX_VALUE, outcome -> {
			if (outcome != Outcome.DONE) {
				this.cluster
					.fail("all has been put right, and a %s on n%d ends %s".formatted(intent, node.index(), outcome));
			}
			then.run();
		});
	}

	@Override
	public void promised(SimulatedNode node) {
		if (this.losing && node != this.proposer) {
			this.losing = false;
			after(this.chance.nanos(0.05, this.scenario.leaves() == Leaving.LATER ? 20 : 2), () -> {
				if (mayAllVote()) {
					node.crash();
					node.log("loses its disk");
					node.disk().lose();
					after(this.chance.nanos(1, 20), node::start);
				}
			});
		}
	}

	@Override
	public void proposing(SimulatedNode node) {
		if (this.leaving && node == this.proposer) {
			this.leaving = false;
			switch (this.scenario.leaves()) {
				case CUT_OFF -> this.cluster.network().isolate(node.index());
				case HANGS -> node.disk().hangNext(this.chance.between(2 * SECOND, 3 * SECOND));
				case LATER -> {
				}
			}
		}
	}

	@Override
	public boolean isAlone(SimulatedNode node) {
		return this.alone && node == this.writer;
	}

	@Override
	public boolean writesOnConditions() {
		return true;
	}

	@Override
	public void told(Key key, Operation operation, @Nullable Version etag, @Nullable Ttl ttl) {
		if (operation.kind() == Kind.PUT && operation.outcome() == Outcome.DONE && etag != null) {
			this.exchange = new Intent(Kind.PUT, Condition.holds(operation.value()), etag);
		}
	}

	private SimulatedNode any() {
		return this.cluster.any();
	}

	private SimulatedClient client() {
		return new SimulatedClient("c" + this.clients++, this.cluster, this.chance.split(), RepeatedRequests.NONE,
				this.numbers, this, this.histories);
	}

	private void send(Intent intent, SimulatedNode node) {
		client().send(intent, this.key, node, Long.MAX_VALUE, _ -> {
		});
	}

	private void after(long nanos, Runnable task) {
		this.cluster.timeline().after(nanos, task);
	}

	private boolean mayAllVote() {
		return this.cluster.nodes().stream().allMatch(SimulatedNode::mayVote);
	}

	private void await(BooleanSupplier condition, Runnable then) {
		await(condition, then, this.cluster.timeline().now() + MOST_WAIT);
	}

	private void await(BooleanSupplier condition, Runnable then, long until) {
		if (condition.getAsBoolean()) {
			then.run();
		}
		else if (this.cluster.timeline().now() < until) {
			this.cluster.timeline().after(LOOK_INTERVAL, () -> await(condition, then, until));
		}
		else {
			this.cluster.fail("it is long since all nodes should vote");
			this.cluster.timeline().end();
		}
	}

	private @Nullable String fault() {
		Violation violation = Linearizability.check(this.histories.getOrDefault(this.key, List.of()));
		String wrong = (violation != null) ? "Seed %d. %s".formatted(this.seed, violation) : null;
		return (this.cluster.failure() == null) ? wrong
				: (wrong == null) ? this.cluster.failure() : this.cluster.failure() + "\n" + wrong;
	}

}
