package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply;
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
 * What this node is, what the others said they are, and the disk that each of them had
 * when it was a member. Answers introductions, and other questions while it is believed.
 * <p>
 * Thread-safe: asked by any thread, changed by {@link Quarantine}.
 */
public final class NodeState implements VotingRight, PeerQueries {

	private static final Logger logger = LoggerFactory.getLogger(NodeState.class);

	static final String MEMBERSHIP = "membership";

	static final String ALIVE = "alive";

	static final String ADDRESS = "address";

	static final String BOOT = "boot";

	private final Topology topology;

	private final Member self;

	private final NodeRecord record;

	/** Answers all other questions. */
	private final PeerQueries questions;

	private final TimeSource time;

	private final Duration mostAway;

	/** What others said last, those that are away now too. */
	private final Map<Member, Introduction> met = new ConcurrentHashMap<>();

	/**
	 * What each said first since this node started: of one that was away too, the end of
	 * its last life.
	 */
	private final Map<Member, Introduction> metFirst = new ConcurrentHashMap<>();

	/** Those that were told of this life before they had said anything. */
	private final Set<Member> toldFirst = ConcurrentHashMap.newKeySet();

	/**
	 * What those told that say that they have heard nothing since they started, before
	 * they said so: the end of their last lives, whatever their disks say.
	 */
	private final Map<Member, Long> seenBefore = new ConcurrentHashMap<>();

	/** Those that certainly know that this node has started. */
	private final Set<Member> informed = ConcurrentHashMap.newKeySet();

	/** Those that have the identity of another node, and of which. */
	private final Map<Member, Member> twins = new ConcurrentHashMap<>();

	private final SystemBoot boot;

	private volatile Predicate<Member> isThere = _ -> false;

	private volatile Runnable whenRestarted = () -> {
	};

	private volatile Membership own = Membership.NEW;

	/** The end of its last life as a member, as its disk had it. */
	private volatile long aliveMillis;

	/** The latest instant at which it was alive, as its disk had it. */
	private volatile long latestMillis;

	/** When it was last noted on disk that it is alive. */
	private volatile long notedMillis;

	/** The latest of all those instants. */
	private volatile long notedLatestMillis;

	/** Whether another one has said what makes this disk an old one. */
	private volatile boolean isFoundOld;

	/** By the clock as it is now: earlier, if that was set back. */
	private volatile long startedMillis;

	private volatile boolean isAbsenceUndecided;

	private volatile boolean isLoaded;

	/** Whether some of what it acknowledged in its last life may not be on its disk. */
	private volatile boolean mayHaveLost;

	private volatile @Nullable String doubt;

	/**
	 * The roster of a node.
	 * @param questions answers all questions but introductions
	 * @param mostAway after a longer absence a node may not be believed
	 * @param boot the run of the operating system
	 */
	public NodeState(Topology topology, Member self, NodeRecord record, PeerQueries questions, TimeSource time,
			Duration mostAway, SystemBoot boot) {
		this.topology = topology;
		this.self = self;
		this.record = record;
		this.questions = questions;
		this.time = time;
		this.mostAway = mostAway;
		this.boot = boot;
		doubt("it has just started");
	}

	/**
	 * Makes the store that of this node, with the store open and before anybody may ask.
	 * One with the directory of another node would tell what that one acknowledged, and
	 * give versions that it gives too.
	 * @param accepted whether a store of another address is taken, since the node has a
	 * new one
	 * @throws StoreOpenException if it is the store of another address
	 */
	public Mono<Void> claim(boolean accepted) {
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
			logger.warn("The store of {} is taken for that of {}, as kvorum.cluster.accept-address says", other,
					this.self.address());
		}
		return this.record.record(ADDRESS, own);
	}

	/**
	 * Reads what this node was, with the store open, and records it if it never was: one
	 * with an empty disk that stops before anything is decided would else be taken for a
	 * member by its next start. Before anybody may ask or store.
	 */
	public Mono<Void> load() {
		return Mono.defer(() -> {
			byte[] recorded = this.record.recorded(MEMBERSHIP);
			// A store of a version that did not record it was that of a member.
			Membership before = (recorded != null) ? Membership.of(recorded)
					: this.record.isNew() ? Membership.NEW : new Membership(State.MEMBER, 1);
			this.mayHaveLost = mayHaveLost();
			this.own = this.mayHaveLost ? before.unsynced() : before;
			byte[] alive = this.record.recorded(ALIVE);
			ByteBuffer in = ByteBuffer.wrap((alive != null) ? alive : new byte[Long.BYTES]);
			this.aliveMillis = in.getLong();
			this.latestMillis = in.hasRemaining() ? in.getLong() : this.aliveMillis;
			this.notedMillis = this.aliveMillis;
			this.notedLatestMillis = this.latestMillis;
			this.startedMillis = this.time.millis();
			this.isAbsenceUndecided = admission().mayHaveBeenAwayTooLong(this.startedMillis);
			this.isLoaded = true;
			if (!this.own.equals(before)) {
				warnOfQuarantine(this.own.state());
			}
			boolean isRecorded = recorded != null && this.own.equals(before);
			return (isRecorded ? Mono.<Void>empty() : this.record.record(MEMBERSHIP, this.own.toBytes()))
				.then(Mono.defer(this::noteBoot));
		});
	}

	private boolean mayHaveLost() {
		byte[] recorded = this.record.recorded(BOOT);
		return recorded != null && this.boot.mayHaveLost(recorded);
	}

	/**
	 * Records in which run of the operating system this node acknowledges, if it has not.
	 */
	Mono<Void> noteBoot() {
		return recordBoot(this.boot.begun());
	}

	/**
	 * Records that all that was acknowledged is on disk, when nothing is acknowledged any
	 * more: it is the last that is synced.
	 */
	public Mono<Void> noteStop() {
		return Mono.defer(() -> this.isLoaded ? recordBoot(SystemBoot.ended()) : Mono.empty());
	}

	/**
	 * Where that failed before: the boot that is recorded may be all that tells that this
	 * node is in doubt.
	 */
	private Mono<Void> recordMembership() {
		byte[] own = this.own.toBytes();
		return Arrays.equals(own, this.record.recorded(MEMBERSHIP)) ? Mono.empty()
				: this.record.record(MEMBERSHIP, own);
	}

	private Mono<Void> recordBoot(byte[] next) {
		if (this.mayHaveLost && this.own.state() == State.NEW) {
			// What it becomes says that it may have; until then, the boot of before.
			return Mono.empty();
		}
		byte[] recorded = this.record.recorded(BOOT);
		return Arrays.equals(next, (recorded != null) ? recorded : SystemBoot.ended()) ? Mono.empty()
				: recordMembership().then(Mono.defer(() -> this.record.record(BOOT, next)));
	}

	boolean isLoaded() {
		return this.isLoaded;
	}

	private AdmissionRule admission() {
		return new AdmissionRule(this.own, this.record.identity(), this.aliveMillis, this.topology.size() - 1,
				this.mostAway.toMillis());
	}

	State state() {
		return this.own.state();
	}

	/**
	 * What has an older version was here in the last life already: none of what was
	 * stored since this one began. Well behind the end of the last life, which was noted
	 * a while before it, and well before this one.
	 */
	long staleBeforeMillis() {
		long margin = this.mostAway.toMillis() / 2;
		return Math.min(this.aliveMillis + margin, this.startedMillis - margin);
	}

	/** Whether this is a member, whose last life did not end too long ago. */
	boolean isMember() {
		return this.own.isMember() && !this.isAbsenceUndecided;
	}

	/** Whether it is not known yet if this one was away too long. */
	boolean isAbsenceUndecided() {
		return this.isAbsenceUndecided;
	}

	/** Says which of the others are there now. */
	void follow(Predicate<Member> isThere) {
		this.isThere = isThere;
	}

	/**
	 * Says what to do when a peer has restarted: it may have lost the hints that it kept
	 * for others, and none of those knows. Before that peer is believed.
	 */
	public void whenRestarted(Runnable task) {
		this.whenRestarted = task;
	}

	/** Why others that are there are not taken for what they say. */
	List<String> refused() {
		return this.twins.entrySet()
			.stream()
			.filter(twins -> this.isThere.test(twins.getKey()))
			.map(twins -> describeTwins(twins.getKey(), twins.getValue()))
			.toList();
	}

	private static String describeTwins(Member other, Member twin) {
		return "%s has the identity of %s: one of them has a copy of the other one's directory"
			.formatted(other.address(), twin.address());
	}

	/** Whether another one that is there has the identity of this node. */
	boolean hasTwin() {
		return this.twins.entrySet()
			.stream()
			.anyMatch(twins -> twins.getValue().equals(this.self) && this.isThere.test(twins.getKey()));
	}

	boolean refuses(Member other) {
		return this.twins.containsKey(other);
	}

	@Override
	public @Nullable String withheldBecause() {
		return this.doubt;
	}

	void doubt(String why) {
		this.doubt = this.self.address() + " is not believed: " + why;
	}

	void believe() {
		this.doubt = null;
		if (this.isFoundOld) {
			// Another one has said so meanwhile.
			doubt(State.STALE_DISK.text());
		}
	}

	/** What another one said last. */
	@Nullable Introduction met(Member other) {
		return this.met.get(other);
	}

	Introduction introductionTo(Member other) {
		byte[] remembered = this.record.recorded(nameOf(other));
		ByteBuffer in = ByteBuffer.wrap((remembered != null) ? remembered : new byte[2 * Long.BYTES]);
		Introduction said = this.met.getOrDefault(other, this.metFirst.get(other));
		boolean isBelieved = this.doubt == null;
		if (isBelieved && said == null) {
			this.toldFirst.add(other);
		}
		// Never what is not on disk yet: an end right now would make this disk look old.
		return new Introduction(this.self.index(), this.record.identity(), this.own,
				isBelieved ? this.notedMillis : this.aliveMillis, in.getLong(), in.getLong(),
				(said != null) ? seenAliveMillis(other, said) : 0);
	}

	/** Never 0: it was heard. */
	private long seenAliveMillis(Member other, Introduction said) {
		long seen = Math.max(1, this.seenBefore.getOrDefault(other, said.aliveMillis()));
		return this.informed.contains(other) ? seen : -seen;
	}

	private static String nameOf(Member other) {
		return "disk of " + other.address();
	}

	/** Takes what another one answers, which knows that this node has started. */
	Mono<Void> meetAnswering(Member other, Introduction told) {
		this.informed.add(other);
		return meet(other, told);
	}

	/**
	 * Takes what another one says: whether this disk is an old one, at once, so that this
	 * node tells nothing of what is on it. Remembers the other one's disk; after that the
	 * other one counts as met.
	 */
	Mono<Void> meet(Member other, Introduction told) {
		Member twin = twinOf(other, told);
		if (twin != null) {
			refuse(other, twin);
			return Mono.empty();
		}
		this.twins.remove(other);
		boolean isFirst = this.metFirst.putIfAbsent(other, told) == null;
		keepSeen(other, told);
		if (!isFirst && told.mayHaveRestarted()) {
			this.whenRestarted.run();
		}
		AdmissionRule admission = admission();
		boolean wasSeenAfter = admission.wasSeenAfter(this.latestMillis, told);
		if (admission.remembersALaterDisk(told) || (isFirst && isOfLastLife(other, told) && wasSeenAfter)) {
			this.isFoundOld = true;
			doubt(State.STALE_DISK.text());
		}
		else if (wasSeenAfter && !this.isFoundOld) {
			// It repeats what it was told in this life.
			this.informed.add(other);
		}
		return rememberDisk(other, told).then(Mono.fromRunnable(() -> this.met.put(other, told)));
	}

	private void keepSeen(Member other, Introduction told) {
		Introduction before = this.met.get(other);
		if (told.hasHeard()) {
			this.seenBefore.remove(other);
		}
		else if (before != null) {
			this.seenBefore.putIfAbsent(other, before.aliveMillis());
		}
	}

	private Mono<Void> rememberDisk(Member other, Introduction told) {
		byte[] remembered = this.record.recorded(nameOf(other));
		long sinceMillis = (remembered != null) ? ByteBuffer.wrap(remembered).getLong(Long.BYTES) : 0;
		boolean isLater = told.membership().isMember() && told.membership().admittedMillis() > sinceMillis;
		if (isLater) {
			return remember(other, told.identity(), told.membership().admittedMillis());
		}
		return (remembered == null && admission().remembersNonMember(told)) ? remember(other, told.identity(), 0)
				: Mono.empty();
	}

	private Mono<Void> remember(Member other, long identity, long sinceMillis) {
		return this.record.record(nameOf(other),
				ByteBuffer.allocate(2 * Long.BYTES).putLong(identity).putLong(sinceMillis).array());
	}

	/**
	 * Whether another one has seen this node alive before this life: it repeats what it
	 * was told in this one, where that came first.
	 */
	private boolean isOfLastLife(Member other, Introduction told) {
		return !this.toldFirst.contains(other) || told.lastSeenMillis() < this.startedMillis;
	}

	/**
	 * The node that has the identity another one claims: this one, or one that is there.
	 */
	private @Nullable Member twinOf(Member other, Introduction told) {
		if (told.identity() == this.record.identity()) {
			return this.self;
		}
		return this.met.entrySet()
			.stream()
			.filter(known -> known.getValue().identity() == told.identity())
			.map(Map.Entry::getKey)
			.filter(known -> !known.equals(other) && this.isThere.test(known))
			.findFirst()
			.orElse(null);
	}

	private void refuse(Member other, Member twin) {
		if (!twin.equals(this.twins.put(other, twin))) {
			logger.error("{}. Stop the one that has the copy, and start it with an empty directory",
					describeTwins(other, twin));
		}
	}

	@Override
	public Mono<Reply> answer(PeerQuery query, Deadline deadline) {
		if (query.kind() == PeerQuery.Kind.INTRODUCTION) {
			return answerIntroduction(query);
		}
		String why = this.doubt;
		if (why != null && !isSource()) {
			return Mono.just(Failed.notDone(Reason.REBUILDING, why));
		}
		return this.questions.answer(query, deadline);
	}

	/**
	 * Whether others may be rebuilt from what this one has, though it is not believed:
	 * one that is new here may have acknowledged what they lack, and what one has that
	 * was not synced in time is all that is left of it.
	 */
	private boolean isSource() {
		return this.own.state() == State.NEWCOMER
				|| (this.own.state() == State.UNSYNCED && !this.isAbsenceUndecided && !this.isFoundOld);
	}

	private Mono<Reply> answerIntroduction(PeerQuery query) {
		if (!this.isLoaded) {
			return Mono.just(Failed.notDone(Reason.UNAVAILABLE, "it does not know yet what it is"));
		}
		Introduction told;
		Member other;
		try {
			told = Introduction.of(query);
			other = this.topology.members().get(told.member());
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "introduced to what makes no sense: " + ex.getMessage()));
		}
		// With what was known of it before it said this.
		byte[] introduction = introductionTo(other).toQuery().toBytes();
		return meet(other, told).then(Mono.<Reply>fromSupplier(() -> new Answered(introduction)))
			.onErrorResume(ex -> Mono
				.just(Failed.notDone(Reason.UNAVAILABLE, "it cannot remember who that is: " + ex.getMessage())));
	}

	/** What this node is, by what is known now. */
	Mono<Void> decide() {
		if (this.isFoundOld) {
			this.isAbsenceUndecided = false;
			return become(State.STALE_DISK);
		}
		if (!this.isAbsenceUndecided) {
			State state = admission().decide(this.met.values());
			if (state == State.REUNITED && state != this.own.state() && admission().isTooOld(this.met.values())) {
				logger.warn("The backup of this node is older than that of another one by more than tombstones are "
						+ "kept, and so is a third, or there is none of it: what was deleted since may come back");
			}
			return become((state == State.READY && this.mayHaveLost) ? State.UNSYNCED : state);
		}
		State state = admission().decideAbsence(this.metFirst.values());
		if (state == State.NEW) {
			return Mono.empty();
		}
		this.isAbsenceUndecided = false;
		return become(state);
	}

	/** Takes this node for a member, whatever it is. */
	Mono<Void> acceptLoss() {
		if (isMember()) {
			return Mono.empty();
		}
		logger.warn("This node is taken as it is, as kvorum.cluster.accept-loss says, though {}. "
				+ "What only it had acknowledged and is not on its disk is lost", this.own.state().text());
		this.isAbsenceUndecided = false;
		return become(State.MEMBER);
	}

	/** Records what this node is, and then is it. */
	Mono<Void> become(State state) {
		Membership before = this.own;
		if (state == before.state()) {
			return Mono.empty();
		}
		Membership next = new Membership(state, (state == State.MEMBER) ? admissionMillis() : before.admittedMillis());
		// Before it is one: whatever its disk says of its last life does not matter any
		// more.
		Mono<Void> noted = (state == State.MEMBER) ? Mono.defer(this::noteAlive) : Mono.empty();
		return noted.then(Mono.defer(() -> this.record.record(MEMBERSHIP, next.toBytes())))
			.then(Mono.fromRunnable(() -> {
				this.own = next;
				if (state == State.MEMBER) {
					this.aliveMillis = this.notedMillis;
					this.latestMillis = this.notedLatestMillis;
					this.isFoundOld = false;
				}
				if (state.isToBeRebuilt()) {
					doubt(state.text());
					warnOfQuarantine(state);
				}
				else {
					logger.info("This node is now known to be in order: {}", state.text());
				}
			}));
	}

	private static void warnOfQuarantine(State state) {
		logger.warn("In quarantine: {}. It stores what it is given, and is believed when it has got everything from "
				+ "the others", state.text());
	}

	/** Now, or after any disk that somebody remembers, whatever clocks were then. */
	private long admissionMillis() {
		long latest = this.met.values().stream().mapToLong(Introduction::rememberedMillis).max().orElse(0);
		return Math.max(this.time.millis(), latest + 1);
	}

	/** Records that this node is alive and a member. */
	Mono<Void> noteAlive() {
		long millis = this.time.millis();
		long latest = Math.max(millis, this.notedLatestMillis);
		return this.record.record(ALIVE, ByteBuffer.allocate(2 * Long.BYTES).putLong(millis).putLong(latest).array())
			.then(Mono.fromRunnable(() -> {
				this.notedMillis = millis;
				this.notedLatestMillis = latest;
				this.startedMillis = Math.min(this.startedMillis, millis);
			}));
	}

}
