package io.kvorum.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Placements;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules in which a node that was removed while it was cut off comes back with what
 * was deleted, or in which nodes that lag behind could be refused. Chance seldom finds
 * them.
 */
@ExtendWith(WithoutWarnings.class)
class RemovedNodeTests {

	private static final long SECOND = 1_000_000_000;

	private static final int VALUE = 42;

	private static final Replicas ANY_ONE = new Replicas(1, 3);

	/** Before the change. */
	private static final List<Integer> ALL = List.of(0, 1, 2, 3);

	/** After it. */
	private static final List<Integer> LEFT = List.of(1, 2, 3);

	private final SimulatedCluster cluster = new SimulatedCluster(new Chance(7),
			new Scenario(6, 3, 1, 1, 1, 0, 0, 0, 10, 0, 0, 0, 0, false, 0, 0, 0), topology(ALL), Design.PRODUCT,
			ConvergenceSettings.any(new Chance(7)), false);

	private Key key = keyOf(List.of(0));

	private final Queue<BooleanSupplier> steps = new ArrayDeque<>();

	/** What clients were told, and by whom. */
	private final List<String> told = new ArrayList<>();

	/** Nodes that do not hear of layouts yet. */
	private final Set<Integer> deaf = new HashSet<>();

	private Layout newest = new Layout(0, topology(ALL));

	private static Topology topology(List<Integer> nodes) {
		return SimulatedCluster.topologyOf(nodes, 3);
	}

	/** A key that these nodes hold before the change. */
	private static Key keyOf(List<Integer> replicas) {
		return keyOf(ALL, replicas);
	}

	/** A key of which these are replicas in a topology of some nodes. */
	private static Key keyOf(List<Integer> nodes, List<Integer> replicas) {
		return IntStream.range(0, 128)
			.mapToObj(i -> Key.of(new byte[] { 0, (byte) i }))
			.filter(key -> holders(nodes, key).containsAll(replicas))
			.findFirst()
			.orElseThrow();
	}

	private static List<Integer> holders(Key key) {
		return holders(ALL, key);
	}

	private static List<Integer> holders(List<Integer> nodes, Key key) {
		return Placements.of(topology(nodes))
			.replicasOf(key, 0, 3)
			.stream()
			.map(member -> nodes.get(member.index()))
			.toList();
	}

	private SimulatedNode node(int index) {
		return this.cluster.nodes().get(index);
	}

	private void then(Runnable action) {
		this.steps.add(() -> {
			action.run();
			return true;
		});
	}

	private void until(String what, BooleanSupplier condition) {
		long[] end = new long[1];
		this.steps.add(() -> {
			long now = this.cluster.timeline().now();
			end[0] = (end[0] == 0) ? now + 400 * SECOND : end[0];
			assertThat(now).as(what).isLessThan(end[0]);
			return condition.getAsBoolean();
		});
	}

	private void pass(int seconds) {
		long[] end = new long[1];
		this.steps.add(() -> {
			long now = this.cluster.timeline().now();
			end[0] = (end[0] == 0) ? now + seconds * SECOND : end[0];
			return now >= end[0];
		});
	}

	/** Takes the steps, while nodes look for the newest layout. */
	private void run() {
		IntStream.range(0, 6).forEach(this::look);
		this.cluster.timeline().after(3 * SECOND, this::go);
		this.cluster.timeline().run();
		assertThat(this.steps).isEmpty();
	}

	private void go() {
		BooleanSupplier next = this.steps.peek();
		while (next != null && next.getAsBoolean()) {
			this.steps.remove();
			next = this.steps.peek();
		}
		if (next == null) {
			this.cluster.timeline().end();
		}
		else {
			this.cluster.timeline().after(SECOND / 4, this::go);
		}
	}

	private void look(int index) {
		this.cluster.timeline().after(3 * SECOND / 10 + index, () -> {
			if (node(index).isUp() && !this.deaf.contains(index) && !this.cluster.network().isIsolated(index)) {
				node(index).take(this.newest);
			}
			look(index);
		});
	}

	private void votes(List<Integer> nodes) {
		until("all vote", () -> nodes.stream().allMatch(index -> node(index).mayVote()));
	}

	private void begins(List<Integer> before, List<Integer> after) {
		then(() -> this.newest = new Layout(this.newest.number() + 1,
				Topology.changing(topology(before), topology(after))));
	}

	/** A change is over, and that is decided. */
	private void ends(List<Integer> nodes) {
		until("the change is over", () -> nodes.stream().map(this::node).anyMatch(RemovedNodeTests::isOver));
		then(() -> this.newest = this.newest.moved(this.newest.number() + 1));
	}

	private static boolean isOver(SimulatedNode node) {
		Convergence convergence = node.convergence();
		return convergence != null && node.isSettled() && node.layout().isMoving() && convergence.isOver();
	}

	private void have(List<Integer> nodes) {
		until("all have the layout", () -> nodes.stream()
			.map(this::node)
			.allMatch(node -> node.isUp() && node.isSettled() && node.layout().number() == this.newest.number()));
	}

	/** Nodes that are added by the newest layout begin with it. */
	private void added(List<Integer> nodes) {
		then(() -> nodes.forEach(index -> {
			this.cluster.configure(node(index), this.newest);
			node(index).startAfterAll();
		}));
	}

	private void put(int index) {
		then(() -> operations(index).put(this.key, WriteOptions.of(operations(index).defaults()), VALUE, null)
			.subscribe());
		pass(2);
	}

	private void delete(int index) {
		then(() -> operations(index).delete(this.key, WriteOptions.of(operations(index).defaults())).subscribe());
		pass(2);
	}

	private Operations operations(int index) {
		return Objects.requireNonNull(node(index).operations());
	}

	private void get(int index, Replicas asked) {
		operations(index).get(this.key, asked)
			.map(Values::number)
			.defaultIfEmpty(0)
			.subscribe(value -> this.told.add("n%d: %d".formatted(index, value)),
					error -> this.told.add("n%d: %s".formatted(index, error.getMessage())));
	}

	/** A linearizable read. */
	private void get(int index) {
		get(index, operations(index).defaults());
	}

	/** Reads at each node that is left, again and again. */
	private void getAll(int times, int seconds) {
		for (int i = 0; i < times; i++) {
			then(() -> LEFT.forEach(this::get));
			pass(seconds);
		}
	}

	private void collected() {
		until("the tombstone is collected", () -> LEFT.stream().noneMatch(this::holds));
	}

	private boolean holds(int index) {
		return node(index).disk().content().entries.containsKey(this.key);
	}

	private void cutOff(int index) {
		this.cluster.network().isolate(index);
		node(index).loseStreams();
	}

	private void loseDisk(int index) {
		then(() -> {
			node(index).crash();
			node(index).disk().lose();
		});
		pass(1);
	}

	/** The node 0 is cut off in the change that removes it, and a key is deleted. */
	private void removeCutOff() {
		votes(ALL);
		put(1);
		begins(ALL, LEFT);
		have(ALL);
		then(() -> cutOff(0));
		delete(1);
		ends(LEFT);
		have(LEFT);
		collected();
	}

	@Test
	void itIsRefusedInTheNextChangeToo() {
		removeCutOff();
		then(this.cluster.network()::heal);
		begins(LEFT, List.of(2, 3, 4));
		pass(2);
		then(() -> get(0));
		pass(3);
		then(() -> get(2));
		pass(3);
		run();

		assertThat(this.told).hasSize(2).noneMatch(answer -> answer.endsWith(": " + VALUE)).contains("n2: 0");
	}

	@Test
	void aNodeThatHasLostItsDiskRefusesItAtOnce() {
		removeCutOff();
		loseDisk(1);
		then(() -> node(1).start());
		votes(LEFT);
		have(LEFT);
		then(this.cluster.network()::heal);
		then(() -> get(0, ANY_ONE));
		pass(40);
		then(() -> get(2));
		pass(3);
		run();

		assertThat(this.told).contains("n2: 0");
		assertThat(LEFT).noneMatch(this::holds);
	}

	/**
	 * The disk is lost while the node is cut off, and the cut is healed before the node
	 * that begins with the list of its configuration has heard of the layout.
	 */
	private void loseDiskAndHearLate(int index) {
		then(() -> this.deaf.add(index));
		loseDisk(index);
		then(() -> {
			this.cluster.network().heal();
			node(index).start();
		});
		until("it is up", node(index)::isUp);
		// The removed node opens its stream.
		then(() -> operations(0).get(this.key, ANY_ONE).subscribe(_ -> {
		}, _ -> {
		}));
		pass(2);
		then(this.deaf::clear);
		votes(LEFT);
		have(LEFT);
	}

	@Test
	void itsStreamsEndWhenALayoutIsTakenWithoutAVote() {
		removeCutOff();
		loseDiskAndHearLate(1);
		pass(30);
		then(() -> get(0, ANY_ONE));
		pass(33);
		then(() -> get(2));
		pass(3);
		run();

		assertThat(this.told).contains("n2: 0");
		assertThat(LEFT).noneMatch(this::holds);
	}

	/** It has the topology before the change, and would be a majority with the other. */
	@Test
	void itServesNothingLinearizableWithAMemberThatHasLostItsDisk() {
		this.key = keyOf(List.of(0, 1));
		votes(ALL);
		put(1);
		then(() -> cutOff(0));
		delete(1);
		begins(ALL, LEFT);
		ends(LEFT);
		have(LEFT);
		collected();
		loseDiskAndHearLate(1);
		pass(10);
		then(() -> get(0));
		pass(10);
		then(() -> get(2));
		pass(3);
		run();

		assertThat(this.told).noneMatch(answer -> answer.endsWith(": " + VALUE)).contains("n2: 0");
	}

	/**
	 * A node that had nothing of the key before the change would get the old value from
	 * the removed node, which is not refused yet, by a read repair.
	 */
	@Test
	void aNodeThatHadNothingOfTheKeyHasTheTombstoneBeforeTheRemovedNodeIsBack() {
		int without = ALL.stream().filter(index -> !holders(this.key).contains(index)).findFirst().orElseThrow();
		this.cluster.limitWrites(Duration.ofSeconds(2));
		votes(ALL);
		put(1);
		then(() -> cutOff(0));
		delete(1);
		pass(75);
		begins(ALL, LEFT);
		then(() -> node(0).take(this.newest));
		ends(LEFT);
		have(LEFT);
		pass(14);
		then(() -> {
			this.cluster.network().heal();
			LEFT.stream()
				.filter(index -> index != without)
				.forEach(index -> this.cluster.network().cutLink(0, index, false));
			get(0, ANY_ONE);
		});
		pass(60);
		then(() -> get((without == 1) ? 2 : 1));
		pass(3);
		run();

		assertThat(this.told).containsExactly("n0: 0", "n%d: 0".formatted((without == 1) ? 2 : 1));
	}

	/** Those that have it leave, and one that stays was away when it was written. */
	@Test
	void newNodesGetATombstoneThatIsOlderThanTheGrace() {
		List<Integer> after = List.of(3, 4, 5);
		this.key = keyOf(List.of(0, 1, 3));
		votes(ALL);
		put(0);
		then(() -> {
			this.deaf.add(3);
			cutOff(3);
		});
		delete(0);
		pass(75);
		begins(ALL, after);
		added(List.of(4, 5));
		pass(2);
		then(this.cluster.network()::heal);
		votes(List.of(4, 5));
		then(() -> cutOff(3));
		ends(List.of(4, 5));
		have(List.of(4, 5));
		then(() -> List.of(0, 1, 2).forEach(index -> node(index).die()));
		then(this.cluster.network()::heal);
		then(this.deaf::clear);
		have(after);
		pass(10);
		then(() -> List.of(4, 5).forEach(this::get));
		pass(3);
		run();

		assertThat(this.told).hasSize(2).allMatch(answer -> answer.endsWith(": 0"));
	}

	@Test
	void nobodyIsRefusedWhereOperationsTakeLongerThanAQuarterOfTheGrace() {
		this.cluster.limitWrites(Duration.ofSeconds(30));
		votes(ALL);
		begins(ALL, LEFT);
		ends(LEFT);
		getAll(20, 3);
		run();

		assertThat(this.told).hasSize(60).allMatch(answer -> answer.endsWith(": 0"));
	}

	@Test
	void aNewNodeThatDoesNotAnswerHoldsUpNothingThoughItsChangeFollowsAnotherOneAtOnce() {
		votes(ALL);
		begins(ALL, LEFT);
		ends(LEFT);
		begins(LEFT, List.of(1, 2, 3, 4));
		pass(20);
		for (int restarted : List.of(2, 3)) {
			then(() -> node(restarted).crash());
			pass(1);
			then(() -> node(restarted).start());
			pass(5);
			getAll(1, 2);
		}
		getAll(10, 8);
		run();

		assertThat(this.told).hasSize(36).allMatch(answer -> answer.endsWith(": 0"));
	}

	/** Its end is two decisions further than it would be. */
	@Test
	void nobodyIsRefusedAtTheEndOfAChangeThatWasPaused() {
		this.cluster.limitWrites(Duration.ofSeconds(30));
		votes(ALL);
		begins(ALL, LEFT);
		until("the change is over", () -> LEFT.stream().map(this::node).anyMatch(RemovedNodeTests::isOver));
		then(() -> this.newest = this.newest.moved(this.newest.number() + 3));
		getAll(20, 3);
		run();

		assertThat(this.told).hasSize(60).allMatch(answer -> answer.endsWith(": 0"));
	}

	/** It finds the others in a change that waits for a new node. */
	@Test
	void aMemberThatHasMissedAChangeServesThoughANewNodeDoesNotAnswer() {
		votes(ALL);
		then(() -> cutOff(3));
		begins(ALL, LEFT);
		ends(List.of(1, 2));
		have(List.of(1, 2));
		begins(LEFT, List.of(1, 2, 3, 4));
		pass(10);
		then(this.cluster.network()::heal);
		pass(60);
		for (int i = 0; i < 10; i++) {
			then(() -> get(3));
			pass(5);
		}
		run();

		assertThat(this.told).hasSize(10).allMatch(answer -> answer.equals("n3: 0"));
	}

	/** All others wait for a new node that is silent. */
	@Test
	void membersThatHearOfAChangeAsTheyStartServe() {
		votes(ALL);
		begins(ALL, LEFT);
		ends(LEFT);
		have(LEFT);
		then(() -> node(0).die());
		then(() -> {
			this.deaf.addAll(List.of(1, 2));
			node(1).crash();
			node(2).crash();
		});
		begins(LEFT, List.of(1, 2, 3, 4));
		pass(2);
		then(() -> List.of(1, 2).forEach(index -> {
			node(index).start();
			takeWhenUp(index);
		}));
		pass(1);
		then(this.deaf::clear);
		votes(LEFT);
		pass(20);
		getAll(4, 3);
		then(() -> node(3).die());
		pass(60);
		for (int i = 0; i < 3; i++) {
			then(() -> List.of(1, 2).forEach(this::get));
			pass(10);
		}
		run();

		assertThat(this.told).hasSize(18).allMatch(answer -> answer.endsWith(": 0"));
	}

	/** In between it waits for a node that works only with those in the second change. */
	@Test
	void aMemberThatHasMissedAChangeTakesTheNextOneThoughAllOthersAreDoneWithThat() {
		votes(ALL);
		then(() -> cutOff(3));
		begins(ALL, List.of(1, 2, 3, 4));
		added(List.of(4));
		ends(List.of(1, 2, 4));
		have(List.of(1, 2, 4));
		begins(List.of(1, 2, 3, 4), List.of(2, 3, 4, 5));
		added(List.of(5));
		until("the change is over", () -> List.of(2, 4, 5).stream().map(this::node).allMatch(RemovedNodeTests::isOver));
		then(this.cluster.network()::heal);
		have(List.of(2, 3, 4, 5));
		then(() -> get(3));
		pass(3);
		run();

		assertThat(this.told).containsExactly("n3: 0");
	}

	/** A node was added and has died, before that member has heard of it. */
	@Test
	void aMemberThatHasMissedAChangeDoesNotWaitForTheNodesOfThatOne() {
		List<Integer> five = List.of(0, 1, 2, 3, 4);
		votes(ALL);
		then(() -> cutOff(3));
		begins(ALL, five);
		added(List.of(4));
		ends(List.of(0, 1, 2, 4));
		have(List.of(0, 1, 2, 4));
		then(() -> node(4).die());
		then(this.cluster.network()::heal);
		have(ALL);
		then(() -> get(3));
		pass(3);
		begins(five, ALL);
		ends(ALL);
		have(ALL);
		then(() -> get(3));
		pass(3);
		run();

		assertThat(this.told).containsExactly("n3: 0", "n3: 0");
	}

	/** The new node waits for what the one that is away will say before it votes. */
	@Test
	void operationsAreNotThoseOfALayoutInWhichOneOfThreeReplicasIsAwayAndOneDoesNotVote() {
		List<Integer> five = List.of(0, 1, 2, 3, 4);
		this.key = keyOf(five, List.of(3, 4));
		votes(ALL);
		begins(ALL, five);
		pass(3);
		then(() -> node(3).die());
		pass(1);
		added(List.of(4));
		pass(20);
		for (int i = 0; i < 10; i++) {
			then(() -> List.of(0, 1, 2).forEach(this::get));
			pass(5);
		}
		run();

		assertThat(this.told).hasSize(30).allMatch(answer -> answer.endsWith(": 0"));
	}

	private void takeWhenUp(int index) {
		if (node(index).isUp()) {
			assertThat(node(index).mayVote()).isFalse();
			node(index).take(this.newest);
		}
		else {
			this.cluster.timeline().after(SECOND / 1000, () -> takeWhenUp(index));
		}
	}

}
