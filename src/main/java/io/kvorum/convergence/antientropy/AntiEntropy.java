package io.kvorum.convergence.antientropy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.convergence.change.Changeover.Comparison;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.Pace;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Compares this replica with those of the other members and makes them equal: all slices
 * at an interval, and slices in need as soon as possible.
 * <p>
 * Each node begins its own repairs and keeps its own record of them, so no node has to
 * tell another that a repair has ended.
 * <p>
 * Works on the thread that subscribes to {@link #run()}.
 */
public final class AntiEntropy implements Comparison {

	private static final Logger logger = LoggerFactory.getLogger(AntiEntropy.class);

	/** Slices that are repaired at a time. */
	private static final int GROUP = 64;

	/**
	 * The wait before a repair with a peer that is back. A peer that has restarted begins
	 * a repair of its own at once.
	 */
	private static final Duration RETURN_DELAY = Duration.ofSeconds(3);

	private static final Duration MAX_RETRY_DELAY = Duration.ofSeconds(30);

	/**
	 * The time between two rounds for misplaced entries. Peers may give this node such
	 * entries at any time.
	 */
	private static final Duration MISPLACED_INTERVAL = Duration.ofSeconds(15);

	/** The slices that are rebuilt at a time where stale entries are looked for. */
	private static final int STALE_SLICES = 8;

	/** The stale entries that are removed at the same time: they share syncs. */
	private static final int REMOVED_AT_ONCE = 256;

	/** The time between two checks for slices in need. */
	private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

	private final Replica local;

	/** The replicas on all members, by the index of the member. */
	private final List<? extends Replica> replicas;

	private final PartitionIndex index;

	private final RendezvousPlacement placement;

	private final RepairLog log;

	private final Predicate<EntryHeader> isSettled;

	private final VotingRight votingRight;

	private final TimeSource time;

	private final Alarms alarms;

	private final RepairSettings settings;

	private final KeySettling settling;

	private final RepairEvents events;

	/**
	 * The other members, in their order. The log may already be of the next topology: a
	 * node that takes a layout changes it first.
	 */
	private final Map<Member, PeerRepairs> peers = new LinkedHashMap<>();

	private final MisplacedEntries misplaced;

	/** The number of repairs under way. */
	private final AtomicInteger active = new AtomicInteger();

	private long allDueNanos;

	private volatile long misplacedDueNanos;

	/**
	 * The anti-entropy of a node.
	 * @param replicas the replicas on all members, this one included, by their index
	 * @param isSettled selects tombstones so old that a replica with nothing of their key
	 * does not get them, since it would collect them again
	 */
	public AntiEntropy(Replica local, List<? extends Replica> replicas, PartitionIndex index,
			RendezvousPlacement placement, RepairLog log, Predicate<EntryHeader> isSettled, VotingRight votingRight,
			TimeSource time, Alarms alarms, RepairSettings settings, KeySettling settling, RepairEvents events) {
		this.local = local;
		this.replicas = List.copyOf(replicas);
		this.index = index;
		this.placement = placement;
		this.log = log;
		this.isSettled = isSettled;
		this.votingRight = votingRight;
		this.time = time;
		this.alarms = alarms;
		this.settings = settings;
		this.settling = settling;
		this.events = events;
		this.misplaced = new MisplacedEntries(local, replicas, index, placement, log, time, settings,
				new Pace(settings.bytesPerSecond(), time, alarms), settling, events);
		this.allDueNanos = time.nanos();
		this.misplacedDueNanos = this.allDueNanos;
		log.others()
			.forEach(member -> this.peers.put(member,
					new PeerRepairs(member, new Pace(settings.bytesPerSecond(), time, alarms))));
	}

	/** Repairs while subscribed to. To be subscribed to only once. */
	public Flux<?> run() {
		List<Flux<?>> loops = new ArrayList<>();
		loops.add(loop(this::compareAll));
		loops.add(loop(this::handOnMisplaced));
		this.peers.values().forEach(peer -> loops.add(loop(peer::repairIfDue)));
		return Flux.merge(loops);
	}

	/**
	 * Repeats a look at an interval. Each look has its own loop, so that a slow repair
	 * holds up no other peer.
	 */
	private Flux<?> loop(Supplier<Mono<Void>> look) {
		return Mono.defer(look).onErrorResume(error -> {
			logger.error("The search for slices in need of a repair met an unexpected error", error);
			return Mono.empty();
		}).then(Mono.defer(() -> this.alarms.after(LOOK_INTERVAL))).repeat();
	}

	private boolean mayRepair() {
		return this.votingRight.withheldBecause() == null && this.index.digests().isComplete();
	}

	private Mono<Void> compareAll() {
		long now = this.time.nanos();
		if (now - this.allDueNanos >= 0) {
			this.allDueNanos = now + this.settings.interval().toNanos();
			this.log.needAll();
		}
		return Mono.empty();
	}

	private Mono<Void> handOnMisplaced() {
		long now = this.time.nanos();
		if (now - this.misplacedDueNanos < 0 || !mayRepair()) {
			return Mono.empty();
		}
		this.misplacedDueNanos = now + MISPLACED_INTERVAL.toNanos();
		return this.misplaced.round().then();
	}

	/** Requests a comparison of everything as soon as possible. From any thread. */
	public void request() {
		this.log.needAll();
		this.peers.values().forEach(PeerRepairs::hurry);
		this.misplacedDueNanos = this.time.nanos();
	}

	@Override
	public void compareAnew(Member other) {
		this.log.mark(other);
		peerOf(other).cannotRead = false;
		peerOf(other).hurry();
	}

	@Override
	public boolean isComparedAnew(Member other) {
		return this.log.isCopiedSinceMark(other);
	}

	@Override
	public boolean cannotRead(Member other) {
		return peerOf(other).cannotRead;
	}

	/**
	 * The number of partitions with misplaced entries after the last round. From any
	 * thread.
	 */
	public int misplaced() {
		return this.misplaced.remaining();
	}

	/** The progress with each peer, in the order of the members. From any thread. */
	public List<RepairProgress> progress() {
		return this.peers.values().stream().map(PeerRepairs::progress).toList();
	}

	/**
	 * Whether no slice is in need of a repair, no repair is under way, and no entry is
	 * misplaced. From any thread.
	 */
	public boolean isConverged() {
		return this.log.needs() == 0 && this.misplaced.remaining() == 0
				&& this.peers.values().stream().noneMatch(peer -> peer.active);
	}

	private PeerRepairs peerOf(Member member) {
		PeerRepairs peer = this.peers.get(member);
		if (peer == null) {
			throw new IllegalArgumentException(member + " is no other member");
		}
		return peer;
	}

	private PairRepair repairWith(PeerRepairs peer, PairRepair.Manner manner) {
		return new PairRepair(this.local, peer.replica, this.index, this.placement, this.time, this.settings, peer.pace,
				manner, this.settling, this.events);
	}

	/**
	 * Copies what these members have and gives them nothing: for a replica in quarantine.
	 * Fails if one of them does not answer. An entry that one of them cannot read counts
	 * as copied if this replica has that version or a newer one afterwards. A partition
	 * whose entries cannot be listed, there or here, does not count as copied unless its
	 * digests are equal.
	 * @param slices the slices to rebuild
	 * @param staleBeforeMillis an entry from before this instant is removed if no other
	 * replica of its key knows it, and all these replicas are asked;
	 * {@link Long#MIN_VALUE} to keep all
	 * @param undoneBeforeMillis an entry from before this instant is removed if all other
	 * replicas that are to hold it have an older one, so that the next rebuild brings
	 * that; {@link Long#MIN_VALUE} to keep all
	 * @return the partitions with entries that could not be copied
	 */
	public Mono<SortedSet<Integer>> rebuild(Collection<Member> from, List<Integer> slices, long staleBeforeMillis,
			long undoneBeforeMillis) {
		if (!this.index.digests().isComplete()) {
			return this.alarms.after(LOOK_INTERVAL)
				.then(Mono.defer(() -> rebuild(from, slices, staleBeforeMillis, undoneBeforeMillis)));
		}
		// What is stale in them is in memory before it is removed.
		boolean keepsAll = staleBeforeMillis == Long.MIN_VALUE && undoneBeforeMillis == Long.MIN_VALUE;
		PairRepair.Manner manner = new PairRepair.Manner(false, _ -> false, _ -> false,
				header -> header.version().millis() < staleBeforeMillis,
				header -> header.version().millis() < undoneBeforeMillis);
		return Flux.fromIterable(slices)
			.buffer(keepsAll ? slices.size() : STALE_SLICES)
			.concatMap(some -> rebuildAtOnce(from, some, manner), 1)
			.reduce((one, other) -> {
				one.addAll(other);
				return one;
			});
	}

	private Mono<SortedSet<Integer>> rebuildAtOnce(Collection<Member> from, List<Integer> slices,
			PairRepair.Manner manner) {
		Map<Member, Set<EntryHeader>> alone = new ConcurrentHashMap<>();
		Set<EntryHeader> unreadable = new HashSet<>();
		Set<Integer> unlisted = new HashSet<>();
		if (!from.stream().allMatch(member -> peerOf(member).replica.isOfSameTopology())) {
			return Mono.error(() -> RepairFailedException.ofOtherTopology());
		}
		return Flux.fromIterable(from)
			.concatMap(member -> repairWith(peerOf(member), manner).repair(slices).doOnNext(result -> {
				alone.put(member, result.alone);
				unreadable.addAll(result.unreadable);
				unlisted.addAll(result.unlisted);
			}), 1)
			.then(Mono.defer(() -> removeStale(alone)))
			.then(Mono.defer(() -> lacking(unreadable)))
			.doOnNext(lacking -> lacking.addAll(unlisted));
	}

	/**
	 * The partitions in which this replica has neither one of these versions nor a newer
	 * one.
	 */
	private Mono<SortedSet<Integer>> lacking(Set<EntryHeader> headers) {
		Map<Integer, List<EntryHeader>> partitions = headers.stream().collect(Collectors.groupingBy(this::partitionOf));
		return Flux.fromIterable(partitions.entrySet())
			.filterWhen(partition -> this.index.headers(partition.getKey(), deadline())
				.map(here -> !hasAll(here, partition.getValue())), 1)
			.map(Map.Entry::getKey)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private Deadline deadline() {
		return this.settings.deadline(this.time, 0);
	}

	/**
	 * Selects the entries whose write may be under way at the instant of the question: a
	 * repair may take long. A version far ahead of the clock is none: replicas refuse
	 * those.
	 * @param settlingTime by which a write has ended
	 */
	static Predicate<EntryHeader> underWay(TimeSource time, Duration settlingTime) {
		return header -> {
			long age = time.millis() - header.version().millis();
			return age < settlingTime.toMillis() && age >= -HybridLogicalClock.MAX_LEAD_MILLIS;
		};
	}

	private static boolean hasAll(List<EntryHeader> here, List<EntryHeader> wanted) {
		Map<Key, Version> versions = here.stream().collect(Collectors.toMap(EntryHeader::key, EntryHeader::version));
		return wanted.stream()
			.noneMatch(header -> header.version().isNewerThan(versions.getOrDefault(header.key(), Version.ABSENT)));
	}

	private int partitionOf(EntryHeader header) {
		return Partitions.ofHash(this.index.keyHash().of(header.key()));
	}

	/** Removes the entries that none of the other replicas that are to hold them has. */
	private Mono<Void> removeStale(Map<Member, Set<EntryHeader>> alone) {
		Set<EntryHeader> candidates = new HashSet<>();
		alone.values().forEach(candidates::addAll);
		return Flux.fromIterable(candidates)
			.filter(header -> holdersOf(header).stream()
				.allMatch(member -> alone.getOrDefault(member, Set.of()).contains(header)))
			.flatMap(header -> this.index.remove(header.key(), header.version()), REMOVED_AT_ONCE)
			.filter(Boolean::booleanValue)
			.count()
			.doOnNext(count -> this.events.letGo(count.intValue()))
			.then();
	}

	private List<Member> holdersOf(EntryHeader header) {
		return this.placement.replicasOf(partitionOf(header), this.placement.copiesOf(header.copies()))
			.stream()
			.filter(member -> !member.equals(this.local.member()))
			.toList();
	}

	/** The repairs with one other member: what there is to do, and how it went. */
	private final class PeerRepairs {

		private final Member member;

		private final Replica replica;

		private final Pace pace;

		private volatile boolean active;

		/**
		 * The instant before which no repair begins: a repair has failed, or the peer is
		 * just back.
		 */
		private volatile long dueNanos;

		private Duration delay;

		private volatile int slicesToDo;

		private final AtomicInteger slicesDone = new AtomicInteger();

		private volatile long startedMillis;

		private volatile long finishedMillis;

		private volatile String trouble = "";

		/** Whether entries could not be read since everything was last compared anew. */
		private volatile boolean cannotRead;

		PeerRepairs(Member member, Pace pace) {
			this.member = member;
			this.replica = AntiEntropy.this.replicas.get(member.index());
			this.pace = pace;
			this.dueNanos = AntiEntropy.this.time.nanos();
			this.delay = AntiEntropy.this.settings.retryDelay();
		}

		Mono<Void> repairIfDue() {
			long now = AntiEntropy.this.time.nanos();
			if (!this.replica.isThere()) {
				this.dueNanos = now + RETURN_DELAY.toNanos();
			}
			boolean due = now - this.dueNanos >= 0 && this.replica.isOfSameTopology()
					&& AntiEntropy.this.log.isInNeed(this.member) && mayRepair()
					&& AntiEntropy.this.active.get() < AntiEntropy.this.settings.concurrency();
			return due ? repair() : Mono.empty();
		}

		void hurry() {
			this.dueNanos = AntiEntropy.this.time.nanos();
		}

		RepairProgress progress() {
			return new RepairProgress(this.member, this.active, this.slicesToDo, this.slicesDone.get(),
					this.startedMillis, this.finishedMillis, AntiEntropy.this.log.oldestRepair(this.member),
					this.trouble);
		}

		private Mono<Void> repair() {
			return Mono.using(this::begin, Run::run, Run::end);
		}

		private Run begin() {
			// Set before the needs are taken, so that slices under repair never look
			// equal.
			this.active = true;
			AntiEntropy.this.active.incrementAndGet();
			return new Run(this, AntiEntropy.this.log.takeNeeds(this.member));
		}

		/** Notes a repair that left nothing, or only what cannot be repaired now. */
		private void succeeded(boolean complete, SortedSet<Integer> unreadable) {
			if (complete) {
				this.delay = AntiEntropy.this.settings.retryDelay();
			}
			else {
				delay();
			}
			this.cannotRead = !unreadable.isEmpty();
			if (!unreadable.isEmpty()) {
				String why = "entries cannot be read, there or here, or moved in time, in the partitions "
						+ Partitions.describe(unreadable);
				if (this.trouble.isEmpty()) {
					logger.atWarn()
						.addKeyValue("peer", this.member.address())
						.addKeyValue("partition", Partitions.describe(unreadable))
						.addKeyValue("reason", "unreadable")
						.log("A repair with {} could not make both equal: {}", this.member.address(), why);
				}
				this.trouble = why;
				return;
			}
			if (!this.trouble.isEmpty()) {
				logger.atInfo()
					.addKeyValue("peer", this.member.address())
					.log("Repairs with {} succeed again", this.member.address());
			}
			this.trouble = "";
		}

		private void failed(Throwable error) {
			String why = String.valueOf(error.getMessage());
			boolean isPassing = error instanceof RepairFailedException failure && failure.isPassing();
			boolean isExpected = error instanceof RepairFailedException || error instanceof StorageException;
			if (!isExpected) {
				logger.atError()
					.addKeyValue("peer", this.member.address())
					.setCause(error)
					.log("A repair with {} met an unexpected error", this.member.address());
			}
			else if (!isPassing && this.trouble.isEmpty()) {
				logger.atWarn()
					.addKeyValue("peer", this.member.address())
					.addKeyValue("reason", "given-up")
					.log("A repair with {} was given up and will be tried again: {}", this.member.address(), why);
			}
			this.cannotRead |= error instanceof RepairFailedException failure && failure.isUnreadable();
			this.trouble = isPassing ? "" : isExpected ? why : "an unexpected error, see the log";
			if (isPassing) {
				this.delay = AntiEntropy.this.settings.retryDelay();
			}
			delay();
		}

		private void delay() {
			this.dueNanos = AntiEntropy.this.time.nanos() + this.delay.toNanos();
			if (this.delay.compareTo(MAX_RETRY_DELAY) < 0) {
				this.delay = this.delay.multipliedBy(2);
			}
		}

	}

	/** A repair with one other member, of all slices that were in need. */
	private final class Run {

		private final PeerRepairs peer;

		/** Slices that are not yet known to be equal. */
		private final BitSet open;

		private final long beganMillis = AntiEntropy.this.time.millis();

		private final long beganNanos = AntiEntropy.this.time.nanos();

		private final PairRepair repair;

		/** Partitions with entries that could not be read. */
		private final SortedSet<Integer> unreadable = new TreeSet<>();

		Run(PeerRepairs peer, BitSet wanted) {
			this.peer = peer;
			this.open = wanted;
			// In a change of the topology each node gets what it is to hold by repairs of
			// its own. What is new on a node would come from several others at once. It
			// gets all tombstones: those that have them may leave, and one was kept if
			// another node may still have what it hides.
			boolean isChanging = AntiEntropy.this.log.isChanging();
			this.repair = repairWith(peer,
					new PairRepair.Manner(!isChanging,
							underWay(AntiEntropy.this.time, AntiEntropy.this.settings.settlingTime()),
							isChanging ? _ -> false : AntiEntropy.this.isSettled, _ -> false, _ -> false));
		}

		Mono<Void> run() {
			this.peer.startedMillis = this.beganMillis;
			this.peer.slicesToDo = this.open.cardinality();
			this.peer.slicesDone.set(0);
			return this.repair.differing().flatMap(differing -> {
				BitSet equal = (BitSet) this.open.clone();
				equal.andNot(differing);
				done(equal, equal);
				List<Integer> unequal = this.open.stream().boxed().toList();
				return Flux.fromIterable(groupsOf(unequal)).concatMap(this::repairGroup, 1).then();
			})
				.then(Mono.fromRunnable(() -> this.peer.succeeded(this.open.isEmpty(), this.unreadable)))
				.then()
				.onErrorResume(error -> {
					this.peer.failed(error);
					return Mono.empty();
				})
				.then(Mono.defer(() -> (this.peer.slicesDone.get() > 0) ? AntiEntropy.this.log.save(this.peer.member)
						: Mono.empty()))
				.onErrorResume(error -> {
					logger.warn("A repair could not be recorded: {}", error.getMessage());
					return Mono.empty();
				});
		}

		private static List<List<Integer>> groupsOf(List<Integer> slices) {
			List<List<Integer>> groups = new ArrayList<>();
			for (int from = 0; from < slices.size(); from += GROUP) {
				groups.add(slices.subList(from, Math.min(from + GROUP, slices.size())));
			}
			return groups;
		}

		private Mono<Void> repairGroup(List<Integer> slices) {
			String doubt = AntiEntropy.this.votingRight.withheldBecause();
			if (doubt != null) {
				return Mono.error(RepairFailedException.withheld(doubt));
			}
			return this.repair.repair(slices).doOnNext(result -> {
				result.unreadable.forEach(header -> this.unreadable.add(partitionOf(header)));
				this.unreadable.addAll(result.unlisted);
				done(sliceSet(slices, result.unsettled), sliceSet(slices, result.lacking));
			}).then();
		}

		private static BitSet sliceSet(List<Integer> slices, Set<Integer> without) {
			BitSet set = new BitSet(Partitions.SLICES);
			slices.stream().filter(slice -> !without.contains(slice)).forEach(set::set);
			return set;
		}

		/**
		 * Notes slices that are equal, and all those of which this node has what the peer
		 * had.
		 */
		private void done(BitSet equal, BitSet copied) {
			AntiEntropy.this.log.repaired(this.peer.member, equal, this.beganMillis);
			AntiEntropy.this.log.copied(this.peer.member, copied);
			this.open.andNot(equal);
			this.peer.slicesDone.addAndGet(equal.cardinality());
		}

		private void end() {
			AntiEntropy.this.log.need(this.peer.member, this.open);
			this.peer.finishedMillis = AntiEntropy.this.time.millis();
			AntiEntropy.this.misplacedDueNanos = AntiEntropy.this.time.nanos();
			this.peer.active = false;
			AntiEntropy.this.active.decrementAndGet();
			AntiEntropy.this.events.ended(this.peer.member, this.open.isEmpty(),
					AntiEntropy.this.time.nanos() - this.beganNanos);
		}

	}

}
