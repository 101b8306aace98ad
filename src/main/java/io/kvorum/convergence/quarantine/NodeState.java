package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.StoreOpenException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The state of this node over restarts, and its right to vote. It answers introductions
 * as soon as the state is read. It answers other queries while this node may vote, or
 * while others may be rebuilt from it.
 * <p>
 * Thread-safe: any thread reads the state and brings introductions; {@link Quarantine}
 * decides.
 */
public final class NodeState implements VotingRight, PeerQueries {

	private static final Logger logger = LoggerFactory.getLogger(NodeState.class);

	static final String MEMBERSHIP = "membership";

	static final String ALIVE = "alive";

	static final String ADDRESS = "address";

	static final String BOOT = "boot";

	/** The time after which a member that is alive has noted that, even if it is slow. */
	private static final Duration NOTED_WITHIN = Duration.ofMinutes(1);

	/** The record of the name of the cluster that this node has begun with others. */
	static final String CLUSTER = "cluster";

	/** The record of the nodes among which this one was a member last. */
	static final String NODES = "nodes";

	private final NodeRecord record;

	private final TimeSource time;

	private final Duration mostAway;

	private final SystemBoot boot;

	private final KnownPeers peers;

	private final AtomicBoolean hasMetNamesake = new AtomicBoolean();

	private volatile Topology topology;

	private volatile Member self;

	/** Answers all queries but introductions. */
	private volatile PeerQueries queries;

	private volatile Runnable whenRestarted = () -> {
	};

	private volatile Predicate<Member> isBehind = _ -> false;

	private volatile Membership own = Membership.NEW;

	/**
	 * The end of the last life as a member, as it was on disk at the start. Replaced when
	 * this node becomes a member.
	 */
	private volatile Alive lastLife = Alive.NEVER;

	/** The record on disk now. */
	private volatile Alive noted = Alive.NEVER;

	/**
	 * The start of this life by the clock as it is now. It moves back if the clock is set
	 * back.
	 */
	private volatile long startedMillis;

	/** Whether a peer has shown that this disk is a stale one. */
	private volatile boolean isFoundStale;

	private volatile boolean isAbsenceUndecided;

	private volatile boolean isLoaded;

	/** Whether this node was no member before its start. */
	private volatile boolean isNewHere;

	/** Whether the last life may have acknowledged something that is not on disk. */
	private volatile boolean mayHaveLost;

	private volatile @Nullable String withheldBecause;

	/**
	 * The state of a node.
	 * @param queries answers all queries but introductions
	 * @param mostAway the longest absence after which a node may vote without a rebuild
	 * @param boot the run of the operating system
	 */
	public NodeState(Topology topology, Member self, NodeRecord record, PeerQueries queries, TimeSource time,
			Duration mostAway, SystemBoot boot) {
		this.topology = topology;
		this.self = self;
		this.record = record;
		this.queries = queries;
		this.time = time;
		this.mostAway = mostAway;
		this.boot = boot;
		this.peers = new KnownPeers(topology, self, record);
		withhold("it has just started");
	}

	/**
	 * Changes the nodes. This node keeps what it is, and what it knows of those that
	 * stay.
	 * @param queries answers all queries but introductions
	 */
	public void become(Topology next, Member self, PeerQueries queries) {
		this.topology = next;
		this.self = self;
		this.queries = queries;
		this.peers.become(next, self);
	}

	/**
	 * Forgets the disks of nodes that do not stay. To be completed before this node takes
	 * the topology: from then on a new node that loses its disk has lost something.
	 */
	public Mono<Void> forgetOthers(Topology next) {
		return this.peers.forget(next);
	}

	/**
	 * Records that the store belongs to this node, with the store open and before any
	 * peer can ask. With the directory of another node this one would report what that
	 * node acknowledged, and assign the same versions.
	 * @param accepted whether the store of another address is taken, because the address
	 * of this node has changed
	 * @param last the nodes as the store has them; null if it has none
	 * @throws StoreOpenException if it is the store of another address, and that is not
	 * accepted, or this address is none of its nodes
	 */
	public Mono<Void> claim(boolean accepted, @Nullable Topology last) {
		byte[] recorded = this.record.recorded(ADDRESS);
		byte[] own = this.self.address().getBytes(StandardCharsets.UTF_8);
		if (Arrays.equals(recorded, own)) {
			return Mono.empty();
		}
		if (recorded != null) {
			String other = new String(recorded, StandardCharsets.UTF_8);
			if (!accepted) {
				throw new StoreOpenException(
						"The store is that of the node %s, and this node is %s.".formatted(other, this.self.address()),
						("Give this node its own directory, or an empty one. If the address of the node has changed "
								+ "and %s does not run with this store any more, start it once with "
								+ "kvorum.cluster.accept-address=true.")
							.formatted(other));
			}
			if (last != null && !last.has(this.self)) {
				throw new StoreOpenException(
						"The store is that of the node %s of %s, and this node is %s, which is none of these."
							.formatted(other, last, this.self.address()),
						"Since these nodes have changed, another address is one node added and one removed: start this one with the address that it had.");
			}
			logger.warn("The store of {} is accepted as that of {}, by kvorum.cluster.accept-address", other,
					this.self.address());
		}
		return this.record.record(ADDRESS, own);
	}

	/**
	 * Reads what this node was, with the store open and before any peer can ask or store.
	 * A node without a record is recorded as new at once. Otherwise a node with an empty
	 * disk that stops before its state is decided would start as a member.
	 */
	public Mono<Void> load() {
		return Mono.defer(() -> {
			byte[] recorded = this.record.recorded(MEMBERSHIP);
			// Versions of Kvorum that did not record it had members only.
			Membership before = (recorded != null) ? Membership.of(recorded)
					: this.record.isNew() ? Membership.NEW : new Membership(State.MEMBER, 1);
			this.mayHaveLost = mayHaveLost();
			this.own = this.mayHaveLost ? before.unsynced() : before;
			this.isNewHere = before.state() == State.NEW || before.state() == State.READY
					|| before.state() == State.NEWCOMER;
			this.lastLife = Alive.of(this.record.recorded(ALIVE));
			this.noted = this.lastLife;
			this.startedMillis = this.time.millis();
			this.isAbsenceUndecided = rule().mayHaveBeenAwayTooLong(this.startedMillis);
			this.isLoaded = true;
			if (!this.own.equals(before)) {
				warnOfQuarantine(this.own.state());
			}
			return recordMembership().then(Mono.defer(this::noteBoot));
		});
	}

	private boolean mayHaveLost() {
		byte[] recorded = this.record.recorded(BOOT);
		return recorded != null && this.boot.mayHaveLost(recorded);
	}

	boolean isLoaded() {
		return this.isLoaded;
	}

	/** Whether this node was no member before its start. */
	boolean isNewHere() {
		return this.isNewHere;
	}

	/** Records in which run of the operating system this node acknowledges writes. */
	Mono<Void> noteBoot() {
		return recordBoot(this.boot.begun());
	}

	/**
	 * Records that all that was acknowledged is on disk. Called when nothing is
	 * acknowledged any more. The log is one sequence, so this record is on disk only if
	 * all writes before it are.
	 */
	public Mono<Void> noteStop() {
		return Mono.defer(() -> this.isLoaded ? recordBoot(SystemBoot.ended()) : Mono.empty());
	}

	/**
	 * Records the boot, and before it the membership in case that has failed. Until the
	 * membership is on disk, the old boot may be all that tells of a loss.
	 */
	private Mono<Void> recordBoot(byte[] next) {
		if (this.mayHaveLost && this.own.state() == State.NEW) {
			// The old boot tells of the loss until the state that follows NEW does.
			return Mono.empty();
		}
		byte[] recorded = this.record.recorded(BOOT);
		return Arrays.equals(next, (recorded != null) ? recorded : SystemBoot.ended()) ? Mono.empty()
				: recordMembership().then(Mono.defer(() -> this.record.record(BOOT, next)));
	}

	private Mono<Void> recordMembership() {
		byte[] own = this.own.toBytes();
		return Arrays.equals(own, this.record.recorded(MEMBERSHIP)) ? Mono.empty()
				: this.record.record(MEMBERSHIP, own);
	}

	/** Records that this node is alive and a member, and of which nodes. */
	Mono<Void> noteAlive() {
		Alive now = this.noted.at(this.time.millis());
		return this.record.record(ALIVE, now.toBytes()).then(Mono.fromRunnable(() -> {
			this.noted = now;
			this.startedMillis = Math.min(this.startedMillis, now.lastMillis());
		})).then(Mono.defer(() -> recordNodes(this.record, this.topology)));
	}

	private static Mono<Void> recordNodes(NodeRecord record, Topology topology) {
		byte[] nodes = new Layout(0, topology).toText().getBytes(StandardCharsets.UTF_8);
		return Arrays.equals(nodes, record.recorded(NODES)) ? Mono.empty() : record.record(NODES, nodes);
	}

	/**
	 * Refuses the store of a member to a node that would go on without a majority of the
	 * others. It lacks what a majority without it has acknowledged, and would answer as
	 * if there were no such thing. Completes when it is recorded that the store is taken.
	 * @param begins the nodes with which this one begins
	 * @param haveMoved whether nodes may have other addresses than they had
	 * @param accepted whether the store is taken all the same
	 * @throws StoreOpenException if it is such a store, and that is not accepted
	 */
	public static Mono<Void> claimWithoutOthers(NodeRecord record, Topology begins, boolean haveMoved,
			boolean accepted) {
		Topology last = lastNodesIn(record);
		if (last == null || last.factor() == 1) {
			return Mono.empty();
		}
		long left = last.members().stream().filter(member -> begins.has(member.address())).count();
		if (begins.factor() > 1 && (haveMoved || 2 * left > last.size())) {
			return Mono.empty();
		}
		if (!accepted) {
			throw new StoreOpenException(
					"The store is that of a member of %s, and with this configuration the node would go on without a majority of these."
						.formatted(last),
					"Set kvorum.cluster.self, kvorum.cluster.nodes and kvorum.replication.factor as they were. If the other nodes are "
							+ "lost for good, start this one once with kvorum.cluster.accept-loss=true: what only they had acknowledged is lost.");
		}
		logger.warn("The store of a member of {} is accepted in a node that goes on without a majority of these, by "
				+ "kvorum.cluster.accept-loss. Do not start it with them again", last);
		return recordNodes(record, begins);
	}

	/** The nodes among which this one was a member last; null if it was none. */
	private static @Nullable Topology lastNodesIn(NodeRecord record) {
		byte[] recorded = record.recorded(NODES);
		if (recorded == null) {
			return null;
		}
		try {
			return Layout.parse(new String(recorded, StandardCharsets.UTF_8)).topology();
		}
		catch (IllegalArgumentException ex) {
			throw new StoreOpenException("What the store says of its nodes cannot be read: " + ex.getMessage(),
					"Start the version of Kvorum again that has written it.", ex);
		}
	}

	private AdmissionRule rule() {
		return new AdmissionRule(this.own, this.record.identity(), this.lastLife.lastMillis(),
				(int) this.topology.members().stream().filter(this::isDecisive).count(), this.mostAway.toMillis(),
				isAdded());
	}

	/** Whether a change of the topology is adding this node. */
	boolean isAdded() {
		return this.topology.isChanging() && !this.topology.parts().getFirst().has(this.self);
	}

	private Topology after() {
		return this.topology.parts().getLast();
	}

	/** The last introductions that decide what this node is. */
	private Collection<Introduction> received() {
		return this.peers.introductions(this::isDecisive);
	}

	/**
	 * Whether the introduction of another node decides what this node is. While this node
	 * is being added, a node that leaves may be dead, and one that is not in the change
	 * yet does not know this node. One with a later layout may know that this node has
	 * lost its disk: it has to be heard, and is once this node has that layout too.
	 */
	private boolean isDecisive(Member other) {
		return !other.equals(this.self) && (!isAdded() || (after().has(other) && !this.isBehind.test(other)));
	}

	/**
	 * Whether this node needs what another one has to have again all that it has
	 * acknowledged. The vote of a node that is being added counts in the topology after
	 * the change only, and what a majority of that has acknowledged another one of it has
	 * as well. A node that leaves may be dead. If this one may hold what others have
	 * collected, all of them have to be asked to find that.
	 */
	boolean isNeeded(Member other) {
		return !isAdded() || after().has(other) || this.own.state().mayHoldCollected();
	}

	/** Sets the test of which other members are there with an earlier layout. */
	void tellLayoutsWith(Predicate<Member> isBehind) {
		this.isBehind = isBehind;
	}

	State state() {
		return this.own.state();
	}

	KnownPeers peers() {
		return this.peers;
	}

	/**
	 * The instant before which a version was here in the last life already. It lies half
	 * of the longest absence after the noted end of that life, or as long before this
	 * start if that is earlier.
	 */
	long staleBeforeMillis() {
		long margin = this.mostAway.toMillis() / 2;
		return Math.min(this.lastLife.lastMillis() + margin, this.startedMillis - margin);
	}

	/**
	 * Entries with versions before this instant were already on a stale disk. Such a disk
	 * drops an entry if all other replicas of its key have older versions. A write that a
	 * majority acknowledged is on one of them, so the dropped entry may have been undone
	 * by a restore.
	 * <p>
	 * The instant is the end of this node's last life as a member, which a restart in
	 * quarantine does not move, plus {@link #NOTED_WITHIN}. It is at most the start of
	 * this process, since when the node refuses to store older versions.
	 */
	long undoneBeforeMillis() {
		return Math.min(this.startedMillis, this.lastLife.latestMillis() + NOTED_WITHIN.toMillis());
	}

	/** Whether this node is a member whose last life did not end too long ago. */
	public boolean isMember() {
		return this.own.isMember() && !this.isAbsenceUndecided;
	}

	/** Whether another node has said that it is a member. */
	public boolean isMember(Member other) {
		Introduction said = this.peers.introductionOf(other);
		return said != null && said.membership().isMember();
	}

	/** Whether another node has said that it is to be rebuilt. */
	public boolean isToBeRebuilt(Member other) {
		Introduction said = this.peers.introductionOf(other);
		return said != null && said.membership().state().isToBeRebuilt();
	}

	/** Whether this node may have been away for too long, which is not decided yet. */
	boolean isAbsenceUndecided() {
		return this.isAbsenceUndecided;
	}

	/**
	 * Sets the task to run when a peer may have restarted, before that peer may vote. The
	 * peer may have lost hints that it kept for other nodes, and none of those knows.
	 */
	public void whenRestarted(Runnable task) {
		this.whenRestarted = task;
	}

	@Override
	public @Nullable String withheldBecause() {
		return this.withheldBecause;
	}

	/**
	 * While this disk may have lost promises, writes are refused that were stamped before
	 * this start: one of those promises may have been to refuse them. A disk that was
	 * away for too long has them all. Until the state is read, any disk counts as one.
	 */
	@Override
	public Version floor() {
		State state = this.own.state();
		boolean hasPromises = mayVote()
				|| (!this.isFoundStale && (state == State.MEMBER || state == State.AWAY_TOO_LONG));
		if (hasPromises) {
			return Version.ABSENT;
		}
		long startedMillis = this.isLoaded ? this.startedMillis : this.time.millis();
		return new Version(Version.lastTimestampOf(startedMillis + HybridLogicalClock.MAX_LEAD_MILLIS), -1);
	}

	boolean mayVote() {
		return this.withheldBecause == null;
	}

	void withhold(String why) {
		this.withheldBecause = this.self.address() + " does not vote: " + why;
	}

	void grant() {
		this.withheldBecause = null;
		if (this.isFoundStale) {
			// A peer has shown meanwhile that the disk is stale.
			withhold(State.STALE_DISK.text());
		}
	}

	/**
	 * Introduces this node to another member.
	 * @param knowsTags whether that knows nodes by their tags, whatever its topology is
	 */
	Introduction introductionTo(Member other, boolean knowsTags) {
		return introductionTo(other, knowsTags, this.peers.identityOf(other));
	}

	private Introduction introductionTo(Member other, boolean knowsTags, long identity) {
		boolean mayVote = mayVote();
		return this.peers.introductionTo(other, knowsTags ? this.self.tag() : this.self.index(), this.own,
				(mayVote ? this.noted : this.lastLife).lastMillis(), mayVote, identity);
	}

	/**
	 * Receives the answer to an introduction: the peer knows that this node has started.
	 */
	Mono<Void> receiveAnswer(Member other, Introduction introduction) {
		this.peers.knowsOfStart(other);
		return receive(other, introduction);
	}

	/**
	 * Receives an introduction. If it shows that this disk is stale, this node may not
	 * vote from now on. The introduction counts as received when the disk in it is
	 * remembered.
	 */
	Mono<Void> receive(Member other, Introduction introduction) {
		if (this.peers.refuse(other, introduction)) {
			return Mono.empty();
		}
		boolean isFirst = this.peers.take(other, introduction);
		if (!isFirst && introduction.mayHaveRestarted()) {
			this.whenRestarted.run();
		}
		AdmissionRule rule = rule();
		boolean wasSeenAfter = rule.wasSeenAfter(this.lastLife.latestMillis(), introduction);
		boolean sawLaterLife = isFirst && wasSeenAfter
				&& this.peers.sawEarlierLife(other, introduction, this.startedMillis);
		if (rule.remembersALaterDisk(introduction) || sawLaterLife
				|| rule.remembersLaterLife(this.lastLife.latestMillis(), this.startedMillis, introduction)) {
			this.isFoundStale = true;
			withhold(State.STALE_DISK.text());
		}
		else if (wasSeenAfter && !this.isFoundStale) {
			// The peer repeats an instant of this life, so it knows of the start.
			this.peers.knowsOfStart(other);
		}
		return this.peers.remember(other, introduction, rule);
	}

	@Override
	public Mono<Reply> answer(PeerQuery query, Deadline deadline) {
		if (query.kind() == PeerQuery.Kind.INTRODUCTION) {
			return answerIntroduction(query);
		}
		String why = this.withheldBecause;
		if (why != null && !isSource()) {
			return Mono.just(Failed.notDone(Reason.REBUILDING, why));
		}
		return this.queries.answer(query, deadline);
	}

	/**
	 * Whether others may be rebuilt from this node although it may not vote. A newcomer
	 * may have acknowledged what they lack. An unsynced node may have the only remaining
	 * copy of a write.
	 */
	private boolean isSource() {
		return this.own.state() == State.NEWCOMER
				|| (this.own.state() == State.UNSYNCED && !this.isAbsenceUndecided && !this.isFoundStale);
	}

	private Mono<Reply> answerIntroduction(PeerQuery query) {
		if (!this.isLoaded) {
			return Mono.just(Failed.notDone(Reason.UNAVAILABLE, "it has not read yet what it is"));
		}
		Introduction introduction;
		Member other;
		try {
			introduction = Introduction.of(query);
			other = this.topology.memberOf(introduction.member());
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "introduced to what makes no sense: " + ex.getMessage()));
		}
		if (other.equals(this.self)) {
			return Mono.just(refuseNamesake());
		}
		// Made from what was known of the peer before this introduction.
		byte[] answer = introductionTo(other, introduction.member() < 0, introduction.identity()).toQuery().toBytes();
		return receive(other, introduction).then(Mono.<Reply>fromSupplier(() -> new Answered(answer)))
			.onErrorResume(ex -> Mono
				.just(Failed.notDone(Reason.UNAVAILABLE, "it cannot remember who that is: " + ex.getMessage())));
	}

	/**
	 * Refuses an introduction in the name of this node. It must not count as one of the
	 * others, which decide whether this node may vote.
	 */
	private Failed refuseNamesake() {
		String address = this.self.address();
		if (this.hasMetNamesake.compareAndSet(false, true)) {
			logger.error("Another process claims to be this node, {}. Stop the one whose kvorum.cluster.self is "
					+ "wrong, and correct it", address);
		}
		return Failed.notDone(Reason.REFUSED,
				"this is %s, and so says the node that introduces itself".formatted(address));
	}

	/** Decides what this node is, by what is known now. */
	Mono<Void> decide() {
		if (this.isFoundStale) {
			this.isAbsenceUndecided = false;
			return become(State.STALE_DISK);
		}
		if (!this.isAbsenceUndecided) {
			AdmissionRule rule = rule();
			State state = rule.decide(received());
			if (state == State.REUNITED && state != this.own.state() && rule.isTooOld(received())) {
				logger.warn("The backup of this node is older than another node's by more than kvorum.gc-grace allows, "
						+ "and a third backup is too old or missing as well: values deleted since may come back");
			}
			return become((state == State.READY && this.mayHaveLost) ? State.UNSYNCED : state);
		}
		State state = rule().decideAbsence(this.peers.firstIntroductions());
		if (state == State.NEW) {
			return Mono.empty();
		}
		this.isAbsenceUndecided = false;
		return become(state);
	}

	/** Makes this node a member, whatever its state is. */
	Mono<Void> acceptLoss() {
		if (isMember()) {
			return Mono.empty();
		}
		logger.warn("This node is accepted as it is, by kvorum.cluster.accept-loss, though {}. What only it "
				+ "had acknowledged and its disk lacks is lost", this.own.state().text());
		this.isAbsenceUndecided = false;
		return become(State.MEMBER);
	}

	/**
	 * Takes this disk for an older one than that with which this node last was a member.
	 * Completes when that is recorded. What is being decided at this moment, as that a
	 * cluster of one is new, does not count any more.
	 */
	public Mono<Void> becomeStale() {
		return Mono.defer(() -> {
			this.isFoundStale = true;
			withhold(State.STALE_DISK.text());
			return become(State.STALE_DISK);
		});
	}

	/** Records a state of this node, and then changes to it. */
	Mono<Void> become(State state) {
		Membership before = this.own;
		if (state == before.state()) {
			return Mono.empty();
		}
		// A peer may show that the disk is stale while this is recorded.
		boolean wasFoundStale = this.isFoundStale;
		Membership next = new Membership(state, (state == State.MEMBER) ? admissionMillis() : before.admittedMillis());
		// Both before the node is a member. From then on it may take no layout of another
		// cluster, and the end of its last life must not count any more.
		boolean begins = before.state() == State.READY
				|| (before.state() == State.REUNITED && clusterName() == Layout.UNKNOWN);
		Mono<Void> named = (state == State.MEMBER && begins && !isAdded()) ? nameCluster(nameOfNewCluster())
				: Mono.empty();
		Mono<Void> noted = (state == State.MEMBER) ? Mono.defer(this::noteAlive) : Mono.empty();
		return named.then(noted)
			.then(Mono.defer(() -> this.record.record(MEMBERSHIP, next.toBytes())))
			.then(Mono.fromRunnable(() -> {
				this.own = next;
				if (state == State.MEMBER) {
					this.lastLife = this.noted;
					if (wasFoundStale) {
						this.isFoundStale = false;
					}
				}
				if (state.isToBeRebuilt()) {
					withhold(state.text());
					warnOfQuarantine(state);
				}
				else {
					logger.info("This node is now known to be in order: {}", state.text());
				}
			}));
	}

	/**
	 * The name of the cluster that this node begins: the identity of the disk that the
	 * first of the nodes has. If all disks are lost, or emptied, the same nodes begin
	 * another cluster. A cluster of one is named by its list, which tells of no other
	 * node that could remember its disk.
	 */
	private long nameOfNewCluster() {
		Member first = this.topology.members().getFirst();
		if (this.topology.size() == 1) {
			return this.topology.fingerprint();
		}
		if (first.equals(this.self)) {
			return this.record.identity();
		}
		Introduction said = this.peers.introductionOf(first);
		// One that is to be rebuilt had another disk then.
		return (said == null || said.membership().state().isToBeRebuilt()) ? Layout.UNKNOWN : said.identity();
	}

	/**
	 * The name of the cluster in which this node has begun; {@link Layout#UNKNOWN} if it
	 * has none yet.
	 */
	public long clusterName() {
		byte[] recorded = this.record.recorded(CLUSTER);
		return (recorded != null) ? ByteBuffer.wrap(recorded).getLong() : Layout.UNKNOWN;
	}

	/** Records the name of the cluster, unless that is unknown. */
	public Mono<Void> nameCluster(long name) {
		return (name == Layout.UNKNOWN) ? Mono.empty()
				: this.record.record(CLUSTER, ByteBuffer.allocate(Long.BYTES).putLong(name).array());
	}

	private static void warnOfQuarantine(State state) {
		logger.atWarn()
			.addKeyValue("reason", state.name().toLowerCase(Locale.ROOT))
			.log("In quarantine: {}. This node takes writes, and votes again once it has everything from the others",
					state.text());
	}

	/**
	 * The instant of the admission: now, but after that of any disk of this node that a
	 * peer remembers. So it rises even if a clock was wrong.
	 */
	private long admissionMillis() {
		long latest = this.peers.introductions(_ -> true)
			.stream()
			.mapToLong(Introduction::rememberedMillis)
			.max()
			.orElse(0);
		return Math.max(this.time.millis(), latest + 1);
	}

}
