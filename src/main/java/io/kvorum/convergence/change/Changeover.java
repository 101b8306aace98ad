package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyChange;
import io.kvorum.convergence.change.ChangeRule.Seen;
import io.kvorum.convergence.change.CopyProgress.Report;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.Answered;
import io.kvorum.replication.FailureLog;
import io.kvorum.replication.PromiseCopying;
import io.kvorum.replication.Replica;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Takes this node through a change of the topology, step by step: see {@link ChangeRule}.
 * It asks the other nodes for their steps, and gets what this node is to hold after the
 * change: entries by anti-entropy, which compares whatever either topology places on both
 * nodes, then promises, then the entries that were accepted meanwhile.
 * <p>
 * Works on the thread that subscribes to {@link #run()}.
 */
public final class Changeover {

	private static final Logger logger = LoggerFactory.getLogger(Changeover.class);

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	/** Limit of the time for an answer. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** The absence after which a node is not waited for. A restart takes less. */
	public static final Duration PATIENCE = Duration.ofMinutes(1);

	/** The time over which the rate of what arrives is measured. */
	private static final Duration RATE_WINDOW = Duration.ofMinutes(1);

	private final Layout layout;

	private final Topology topology;

	private final Member self;

	private final ChangeState state;

	private final List<? extends Replica> others;

	private final Comparison comparison;

	private final PromiseCopying promises;

	private final Predicate<Member> isMember;

	private final Predicate<Member> isToBeRebuilt;

	private final Runnable whenClosed;

	private final Duration patience;

	private final TimeSource time;

	private final Alarms alarms;

	/** The last answer of each other node that has answered. */
	private final Map<Member, Known> known = new ConcurrentHashMap<>();

	private long startedNanos;

	/**
	 * The nodes whose comparisons with this one count: what others have before they are
	 * closed is not all that they acknowledge.
	 */
	private final Set<Member> counted = new HashSet<>();

	private boolean hasPromises;

	private final FailureLog failures = new FailureLog(logger,
			"The change of the topology makes no progress on this node; trying again: {}");

	/** What had arrived on all nodes, at moments of the last minute. */
	private final Deque<Arrived> arrived = new ArrayDeque<>();

	private volatile long bytesPerSecond;

	private volatile ChangeStatus status;

	private volatile boolean isOver;

	/**
	 * The changeover of a node.
	 * @param others the replicas on the other members
	 * @param isMember whether another node has said that it has all that it has
	 * acknowledged
	 * @param isToBeRebuilt whether it has said that it has not
	 * @param whenClosed ends the streams of nodes that have the topology before
	 * @param patience the absence after which a node is not waited for
	 */
	public Changeover(Layout layout, Member self, ChangeState state, List<? extends Replica> others,
			Comparison comparison, PromiseCopying promises, Predicate<Member> isMember, Predicate<Member> isToBeRebuilt,
			Runnable whenClosed, Duration patience, TimeSource time, Alarms alarms) {
		this.layout = layout;
		this.topology = layout.topology();
		this.self = self;
		this.state = state;
		this.others = List.copyOf(others);
		this.comparison = comparison;
		this.promises = promises;
		this.isMember = isMember;
		this.isToBeRebuilt = isToBeRebuilt;
		this.whenClosed = whenClosed;
		this.patience = patience;
		this.time = time;
		this.alarms = alarms;
		this.status = new ChangeStatus(state.step(), List.of(), "");
	}

	/** Compares this node with others, so that it gets what they have. */
	public interface Comparison {

		/** Begins to compare everything anew with another node. */
		void compareAnew(Member other);

		/** Whether everything was compared with a node since it last began anew. */
		boolean isComparedAnew(Member other);

		/** Whether a node could not give all that it has when it was last compared. */
		boolean cannotRead(Member other);

	}

	/**
	 * Runs while subscribed to, with the store open. To be subscribed to only once.
	 * Completes at once if the topology does not change.
	 */
	public Flux<?> run() {
		if (!this.topology.isChanging()) {
			return Flux.empty();
		}
		return Flux.defer(() -> {
			this.startedNanos = this.time.nanos();
			return Flux.merge(this.state.measure(),
					Mono.defer(this::round).doOnSuccess(_ -> this.failures.succeeded()).onErrorResume(error -> {
						this.status = new ChangeStatus(this.state.step(), List.of(), this.failures.failed(error));
						return Mono.empty();
					}).then(Mono.defer(() -> this.alarms.after(INTERVAL))).repeat());
		});
	}

	/** The progress now; null if the topology does not change. From any thread. */
	public @Nullable ChangeStatus status() {
		return this.topology.isChanging() ? this.status : null;
	}

	/**
	 * Whether this node is done, and so is each other one but those that are away or have
	 * lost their disk. The topology after the change may then be decided to be the only
	 * one. From any thread.
	 */
	public boolean isOver() {
		return this.isOver;
	}

	/**
	 * What the change copies, as far as this node knows. From any thread.
	 * @param moves from the topology before to the one after
	 */
	public CopyProgress progress(TopologyChange moves) {
		return CopyProgress.of(this.self, moves, reports(), this.bytesPerSecond);
	}

	private List<Report> reports() {
		List<Report> reports = new ArrayList<>();
		for (Member member : this.topology.members()) {
			Known last = this.known.get(member);
			reports.add(member.equals(this.self) ? this.state.report(member)
					: (last != null) ? last.report : Report.none(member));
		}
		return reports;
	}

	private void measureRate() {
		Arrived now = new Arrived(this.time.nanos(), reports().stream().mapToLong(Report::copiedBytes).sum());
		this.arrived.addLast(now);
		while (now.atNanos - this.arrived.getFirst().atNanos > RATE_WINDOW.toNanos()) {
			this.arrived.removeFirst();
		}
		Arrived first = this.arrived.getFirst();
		long nanos = Math.max(now.atNanos - first.atNanos, INTERVAL.toNanos());
		// A node that restarts counts from 0 again.
		this.bytesPerSecond = Math.max(0, Math.round((now.bytes - first.bytes) * 1e9 / nanos));
	}

	private Mono<Void> round() {
		return Flux.fromIterable(this.others)
			.flatMap(this::ask, Math.max(1, this.others.size()))
			.then(Mono.defer(() -> {
				measureRate();
				Map<Long, Seen> seen = new HashMap<>();
				this.others.forEach(other -> seen.put(other.member().id(), seenOf(other)));
				this.isOver = this.state.step() == Step.DONE
						&& this.others.stream().allMatch(this::isNotWaitedForAtTheEnd);
				return advance(new ChangeRule(this.topology, this.self, seen));
			}));
	}

	/**
	 * Whether the end of the change need not wait for this node. A node with a lost disk
	 * needs all others for its rebuild. If a leaving node is dead, that rebuild can only
	 * finish after the change.
	 */
	private boolean isNotWaitedForAtTheEnd(Replica other) {
		return seenOf(other) == Seen.DONE || isAwayForLong(other)
				|| (this.isToBeRebuilt.test(other.member()) && this.others.stream().anyMatch(this::leavesAndIsAway));
	}

	private boolean leavesAndIsAway(Replica other) {
		return !this.layout.after().has(other.member()) && isAwayForLong(other);
	}

	private Mono<Void> ask(Replica other) {
		return other.ask(ChangeState.query(), Deadline.after(this.time, TIMEOUT))
			.ofType(Answered.class)
			.doOnNext(answered -> this.known.put(other.member(),
					new Known(ChangeState.reportOf(other.member(), answered.bytes(), this.layout), this.time.nanos())))
			.then();
	}

	/**
	 * What is known of another node. Steps are not taken back, so a closed or synced node
	 * is one also while it is away.
	 */
	private Seen seenOf(Replica other) {
		Known last = this.known.get(other.member());
		Step step = (last != null) ? last.report.step() : null;
		if (step != null && step.isClosed()) {
			return switch (step) {
				case DONE -> Seen.DONE;
				case SYNCED -> Seen.SYNCED;
				default -> Seen.CLOSED;
			};
		}
		if (isAwayForLong(other)) {
			return Seen.AWAY;
		}
		return (step != null) ? Seen.OPEN : Seen.BEFORE;
	}

	private boolean isAwayForLong(Replica other) {
		Known last = this.known.get(other.member());
		long since = (last != null) ? last.atNanos : this.startedNanos;
		return !other.isThere() && this.time.nanos() - since > this.patience.toNanos();
	}

	private Mono<Void> advance(ChangeRule rule) {
		return switch (this.state.step()) {
			case OPEN -> unlessWaiting(rule.toClose(), "to be in the change", this::close);
			case CLOSED -> unlessWaiting(rule.toBeFenced(), "to refuse nodes that have the topology before",
					() -> rule.isAfter() ? sync(rule) : take(Step.SYNCED));
			case SYNCED -> unlessWaiting(rule.toBeDone(), "to be synced", () -> take(Step.DONE));
			case DONE -> unlessWaiting(List.of(), "", Mono::empty);
		};
	}

	private Mono<Void> unlessWaiting(List<Member> open, String why, Supplier<Mono<Void>> then) {
		this.status = new ChangeStatus(this.state.step(), open, open.isEmpty() ? "" : why);
		return open.isEmpty() ? then.get() : Mono.empty();
	}

	/**
	 * Refuses nodes that have the topology before. The step is on disk behind all that
	 * their streams have brought: the log is one sequence.
	 */
	private Mono<Void> close() {
		this.state.close();
		this.whenClosed.run();
		return take(Step.CLOSED);
	}

	private Mono<Void> take(Step next) {
		return this.state.take(next).then(Mono.fromRunnable(() -> {
			logger.info("The change of the topology: this node is {}", next.text());
			this.status = new ChangeStatus(next, List.of(), "");
		}));
	}

	/**
	 * Compares this node with those before the change, twice: the second time once it has
	 * their promises. What was compared with a node that has lost something since counts
	 * no more.
	 */
	private Mono<Void> sync(ChangeRule rule) {
		this.counted.removeIf(Predicate.not(this.isMember));
		this.others.stream()
			.map(Replica::member)
			.filter(other -> rule.isClosed(other) && this.isMember.test(other) && this.counted.add(other))
			.forEach(this.comparison::compareAnew);
		List<Member> open = toBeSynced(rule, this::isCompared);
		return unlessWaiting(open, "to be compared with this node", () -> {
			if (this.hasPromises) {
				return take(Step.SYNCED);
			}
			List<Member> sources = this.others.stream()
				.filter(Replica::isThere)
				.map(Replica::member)
				.filter(this.topology.parts().getFirst()::has)
				.filter(this::isCompared)
				.toList();
			List<Member> missing = toBeSynced(rule, sources::contains);
			return unlessWaiting(missing, "to give their promises",
					() -> this.promises.copy(sources, true).then(Mono.fromRunnable(() -> {
						this.hasPromises = true;
						this.counted.forEach(this.comparison::compareAnew);
					})));
		});
	}

	private boolean isCompared(Member other) {
		return this.counted.contains(other) && this.comparison.isComparedAnew(other);
	}

	private List<Member> toBeSynced(ChangeRule rule, Predicate<Member> isSource) {
		Set<Member> hopeless = this.others.stream()
			.filter(other -> isAwayForLong(other) || this.isToBeRebuilt.test(other.member())
					|| this.comparison.cannotRead(other.member()))
			.map(Replica::member)
			.collect(Collectors.toSet());
		return rule.toBeSynced(member -> isSource.test(member(member)), member -> hopeless.contains(member(member)));
	}

	/** The member of the change that is this member of one of its topologies. */
	private Member member(Member part) {
		return this.topology.member(part.address());
	}

	/** The last answer of another node. */
	private record Known(Report report, long atNanos) {
	}

	/** What had arrived on all nodes at a moment. */
	private record Arrived(long atNanos, long bytes) {
	}

}
