package io.kvorum.convergence.quarantine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.kv.Partitions;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds out whether this node may be believed, and sees to it that it may.
 * <p>
 * Nodes tell each other what they are. One that has lost its disk, or was away for too
 * long, is <b>in quarantine</b>: it stores what it is given and tells nobody what it
 * holds, until it has got everything from all others. From all, since one of the two that
 * acknowledged a write may be the one that lost it. Stores that it acknowledges meanwhile
 * count: they are on its disk when it is believed again.
 */
public final class Quarantine {

	private static final Logger logger = LoggerFactory.getLogger(Quarantine.class);

	/** While it is not believed. */
	private static final Duration HURRIED_INTERVAL = Duration.ofMillis(50);

	private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

	/** Slices that are rebuilt at a time. */
	private static final int PART = 64;

	private static final int PARTS = Partitions.SLICES / PART;

	private final NodeState roster;

	private final List<? extends Replica> others;

	private final Rebuilding rebuilding;

	private final TimeSource time;

	private final Alarms alarms;

	private final QuarantineSettings settings;

	private final BitSet rebuilt = new BitSet(PARTS);

	private final CountDownLatch believed = new CountDownLatch(1);

	/** Why those could not be met that had something to say, and when to try again. */
	private final Map<Member, Failure> failures = new ConcurrentHashMap<>();

	private long startedNanos;

	private volatile int partsDone;

	/** Partitions with entries that nobody could read the last time. */
	private SortedSet<Integer> missing = Collections.emptySortedSet();

	private long notedNanos;

	private long roundDueNanos;

	/**
	 * Of a node that has peers.
	 * @param others the replicas on the other members
	 */
	public Quarantine(NodeState roster, List<? extends Replica> others, Rebuilding rebuilding, TimeSource time,
			Alarms alarms, QuarantineSettings settings) {
		this.roster = roster;
		this.others = List.copyOf(others);
		this.rebuilding = rebuilding;
		this.time = time;
		this.alarms = alarms;
		this.settings = settings;
		roster.follow(this::isThere);
	}

	private boolean isThere(Member member) {
		return this.others.stream().anyMatch(other -> other.member().equals(member) && other.isThere());
	}

	/** Brings here what others have. */
	@FunctionalInterface
	public interface Rebuilding {

		/**
		 * Completes when this replica has everything in these slices that any of these
		 * members has and can read.
		 * @param staleBeforeMillis what none of them knows and has a version before this
		 * instant is let go
		 * @return the partitions with entries that are still missing here: those who have
		 * them cannot read them
		 */
		Mono<SortedSet<Integer>> rebuild(Collection<Member> from, List<Integer> slices, long staleBeforeMillis);

	}

	/** Counted down when this node is believed. */
	public CountDownLatch believed() {
		return this.believed;
	}

	/** For as long as it is subscribed to, once, with the store open. */
	public Flux<?> run() {
		return Flux.defer(() -> {
			this.startedNanos = this.time.nanos();
			this.notedNanos = this.startedNanos - this.settings.interval().toNanos();
			this.roundDueNanos = this.startedNanos;
			return rounds();
		});
	}

	private Flux<?> rounds() {
		return Mono.defer(() -> isDue() ? round() : Mono.empty())
			.onErrorResume(this::giveUp)
			.then(Mono.defer(() -> this.alarms.after((this.roster.withheldBecause() == null && hasMet(_ -> true))
					? this.settings.interval() : HURRIED_INTERVAL)))
			.repeat();
	}

	/**
	 * Those that it has met are met again now and then; one that comes back later may
	 * know that this disk is an old one, and is met at once.
	 */
	private boolean isDue() {
		long now = this.time.nanos();
		if (this.roster.withheldBecause() == null && hasMet(Replica::isThere) && now - this.roundDueNanos < 0) {
			return false;
		}
		this.roundDueNanos = now + this.settings.interval().toNanos();
		return true;
	}

	private boolean hasMet(Predicate<Replica> wanted) {
		return this.others.stream()
			.filter(wanted)
			.map(Replica::member)
			.allMatch(other -> this.roster.met(other) != null || this.roster.refuses(other));
	}

	private Mono<Void> giveUp(Throwable error) {
		logger.warn("Whether this node may be believed could not be found out, and will be tried again: {}",
				String.valueOf(error.getMessage()));
		if (this.roster.state().isToBeRebuilt()) {
			doubtRebuilt(String.valueOf(error.getMessage()));
		}
		return this.alarms.after(RETRY_DELAY).then();
	}

	private Mono<Void> round() {
		if (!this.roster.isLoaded()) {
			return this.roster.load();
		}
		if (this.settings.acceptLoss() && !this.roster.isMember()) {
			return this.roster.acceptLoss();
		}
		boolean wasMember = this.roster.isMember();
		return this.roster.noteBoot()
			.onErrorComplete()
			.then(meetAll())
			.then(Mono.defer(this.roster::decide))
			.then(Mono.defer(() -> {
				State state = this.roster.state();
				if (state.isToBeRebuilt() && !this.roster.isAbsenceUndecided()) {
					return rebuild();
				}
				// The others have had a chance to remember it, and to object.
				if (wasMember && this.roster.isMember() && mayBeBelieved()) {
					this.roster.believe();
					this.believed.countDown();
					return noteAlive();
				}
				if (!this.roster.isMember()) {
					this.roster.doubt("%s, and waits for what %s will say".formatted(
							this.roster.isAbsenceUndecided() ? State.AWAY_TOO_LONG.text() : state.text(),
							thoseWithoutAWord()));
				}
				return Mono.empty();
			}));
	}

	/** Once it is, it stays so: only what others remember may end that. */
	private boolean mayBeBelieved() {
		if (this.roster.withheldBecause() == null) {
			return true;
		}
		if (this.roster.hasTwin()) {
			this.roster.doubt(String.join("; ", this.roster.refused()));
			return false;
		}
		return hasMet(_ -> true) || hasWaited() || this.settings.acceptLoss();
	}

	/** For those that are away, or do not answer. */
	private boolean hasWaited() {
		return this.time.nanos() - this.startedNanos > 2 * this.settings.timeout().toNanos();
	}

	private Mono<Void> meetAll() {
		return Flux.fromIterable(this.others)
			.filter(other -> other.isThere() && !isToBeMetLater(other.member()))
			.flatMap(this::meet, Math.max(1, this.others.size()))
			.then();
	}

	private Mono<Void> meet(Replica other) {
		return Mono
			.defer(() -> other.ask(this.roster.introductionTo(other.member()).toQuery(),
					Deadline.after(this.time, this.settings.timeout())))
			.ofType(Answered.class)
			.flatMap(answered -> this.roster.meetAnswering(other.member(),
					Introduction.of(PeerQuery.of(answered.bytes()))))
			.doOnSuccess(_ -> this.failures.remove(other.member()))
			.onErrorResume(error -> {
				notMet(other.member(), String.valueOf(error.getMessage()));
				return Mono.empty();
			});
	}

	private boolean isToBeMetLater(Member other) {
		Failure failure = this.failures.get(other);
		return failure != null && this.time.nanos() - failure.dueNanos < 0;
	}

	/** That one alone: whatever it does, or the disk here, others are met. */
	private void notMet(Member other, String why) {
		Failure before = this.failures.put(other, new Failure(why, this.time.nanos() + RETRY_DELAY.toNanos()));
		if (before == null || !before.why.equals(why)) {
			logger.warn("{} could not be met, which is tried again: {}", other.address(), why);
		}
	}

	private record Failure(String why, long dueNanos) {
	}

	private List<String> thoseWithoutAWord() {
		boolean isRestored = this.roster.state() == State.RESTORED;
		return this.others.stream().map(Replica::member).filter(member -> {
			Introduction said = this.roster.met(member);
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
		return this.roster.noteAlive().onErrorResume(error -> {
			logger.warn("That this node is alive could not be noted, and will be tried again: {}",
					String.valueOf(error.getMessage()));
			return Mono.empty();
		});
	}

	/**
	 * From all others: members, and those that are new here, which may have acknowledged
	 * something since. One that was away too long has all that it acknowledged, and needs
	 * nobody else who is in quarantine. Those whose machines ended together are rebuilt
	 * from one another: what all their disks have is all that is left.
	 */
	private Mono<Void> rebuild() {
		boolean isIntact = this.roster.state() == State.AWAY_TOO_LONG;
		boolean isUnsynced = this.roster.state() == State.UNSYNCED;
		List<Member> sources = new ArrayList<>();
		List<String> missing = new ArrayList<>();
		for (Replica other : this.others) {
			Introduction said = this.roster.met(other.member());
			State state = (said != null) ? said.membership().state() : State.NEW;
			boolean isSource = state == State.MEMBER || state == State.NEWCOMER
					|| (isUnsynced && state == State.UNSYNCED);
			if (isSource && other.isThere()) {
				sources.add(other.member());
			}
			else if (!isIntact || !state.isToBeRebuilt()) {
				missing.add(other.member().address());
			}
		}
		if (!missing.isEmpty() || sources.isEmpty()) {
			this.roster.doubt("%s; to be rebuilt it waits for %s to be there and believed"
				.formatted(this.roster.state().text(), missing));
			return Mono.empty();
		}
		Duration wait = this.settings.settlingTime().minusNanos(this.time.nanos() - this.startedNanos);
		return wait.isPositive() ? this.alarms.after(wait).then() : rebuildFrom(sources);
	}

	private Mono<Void> rebuildFrom(List<Member> sources) {
		long stale = this.roster.state().mayHoldCollected() ? this.roster.staleBeforeMillis() : Long.MIN_VALUE;
		SortedSet<Integer> missing = new TreeSet<>();
		return Flux.range(0, PARTS)
			.filter(part -> !this.rebuilt.get(part))
			.concatMap(part -> this.rebuilding.rebuild(sources, slicesOf(part), stale)
				.doOnNext(left -> rebuilt(part, left, missing)), 1)
			.then(Mono.defer(() -> missing.isEmpty() ? rebuilt() : waitFor(missing)));
	}

	private Mono<Void> rebuilt() {
		return this.roster.become(State.MEMBER).then(Mono.fromRunnable(this.rebuilt::clear));
	}

	/** What nobody can read may be readable later, or be written again. */
	private Mono<Void> waitFor(SortedSet<Integer> missing) {
		doubtRebuilt("entries in the partitions %s cannot be read on the nodes that have them"
			.formatted(Partitions.describe(missing)));
		if (!missing.equals(this.missing)) {
			logger.warn("This node cannot be rebuilt wholly, and tries again every {} s: {}", RETRY_DELAY.toSeconds(),
					this.roster.withheldBecause());
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
		this.roster
			.doubt("%s; %d of %d parts are rebuilt".formatted(this.roster.state().text(), this.partsDone, PARTS));
	}

	/** Says why the other parts are not. */
	private void doubtRebuilt(String why) {
		this.roster.doubt(
				"%s; %d of %d parts are rebuilt: %s".formatted(this.roster.state().text(), this.partsDone, PARTS, why));
	}

	/** From any thread. */
	public QuarantineProgress progress() {
		String doubt = this.roster.withheldBecause();
		State state = this.roster.state();
		boolean rebuilding = state.isToBeRebuilt();
		return new QuarantineProgress(state.label(), (doubt != null) ? doubt : "", rebuilding ? PARTS : 0,
				rebuilding ? this.partsDone : 0, this.roster.refused());
	}

}
