package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.LiveCluster;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.RecordedClients;
import io.kvorum.testing.RecordedClients.Failure;
import io.kvorum.testing.RecordedClients.Habits;
import io.kvorum.testing.history.Operation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Changes of the nodes with faults in the middle of them, and the histories that clients
 * saw. {@code -Dkvorum.test.chaos.seed} draws which nodes have the faults, and in which
 * step of a change. {@code -Dkvorum.test.layout.rate=2000}, requests a second, runs the
 * long test too, with more changes.
 */
@DisplayName("Nodes that change while they serve, through kills, silence and cuts")
@LongTest
@Order(1) // The longest one.
class LayoutFaultsIT {

	private static final long SEED = Long.getLong("kvorum.test.chaos.seed", System.nanoTime());

	private static final String RATE = "kvorum.test.layout.rate";

	private static final int CLIENTS = 48;

	private static final int FACTOR = 3;

	private static final int CUTS = 5;

	private static final int ENOUGH_SECONDS = 3;

	private static final Duration LOAD_DEADLINE = Duration.ofMinutes(2);

	/** Longer than the longest time limit of an operation. */
	private static final Duration PATIENCE = Duration.ofSeconds(20);

	@RegisterExtension
	final Nodes nodes = new Nodes();

	/**
	 * With times in which a disk or a machine that stalls for a second, as those of CI
	 * do, fails no request.
	 */
	private final LiveCluster cluster = new LiveCluster(this.nodes, 8, FACTOR, "kvorum.replication.write-timeout=5s",
			"kvorum.replication.read-timeout=5s", "kvorum.storage.write-queue-time=4s",
			"kvorum.cluster.silence-timeout=3s", "kvorum.anti-entropy.max-rate=2MB",
			"spring.netty.leak-detection=simple");

	private final Random random = new Random(SEED);

	/** The times in which a fault may fail requests. */
	private final List<Window> windows = new ArrayList<>();

	/** Keys that nobody writes any more. */
	private final List<String> settled = new ArrayList<>();

	private List<Integer> members = List.of(1, 2, 3);

	private int factor = FACTOR;

	/** So many requests make a phase without a change. */
	private int enough;

	private boolean hasZones;

	@Test
	@DisplayName("3 nodes, then 5, 4 and 3, with a kill, a pause and cuts meanwhile: histories are linearizable, and no request fails but in the time of a fault")
	void moreAndLess() throws InterruptedException, IOException {
		try (RecordedClients clients = begin(200, 1_000, 1_000)) {
			change("3 to 5 nodes", List.of(1, 2, 3, 4, 5), Fault.KILL, clients);
			change("5 to 4 nodes", List.of(2, 3, 4, 5), Fault.SILENCE, clients);
			change("4 to 3 nodes", List.of(3, 4, 5), Fault.CUT, clients);
			assertAllIsWell(clients);
		}
	}

	@Test
	@DisplayName("The same with other factors, with zones, and with a dead node that is replaced, for some minutes")
	@EnabledIfSystemProperty(named = RATE, matches = "[0-9]+")
	void allChanges() throws InterruptedException, IOException {
		try (RecordedClients clients = begin(Integer.getInteger(RATE), 2_000, 8_000)) {
			change("3 to 5 nodes", List.of(1, 2, 3, 4, 5), Fault.NONE, clients);
			this.factor = 5;
			change("factor 3 to 5", this.members, drawn(), clients);
			this.factor = FACTOR;
			change("factor 5 to 3", this.members, drawn(), clients);
			this.hasZones = true;
			change("zones", this.members, Fault.NONE, clients);
			change("5 to 4 nodes", List.of(2, 3, 4, 5), Fault.KILL, clients);
			replaceDead(this.members.get(this.random.nextInt(this.members.size())), 6, clients);
			change("4 to 3 nodes", this.members.subList(1, 4), Fault.SILENCE, clients);
			change("3 to 5 nodes", Stream.concat(this.members.stream(), Stream.of(7, 8)).toList(), Fault.CUT, clients);
			assertAllIsWell(clients);
		}
	}

	private Fault drawn() {
		List<Fault> faults = List.of(Fault.KILL, Fault.SILENCE, Fault.CUT);
		return faults.get(this.random.nextInt(faults.size()));
	}

	/** Starts the first nodes, and clients with so many requests a second. */
	private RecordedClients begin(int rate, int keys, int bytes) throws InterruptedException {
		System.out.printf("%d requests/s: -Dkvorum.test.chaos.seed=%d%n", rate, SEED);
		this.enough = ENOUGH_SECONDS * rate;
		this.cluster.found(this.members);
		String filling = "x".repeat(bytes);
		for (int i = 0; i < keys; i++) {
			String key = "settled " + i;
			assertThat(this.cluster.client(1).put(key, key + filling).status()).isEqualTo(201);
			this.settled.add(key);
		}
		Duration interval = Duration.ofSeconds(1).multipliedBy(CLIENTS).dividedBy(rate);
		return RecordedClients.on(this.cluster::client, this.members, CLIENTS,
				new Habits(Math.max(100, rate / 10), 1, 20, interval, PATIENCE), SEED);
	}

	/**
	 * Changes the members to others, or their factor or zones; makes the fault meanwhile.
	 */
	private void change(String name, List<Integer> next, Fault fault, RecordedClients clients)
			throws InterruptedException {
		List<Integer> added = next.stream().filter(node -> !this.members.contains(node)).toList();
		for (int node : added) {
			this.cluster.startNewcomer(node, this.members);
		}
		String add = (this.hasZones ? next : added).stream().map(this::described).collect(Collectors.joining(","));
		List<Integer> removed = this.members.stream().filter(node -> !next.contains(node)).toList();
		String remove = removed.stream()
			.map(node -> '"' + this.cluster.address(node) + '"')
			.collect(Collectors.joining(","));
		List<Integer> all = Stream.concat(next.stream(), removed.stream()).toList();
		change(name, "{\"add\":[%s],\"remove\":[%s],\"factor\":%d}".formatted(add, remove, this.factor), next, removed,
				number -> make(fault, number, all, clients), clients);
	}

	private String described(int node) {
		return this.hasZones
				? "{\"address\":\"%s\",\"zone\":\"%s\"}".formatted(this.cluster.address(node), zoneOf(node))
				: "{\"address\":\"%s\"}".formatted(this.cluster.address(node));
	}

	private static String zoneOf(int node) {
		return String.valueOf((char) ('a' + node % 3));
	}

	private void replaceDead(int dead, int by, RecordedClients clients) throws InterruptedException {
		List<Integer> others = this.members.stream().filter(node -> node != dead).toList();
		long from = clients.now();
		this.cluster.kill9(dead);
		clients.workAt(others);
		this.cluster.awaitAway(dead, others);
		this.windows.add(new Window(from, clients.now()));
		this.cluster.startNewcomer(by, others);
		change("dead node %d replaced by %d".formatted(dead, by),
				"{\"replace\":[{\"dead\":\"%s\",\"by\":\"%s\",\"zone\":\"%s\"}]}".formatted(this.cluster.address(dead),
						this.cluster.address(by), zoneOf(by)),
				Stream.concat(others.stream(), Stream.of(by)).toList(), List.of(), _ -> "", clients);
	}

	private void change(String name, String edit, List<Integer> next, List<Integer> removed, Meanwhile meanwhile,
			RecordedClients clients) throws InterruptedException {
		int asked = next.getFirst();
		long from = clients.now();
		awaitMore(clients);
		Topology before = this.cluster.topology(asked);
		long[] sizes = sizes(asked);
		long moved = this.cluster.movedBytes();
		long applied = clients.now();
		long number = this.cluster.apply(asked, edit);
		String fault = meanwhile.run(number);
		this.cluster.awaitStable(number, next, this.factor);
		long stable = clients.now();
		long movedUntilStable = this.cluster.movedBytes() - moved;
		long needed = needed(before, this.cluster.topology(asked), sizes);
		this.members = List.copyOf(next);
		clients.workAt(next);
		for (int node : removed) {
			this.cluster.stop(node);
		}
		awaitMore(clients);
		long end = clients.now();
		moved = this.cluster.movedBytes() - moved;
		System.out.printf(
				"  %s%s: %.1f s; %.2f MB have to move, %.2f did, %.2f in the %.1f s after%n    p50/p99 before %s, meanwhile %s, of them not in the fault %s, after %s%n",
				name, fault, (stable - applied) / 1e9, needed / 1e6, movedUntilStable / 1e6,
				(moved - movedUntilStable) / 1e6, (end - stable) / 1e9,
				latencies(clients, operation -> isWithin(operation, from, applied)),
				latencies(clients, operation -> isWithin(operation, applied, stable)),
				latencies(clients, operation -> isWithin(operation, applied, stable) && !isInFault(operation)),
				latencies(clients, operation -> isWithin(operation, stable, end)));
	}

	/** Waits for the requests of some seconds. */
	private void awaitMore(RecordedClients clients) throws InterruptedException {
		int enough = clients.operations() + this.enough;
		Poll.until(() -> "%d requests in all".formatted(enough), LOAD_DEADLINE, () -> clients.operations() >= enough);
	}

	/** The size of the keys and values of each partition. */
	private long[] sizes(int asked) {
		long[] sizes = new long[Partitions.COUNT];
		RangeAnswer answer = RangeRequest.from("a").to("z").read(this.cluster.port(asked));
		assertThat(answer.isWhole()).as("%s", answer).isTrue();
		for (RangeEntry entry : answer.entries()) {
			byte[] key = entry.key().getBytes(UTF_8);
			sizes[RendezvousPlacement.partitionOf(Key.of(key))] += key.length + entry.value().length;
		}
		return sizes;
	}

	private static long needed(Topology before, Topology after, long[] sizes) {
		RendezvousPlacement old = new RendezvousPlacement(before);
		RendezvousPlacement next = new RendezvousPlacement(after);
		return IntStream.range(0, sizes.length).filter(partition -> sizes[partition] > 0).mapToLong(partition -> {
			List<Member> had = old.replicasOf(partition, before.factor());
			return sizes[partition] * next.replicasOf(partition, after.factor())
				.stream()
				.filter(member -> had.stream().noneMatch(other -> other.id() == member.id()))
				.count();
		}).sum();
	}

	private static String latencies(RecordedClients clients, Predicate<Operation> which) {
		List<Duration> sorted = clients.latencies(which);
		return sorted.isEmpty() ? "-" : "%.1f/%.1f ms (%d)".formatted(sorted.get(sorted.size() / 2).toNanos() / 1e6,
				sorted.get(sorted.size() * 99 / 100).toNanos() / 1e6, sorted.size());
	}

	private static boolean isWithin(Operation operation, long from, long to) {
		return operation.invokedAt() >= from && operation.invokedAt() < to;
	}

	private boolean isInFault(Operation operation) {
		return isInFault(operation.invokedAt(), operation.endedAt());
	}

	private boolean isInFault(long from, long to) {
		return this.windows.stream().anyMatch(window -> window.overlaps(from, to));
	}

	/** Makes a fault in a step of the change; returns what was done. */
	private String make(Fault fault, long number, List<Integer> all, RecordedClients clients)
			throws InterruptedException {
		if (fault == Fault.NONE) {
			return "";
		}
		int node = all.get(this.random.nextInt(all.size()));
		List<String> later = this.random.nextBoolean() ? List.of("closed", "synced", "done", "stable")
				: List.of("open", "closed", "synced", "done", "stable");
		Poll.until(() -> "a node is %s: ".formatted(later.getFirst()), LOAD_DEADLINE,
				() -> all.stream().map(each -> this.cluster.step(each, number)).anyMatch(later::contains));
		letRun(0, 1_500);
		String step = this.cluster.step(node, number);
		boolean isReady = this.cluster.client(node).isOk("/actuator/health/readiness");
		long from = clients.now();
		switch (fault) {
			case KILL -> this.cluster.killAndRestart(node, () -> letRun(500, 3_000));
			case SILENCE -> this.cluster.stopAndContinue(node, () -> letRun(2_000, 5_000));
			case CUT -> {
				for (int i = 0; i < CUTS; i++) {
					this.cluster.cut(all.get(this.random.nextInt(all.size())));
					letRun(20, 700);
				}
			}
			case NONE -> throw new IllegalStateException();
		}
		Poll.until(() -> "node %d is ready as before".formatted(node), LOAD_DEADLINE,
				() -> !isReady || this.cluster.client(node).isOk("/actuator/health/readiness"));
		this.cluster.awaitTogether(all);
		this.windows.add(new Window(from, clients.now()));
		return ", %s%s in step %s for %.1f s".formatted(fault, (fault == Fault.CUT) ? "" : " of node " + node, step,
				(clients.now() - from) / 1e9);
	}

	/** A fault lasts for so long. */
	private void letRun(int fromMillis, int toMillis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(this.random.nextInt(fromMillis, toMillis), TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

	private void assertAllIsWell(RecordedClients clients) throws InterruptedException, IOException {
		clients.stop();
		clients.readAll();
		assertSettledAreReadAt(this.members);
		List<Integer> others = this.members.subList(1, this.members.size());
		this.cluster.kill9(this.members.getFirst());
		this.cluster.awaitAway(this.members.getFirst(), others);
		clients.workAt(others);
		clients.readAll();
		assertSettledAreReadAt(others);
		List<Failure> contended = clients.failures().stream().filter(LayoutFaultsIT::isContended).toList();
		List<Failure> outside = clients.failures()
			.stream()
			.filter(failure -> !isInFault(failure.from(), failure.to()) && !contended.contains(failure))
			.toList();
		Path directory = Files.createDirectories(Path.of("target", "it", "LayoutFaultsIT"));
		List<String> violations = clients.violations(directory);
		System.out.printf(
				"  %s%n  %d requests failed, %d of them contended, %d without a fault; %d of %d histories are wrong%n",
				clients.counts(), clients.failures().size(), contended.size(), outside.size(), violations.size(),
				clients.histories().size());
		outside.forEach(failure -> System.out.println("    " + failure));

		assertThat(clients.wrongAnswers()).isEmpty();
		assertThat(violations).isEmpty();
		assertThat(outside).isEmpty();
		assertThat(this.cluster.firstError()).isNull();
	}

	/** Whether clients wrote the key at the same time, with conditions and without. */
	private static boolean isContended(Failure failure) {
		return failure.text().contains("Other writes of this id came in between");
	}

	private void assertSettledAreReadAt(List<Integer> all) {
		for (int node : all) {
			KvorumClient client = this.cluster.client(node);
			assertThat(this.settled).as("read at node %d of %s", node, all)
				.allSatisfy(key -> assertThat(client.get(key).text()).startsWith(key));
		}
	}

	private enum Fault {

		NONE, KILL, SILENCE, CUT

	}

	/** A time, in nanoseconds since the clients began. */
	private record Window(long from, long to) {

		boolean overlaps(long from, long to) {
			return from < this.to && this.from < to;
		}

	}

	/** What happens during the change of this number; returns it in words. */
	@FunctionalInterface
	private interface Meanwhile {

		String run(long number) throws InterruptedException;

	}

}
