package io.kvorum.convergence.quarantine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.kv.Partitions;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.PromiseCopying;
import io.kvorum.replication.Replica;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds out whether this node may vote, and rebuilds it if it may not.
 * <p>
 * Nodes exchange introductions. A node that has lost its disk, or was away for too long,
 * is <b>in quarantine</b>: it stores what it is given and refuses reads, until it has
 * everything from all others. It needs all of them, because one of the two that
 * acknowledged a write may be the node that lost it. Stores that it acknowledges
 * meanwhile count: they are on its disk when it votes again.
 * <p>
 * Works on the thread that subscribes to {@link #run()}.
 */
public final class Quarantine {

	private static final Logger logger = LoggerFactory.getLogger(Quarantine.class);

	/** The time between two rounds while this node may not vote. */
	private static final Duration HURRIED_INTERVAL = Duration.ofMillis(50);

	private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

	/** Slices that are rebuilt at a time. */
	private static final int PART = 64;

	private static final int PARTS = Partitions.SLICES / PART;

	private final NodeState node;

	private final KnownPeers peers;

	private final List<? extends Replica> others;

	private final Rebuilding rebuilding;

	private final PromiseCopying promises;

	private final Supplier<Mono<Void>> hintRemoval;

	/** Whether the hints of this disk were given up, since it is a stale one. */
	private boolean hasGivenUpHints;

	private final TimeSource time;

	private final Alarms alarms;

	private final QuarantineSettings settings;

	private final BitSet rebuilt = new BitSet(PARTS);

	/** What this node was when it copied the promises of all others; null before. */
	private @Nullable State promisedAs;

	/** The parts that were rebuilt again since then. */
	private final BitSet rebuiltAgain = new BitSet(PARTS);

	private final CountDownLatch votingRight = new CountDownLatch(1);

	/** The last failures to exchange introductions. */
	private final Map<Member, Failure> failures = new ConcurrentHashMap<>();

	private long startedNanos;

	private volatile int partsDone;

	/** Partitions with entries that could not be read in the last attempt to rebuild. */
	private SortedSet<Integer> missing = Collections.emptySortedSet();

	private long notedNanos;

	private long roundDueNanos;

	/**
	 * The quarantine of a node with peers.
	 * @param others the replicas on the other members
	 * @param hintRemoval gives up the hints of a stale disk
	 */
	public Quarantine(NodeState node, List<? extends Replica> others, Rebuilding rebuilding, PromiseCopying promises,
			Supplier<Mono<Void>> hintRemoval, TimeSource time, Alarms alarms, QuarantineSettings settings) {
		this.node = node;
		this.peers = node.peers();
		this.others = List.copyOf(others);
		this.rebuilding = rebuilding;
		this.promises = promises;
		this.hintRemoval = hintRemoval;
		this.time = time;
		this.alarms = alarms;
		this.settings = settings;
		this.peers.lookUpWith(this::isThere);
		node.tellLayoutsWith(member -> isThere(member, Replica::isBehind));
	}

	private boolean isThere(Member member) {
		return isThere(member, _ -> true);
	}

	private boolean isThere(Member member, Predicate<Replica> which) {
		return this.others.stream()
			.anyMatch(other -> other.member().equals(member) && other.isThere() && which.test(other));
	}

	/**
	 * Whether another member is there without knowing this node, which is being added.
	 */
	public boolean isUnknownTo(Member member) {
		return this.node.isAdded() && hasOtherTopology(member);
	}

	/** Whether another member is there, and only one of the two is in a change. */
	public boolean hasOtherTopology(Member member) {
		return isThere(member, other -> !other.isOfSameTopology());
	}

	/**
	 * Whether another member is running since before this node has started. To a node
	 * that was no member before its start, all others are.
	 */
	public boolean wasBefore(Member member) {
		return this.node.isNewHere() || this.peers.wasBefore(member);
	}

	/** Copies what other members hold. */
	@FunctionalInterface
	public interface Rebuilding {

		/**
		 * Completes when this replica has everything in these slices that any of these
		 * members has and can read.
		 * @param staleBeforeMillis an entry that no other replica of its key knows is
		 * removed if its version is before this instant; {@link Long#MIN_VALUE} to keep
		 * all
		 * @param undoneBeforeMillis an entry is removed if its version is before this
		 * instant and all other replicas that are to hold it have older ones;
		 * {@link Long#MIN_VALUE} to keep all
		 * @return the partitions with entries that are still missing here, because the
		 * members that have them cannot read them
		 */
		Mono<SortedSet<Integer>> rebuild(Collection<Member> from, List<Integer> slices, long staleBeforeMillis,
				long undoneBeforeMillis);

	}

	/** Counted down when this node may vote for the first time. */
	public CountDownLatch votingRight() {
		return this.votingRight;
	}

	/** Runs while subscribed to, with the store open. To be subscribed to only once. */
	public Flux<?> run() {
		return Flux.defer(() -> {
			this.startedNanos = this.time.nanos();
			this.notedNanos = this.startedNanos - this.settings.interval().toNanos();
			this.roundDueNanos = this.startedNanos;
			return rounds();
		});
	}

	private Flux<?> rounds() {
		return Mono.defer(this::roundIfDue)
			.onErrorResume(this::giveUp)
			.then(Mono.defer(() -> this.alarms
				.after((this.node.mayVote() && areKnown()) ? this.settings.interval() : HURRIED_INTERVAL)))
			.repeat();
	}

	/**
	 * A round with all peers if this node may not vote, or the interval has passed. Until
	 * then one with those that are not known yet: such a peer may know that this disk is
	 * stale. A peer with another topology may not know this node, and is not hurried.
	 */
	private Mono<Void> roundIfDue() {
		long now = this.time.nanos();
		if (!this.node.mayVote() || now - this.roundDueNanos >= 0) {
			this.roundDueNanos = now + this.settings.interval().toNanos();
			return round(this.others);
		}
		List<? extends Replica> unknown = this.others.stream()
			.filter(other -> !isKnown(other) && other.isThere() && other.isOfSameTopology())
			.toList();
		return unknown.isEmpty() ? Mono.empty() : round(unknown);
	}

	/** Whether a peer has introduced itself, or is refused. */
	private boolean isKnown(Replica other) {
		return this.peers.introductionOf(other.member()) != null || this.peers.refuses(other.member());
	}

	private boolean areKnown() {
		return this.others.stream().allMatch(this::isKnown);
	}

	private Mono<Void> giveUp(Throwable error) {
		logger.warn("Could not determine whether this node may vote; trying again: {}",
				String.valueOf(error.getMessage()));
		if (this.node.state().isToBeRebuilt()) {
			withholdUntilRebuilt(String.valueOf(error.getMessage()));
		}
		return this.alarms.after(RETRY_DELAY).then();
	}

	private Mono<Void> round(List<? extends Replica> peers) {
		if (!this.node.isLoaded()) {
			return this.node.load();
		}
		if (this.settings.acceptLoss() && !this.node.isMember()) {
			return this.node.acceptLoss();
		}
		boolean wasMember = this.node.isMember();
		return this.node.noteBoot()
			.onErrorComplete()
			.then(introduceTo(peers))
			.then(Mono.defer(() -> mayBeFound() ? Mono.empty() : this.node.decide()))
			.then(Mono.defer(() -> {
				State state = this.node.state();
				if (state.isToBeRebuilt() && !this.node.isAbsenceUndecided()) {
					return rebuild();
				}
				// After a round as a member: the others could remember it, and object.
				if (wasMember && this.node.isMember() && mayVote()) {
					this.node.grant();
					this.votingRight.countDown();
					return noteAlive();
				}
				if (!this.node.isMember()) {
					this.node.withhold("%s, and waits for what %s will say".formatted(
							this.node.isAbsenceUndecided() ? State.AWAY_TOO_LONG.text() : state.text(), awaited()));
				}
				return Mono.empty();
			}));
	}

	/** Whether another node may still find this one, which knows none. */
	private boolean mayBeFound() {
		return this.others.isEmpty() && this.node.state() == State.NEW
				&& this.time.nanos() - this.startedNanos < this.settings.foundingTime().toNanos();
	}

	/**
	 * Whether this member may vote. No peer may claim its identity, and all others must
	 * be known or have had time to object. A node that may vote keeps that right until an
	 * introduction shows a stale disk.
	 */
	private boolean mayVote() {
		if (this.node.mayVote()) {
			return true;
		}
		if (this.peers.hasTwin()) {
			this.node.withhold(String.join("; ", this.peers.refused()));
			return false;
		}
		return areKnown() || hasWaited() || this.settings.acceptLoss();
	}

	/** Whether this node has given others the time to object, if they are there. */
	private boolean hasWaited() {
		return this.time.nanos() - this.startedNanos > 2 * this.settings.timeout().toNanos();
	}

	private Mono<Void> introduceTo(List<? extends Replica> peers) {
		return Flux.fromIterable(peers)
			.filter(other -> other.isThere() && !hasJustFailed(other.member()))
			.flatMap(this::exchange, Math.max(1, peers.size()))
			.then();
	}

	private Mono<Void> exchange(Replica other) {
		return Mono
			.defer(() -> other.ask(this.node.introductionTo(other.member(), other.knowsTags()).toQuery(),
					Deadline.after(this.time, this.settings.timeout())))
			.ofType(Answered.class)
			.flatMap(answered -> this.node.receiveAnswer(other.member(),
					Introduction.of(PeerQuery.of(answered.bytes()))))
			.doOnSuccess(_ -> this.failures.remove(other.member()))
			.onErrorResume(error -> {
				failed(other.member(), String.valueOf(error.getMessage()));
				return Mono.empty();
			});
	}

	private boolean hasJustFailed(Member other) {
		Failure failure = this.failures.get(other);
		return failure != null && this.time.nanos() - failure.dueNanos < 0;
	}

	/**
	 * Notes a failed exchange of introductions. It holds up this peer alone, even if the
	 * disk here has failed.
	 */
	private void failed(Member other, String why) {
		Failure before = this.failures.put(other, new Failure(why, this.time.nanos() + RETRY_DELAY.toNanos()));
		if (before == null || !before.why.equals(why)) {
			logger.atWarn()
				.addKeyValue("peer", other.address())
				.log("Could not exchange introductions with {}; trying again: {}", other.address(), why);
		}
	}

	private record Failure(String why, long dueNanos) {
	}

	/**
	 * The addresses of the members whose introductions are needed for a decision and are
	 * missing.
	 */
	private List<String> awaited() {
		boolean isRestored = this.node.state() == State.RESTORED;
		return this.others.stream().map(Replica::member).filter(member -> {
			Introduction said = this.peers.introductionOf(member);
			return said == null || said.membership().state() == State.NEW
					|| (isRestored && !AdmissionRule.wasRestoredToo(said));
		}).map(Member::address).toList();
	}

	private Mono<Void> noteAlive() {
		long now = this.time.nanos();
		if (now - this.notedNanos < this.settings.interval().toNanos()) {
			return Mono.empty();
		}
		this.notedNanos = now;
		return this.node.noteAlive().onErrorResume(error -> {
			logger.warn("Could not record that this node is alive; trying again: {}",
					String.valueOf(error.getMessage()));
			return Mono.empty();
		});
	}

	/**
	 * Rebuilds this node from all others: from members, and from newcomers, which may
	 * have acknowledged something since. A node that was away for too long has all that
	 * it acknowledged, so it needs no other node in quarantine. Unsynced nodes are
	 * rebuilt from one another: what all their disks hold is all that is left.
	 */
	private Mono<Void> rebuild() {
		boolean isIntact = this.node.state() == State.AWAY_TOO_LONG;
		boolean isUnsynced = this.node.state() == State.UNSYNCED;
		if (isUnsynced && this.others.isEmpty()) {
			logger.warn("This node goes on without a rebuild: no other node could have what its disk lacks");
			return becomeMember();
		}
		List<Member> sources = new ArrayList<>();
		List<String> missing = new ArrayList<>();
		for (Replica other : this.others) {
			Introduction said = this.peers.introductionOf(other.member());
			State state = (said != null) ? said.membership().state() : State.NEW;
			boolean isSource = state == State.MEMBER || state == State.NEWCOMER
					|| (isUnsynced && state == State.UNSYNCED);
			if (isSource && other.isThere()) {
				sources.add(other.member());
			}
			else if (this.node.isNeeded(other.member()) && (!isIntact || !state.isToBeRebuilt())) {
				missing.add(other.member().address());
			}
		}
		if (!missing.isEmpty()) {
			this.node.withhold("%s; to be rebuilt it waits for %s to be there and to vote"
				.formatted(this.node.state().text(), missing));
			return Mono.empty();
		}
		if (sources.isEmpty()) {
			this.node.withhold("%s; to be rebuilt it waits for one of %s to vote: all of them are to be rebuilt too"
				.formatted(this.node.state().text(),
						this.others.stream().map(other -> other.member().address()).toList()));
			return Mono.empty();
		}
		Duration wait = this.settings.settlingTime().minusNanos(this.time.nanos() - this.startedNanos);
		return wait.isPositive() ? this.alarms.after(wait).then() : rebuildFrom(sources);
	}

	private Mono<Void> rebuildFrom(List<Member> sources) {
		boolean isStale = this.node.state() == State.STALE_DISK;
		long stale = this.node.state().mayHoldCollected() ? this.node.staleBeforeMillis() : Long.MIN_VALUE;
		long undone = isStale ? this.node.undoneBeforeMillis() : Long.MIN_VALUE;
		SortedSet<Integer> missing = new TreeSet<>();
		Mono<Void> unhinted = (isStale && !this.hasGivenUpHints)
				? this.hintRemoval.get().then(Mono.fromRunnable(() -> this.hasGivenUpHints = true)) : Mono.empty();
		return unhinted.thenMany(Flux.range(0, PARTS))
			.filter(part -> !this.rebuilt.get(part))
			.concatMap(part -> this.rebuilding.rebuild(sources, slicesOf(part), stale, undone)
				.doOnNext(left -> rebuilt(part, left, missing)), 1)
			.then(Mono.defer(() -> missing.isEmpty() ? rebuilt(sources) : waitFor(missing)));
	}

	/**
	 * Copies promises when all entries are here: this replica stores none below them.
	 * Unsynced nodes, which are rebuilt from one another, have no majority yet that could
	 * settle a key.
	 */
	private Mono<Void> rebuilt(List<Member> sources) {
		State state = this.node.state();
		Mono<Void> promised = (this.promisedAs == state) ? Mono.empty()
				: this.promises.copy(sources, state != State.UNSYNCED).then(Mono.fromRunnable(() -> {
					this.promisedAs = state;
					this.rebuiltAgain.clear();
				}));
		return promised.then(Mono.defer(() -> acceptedMeanwhile(sources)))
			.flatMap(missing -> missing.isEmpty() ? becomeMember() : waitFor(missing));
	}

	/**
	 * Copies the entries that others have accepted since theirs were copied. Such an
	 * entry tells its promise, so that promise is not among those that were copied. Goes
	 * on where an attempt has failed. Returns the partitions with entries that cannot be
	 * read.
	 */
	private Mono<SortedSet<Integer>> acceptedMeanwhile(List<Member> sources) {
		return Flux.range(0, PARTS)
			.filter(part -> !this.rebuiltAgain.get(part))
			.concatMap(part -> this.rebuilding.rebuild(sources, slicesOf(part), Long.MIN_VALUE, Long.MIN_VALUE)
				.doOnNext(left -> this.rebuiltAgain.set(part, left.isEmpty())), 1)
			.collect(TreeSet::new, Set::addAll);
	}

	private Mono<Void> becomeMember() {
		return this.node.become(State.MEMBER).then(Mono.fromRunnable(() -> {
			this.rebuilt.clear();
			this.promisedAs = null;
			this.hasGivenUpHints = false;
		}));
	}

	/** Waits until these entries can be read, or are written again. */
	private Mono<Void> waitFor(SortedSet<Integer> missing) {
		withholdUntilRebuilt(
				"entries in the partitions %s cannot be read on the nodes that have them, or do not come in time"
					.formatted(Partitions.describe(missing)));
		if (!missing.equals(this.missing)) {
			logger.warn("This node cannot be rebuilt completely; trying again every {} s: {}", RETRY_DELAY.toSeconds(),
					this.node.withheldBecause());
		}
		this.missing = missing;
		return this.alarms.after(RETRY_DELAY).then();
	}

	private static List<Integer> slicesOf(int part) {
		return IntStream.range(part * PART, (part + 1) * PART).boxed().toList();
	}

	private void rebuilt(int part, SortedSet<Integer> left, SortedSet<Integer> missing) {
		missing.addAll(left);
		this.rebuilt.set(part, left.isEmpty());
		this.partsDone = this.rebuilt.cardinality();
		this.node.withhold("%s; %d of %d parts are rebuilt".formatted(this.node.state().text(), this.partsDone, PARTS));
	}

	/** Withholds the vote, and says why the remaining parts are not rebuilt. */
	private void withholdUntilRebuilt(String why) {
		this.node.withhold(
				"%s; %d of %d parts are rebuilt: %s".formatted(this.node.state().text(), this.partsDone, PARTS, why));
	}

	/** The progress now. From any thread. */
	public QuarantineProgress progress() {
		String doubt = this.node.withheldBecause();
		State state = this.node.state();
		boolean rebuilding = state.isToBeRebuilt();
		return new QuarantineProgress(state.label(), (doubt != null) ? doubt : "", rebuilding ? PARTS : 0,
				rebuilding ? this.partsDone : 0, this.peers.refused());
	}

}
