package io.kvorum.replication.rejoin;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Partitions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Questions;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Standing;
import io.kvorum.replication.rejoin.Membership.State;
import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds out whether this node may be believed, and sees to it that it may.
 * <p>
 * Nodes tell each other what they are and remember the disk that each had as a member.
 * One that has lost its disk, or was away for too long, is <b>in quarantine</b>: it
 * stores what it is given and tells nobody what it holds, until it has got everything
 * from all others. From all, since one of two that acknowledged a write may be the one
 * that lost it.
 * <p>
 * Stores that it acknowledges in quarantine count: they are on its disk when it is
 * believed again.
 */
public final class Rejoin implements Standing, Questions {

	private static final Logger logger = LoggerFactory.getLogger(Rejoin.class);

	private static final String MEMBERSHIP = "membership";

	private static final String ALIVE = "alive";

	/** While it is not believed. */
	private static final Duration HURRIED_INTERVAL = Duration.ofMillis(50);

	private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

	/** Slices that are rebuilt at a time. */
	private static final int PART = 64;

	private static final int PARTS = Partitions.SLICES / PART;

	private final Topology topology;

	private final Member self;

	private final List<? extends Replica> others;

	private final NodeRecord record;

	private final Rebuilding rebuilding;

	/** Answers all other questions. */
	private final Questions questions;

	private final TimeSource time;

	private final Alarms alarms;

	private final RejoinSettings settings;

	/** What others said last, those that are away too. */
	private final Map<Member, Introduction> met = new ConcurrentHashMap<>();

	private final BitSet rebuilt = new BitSet(PARTS);

	private final CountDownLatch firstMeeting = new CountDownLatch(1);

	private volatile Membership own = Membership.NEW;

	/** The end of the last life. */
	private volatile long aliveMillis;

	private volatile boolean isUndecidedAbsence;

	private volatile @Nullable String doubt = "it has just started";

	private volatile int partsDone;

	private long startedNanos;

	private long notedNanos;

	/**
	 * Of a node that has peers.
	 * @param others the replicas on the other members
	 * @param questions answers all questions but introductions
	 */
	public Rejoin(Topology topology, Member self, List<? extends Replica> others, NodeRecord record,
			Rebuilding rebuilding, Questions questions, TimeSource time, Alarms alarms, RejoinSettings settings) {
		this.topology = topology;
		this.self = self;
		this.others = List.copyOf(others);
		this.record = record;
		this.rebuilding = rebuilding;
		this.questions = questions;
		this.time = time;
		this.alarms = alarms;
		this.settings = settings;
	}

	/** Brings here what others have. */
	@FunctionalInterface
	public interface Rebuilding {

		/**
		 * Completes when this replica has everything in these slices that any of these
		 * members has.
		 * @param staleBeforeMillis what none of them knows and has a version before this
		 * instant is let go
		 */
		Mono<Void> rebuild(Collection<Member> from, List<Integer> slices, long staleBeforeMillis);

	}

	/** Reads what it was, with the store open and before anybody may ask. */
	public void load() {
		byte[] recorded = this.record.recorded(MEMBERSHIP);
		// A store of a version that did not record it was one of a member.
		this.own = (recorded != null) ? Membership.of(recorded)
				: this.record.isNew() ? Membership.NEW : new Membership(State.MEMBER, 1);
		byte[] alive = this.record.recorded(ALIVE);
		this.aliveMillis = (alive != null) ? ByteBuffer.wrap(alive).getLong() : 0;
		this.isUndecidedAbsence = admission().mayHaveBeenAwayTooLong(this.time.millis());
		this.startedNanos = this.time.nanos();
		this.notedNanos = this.startedNanos;
	}

	private Admission admission() {
		return new Admission(this.own, this.record.identity(), this.aliveMillis, this.others.size(),
				this.settings.mostAway().toMillis());
	}

	@Override
	public @Nullable String doubt() {
		return this.doubt;
	}

	/** For as long as it is subscribed to, once. */
	public Flux<?> run() {
		return Mono.defer(this::acceptLoss)
			.thenMany(Mono.defer(this::round)
				.onErrorResume(this::giveUpRound)
				.then(Mono
					.defer(() -> this.alarms.after((this.doubt == null) ? this.settings.interval() : HURRIED_INTERVAL)))
				.repeat());
	}

	/** Counted down when those that are there have introduced themselves once. */
	public CountDownLatch firstMeeting() {
		return this.firstMeeting;
	}

	private Mono<Void> acceptLoss() {
		if (!this.settings.acceptLoss() || (this.own.isMember() && !this.isUndecidedAbsence)) {
			return Mono.empty();
		}
		logger.warn(
				"This node is taken as it is, as kvorum.cluster.accept-loss says; it was {}. "
						+ "Writes that only it had acknowledged are lost if they are not on its disk",
				text(this.own.state()));
		this.isUndecidedAbsence = false;
		return become(State.MEMBER);
	}

	private Mono<Void> giveUpRound(Throwable error) {
		logger.warn("It could not be decided whether this node may be believed, the next round tries again: {}",
				String.valueOf(error.getMessage()));
		return this.alarms.after(RETRY_DELAY).then();
	}

	private Mono<Void> round() {
		boolean wasMember = this.own.isMember() && !this.isUndecidedAbsence;
		return meetAll().then(Mono.defer(() -> wasMember ? checkMember() : decide())).then(Mono.defer(() -> {
			// A new member is believed when the others have had a chance to remember it.
			if (wasMember && this.own.isMember()) {
				believe();
			}
			this.firstMeeting.countDown();
			return this.own.state().isToBeRebuilt() ? rebuild() : noteAlive();
		}));
	}

	private Mono<Void> meetAll() {
		return Flux.fromIterable(this.others)
			.filter(Replica::isThere)
			.flatMap(this::meet, Math.max(1, this.others.size()))
			.then();
	}

	private Mono<Void> meet(Replica other) {
		byte[] introduction = introductionTo(other.member()).toBytes();
		return other.ask(introduction, Deadline.after(this.time, this.settings.timeout())).flatMap(reply -> {
			if (reply instanceof Answered answered) {
				Introduction told = Introduction.of(answered.bytes());
				this.met.put(other.member(), told);
				return remember(other.member(), told);
			}
			return Mono.empty();
		});
	}

	private Introduction introductionTo(Member other) {
		byte[] remembered = this.record.recorded(nameOf(other));
		ByteBuffer in = ByteBuffer.wrap((remembered != null) ? remembered : new byte[2 * Long.BYTES]);
		boolean isLive = this.own.isMember() && !this.isUndecidedAbsence;
		return new Introduction(this.self.index(), this.record.identity(), this.own,
				isLive ? this.time.millis() : this.aliveMillis, in.getLong(), in.getLong());
	}

	private static String nameOf(Member other) {
		return "disk of " + other.address();
	}

	/** Remembers the disk of a member, unless a later one is remembered. */
	private Mono<Void> remember(Member other, Introduction told) {
		byte[] remembered = this.record.recorded(nameOf(other));
		long sinceMillis = (remembered != null) ? ByteBuffer.wrap(remembered).getLong(Long.BYTES) : 0;
		if (!told.membership().isMember() || told.membership().admittedMillis() <= sinceMillis) {
			return Mono.empty();
		}
		return this.record.record(nameOf(other),
				ByteBuffer.allocate(2 * Long.BYTES)
					.putLong(told.identity())
					.putLong(told.membership().admittedMillis())
					.array());
	}

	@Override
	public Mono<Reply> answer(byte[] question, Deadline deadline) {
		if (question.length == 0 || question[0] != Introduction.KIND) {
			return this.questions.answer(question, deadline);
		}
		Introduction told;
		Member other;
		try {
			told = Introduction.of(question);
			other = this.topology.members().get(told.member());
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "it was introduced to what makes no sense: " + ex));
		}
		this.met.put(other, told);
		return remember(other, told).then(Mono.<Reply>fromSupplier(() -> new Answered(introductionTo(other).toBytes())))
			.onErrorResume(ex -> Mono
				.just(Failed.notDone(Reason.UNAVAILABLE, "it cannot remember who that is: " + ex.getMessage())));
	}

	private Mono<Void> checkMember() {
		State state = admission().decide(this.met.values());
		return (state == State.MEMBER) ? Mono.empty() : become(state);
	}

	private Mono<Void> decide() {
		State state = this.isUndecidedAbsence ? admission().decideAbsence(this.met.values())
				: admission().decide(this.met.values());
		if (this.isUndecidedAbsence) {
			if (state == State.NEW) {
				doubt("it was away for longer than others may keep tombstones, and waits for %s to say whether they did"
					.formatted(missing()));
				return Mono.empty();
			}
			this.isUndecidedAbsence = false;
			return become(state);
		}
		if (state != this.own.state()) {
			return become(state);
		}
		if (state == State.NEW || state == State.READY) {
			doubt("its disk is empty, and it waits for %s to say whether the cluster is new".formatted(missing()));
		}
		return Mono.empty();
	}

	private List<String> missing() {
		return this.others.stream()
			.map(Replica::member)
			.filter(member -> !this.met.containsKey(member) || this.met.get(member).membership().state() == State.NEW)
			.map(Member::address)
			.toList();
	}

	private Mono<Void> become(State state) {
		long admitted = (state == State.MEMBER && !this.own.isMember()) ? this.time.millis()
				: this.own.admittedMillis();
		Membership next = new Membership(state, admitted);
		return this.record.record(MEMBERSHIP, next.toBytes()).then(Mono.fromRunnable(() -> {
			if (next.state() != this.own.state()) {
				tell(state);
			}
			this.own = next;
			if (state.isToBeRebuilt()) {
				doubt(text(state));
			}
		}));
	}

	private void tell(State state) {
		switch (state) {
			case BLANK, LOST, ABSENT -> logger.warn(
					"In quarantine: {}. It stores what it is given and is not believed before it has got everything from its peers",
					text(state));
			default -> logger.info("This node is now {}", text(state));
		}
	}

	private static String text(State state) {
		return switch (state) {
			case NEW -> "new";
			case READY -> "one of a new cluster";
			case MEMBER -> "a member";
			case BLANK -> "it is new in a cluster that has data";
			case LOST -> "it has lost the disk that its peers remember";
			case ABSENT ->
				"it was away for longer than others keep tombstones, or has an older disk than they remember";
		};
	}

	private void doubt(String why) {
		this.doubt = this.self.address() + " is not believed: " + why;
	}

	private void believe() {
		this.doubt = null;
	}

	private Mono<Void> rebuild() {
		List<Member> sources = new ArrayList<>();
		List<String> missing = new ArrayList<>();
		for (Replica other : this.others) {
			Introduction introduction = this.met.get(other.member());
			State state = (introduction != null) ? introduction.membership().state() : State.NEW;
			if (state == State.MEMBER && other.isThere()) {
				sources.add(other.member());
			}
			else if (state != State.BLANK) {
				missing.add(other.member().address());
			}
		}
		if (!missing.isEmpty() || sources.isEmpty()) {
			doubt("%s; it waits for %s to be there and believed".formatted(text(this.own.state()), missing));
			return Mono.empty();
		}
		long waited = this.time.nanos() - this.startedNanos;
		Duration wait = this.settings.settlingTime().minusNanos(waited);
		return (wait.isPositive() ? this.alarms.after(wait) : Mono.just(0L)).then(Mono.defer(() -> rebuild(sources)));
	}

	private Mono<Void> rebuild(List<Member> sources) {
		long stale = (this.own.state() == State.ABSENT) ? this.aliveMillis + 1 : Long.MIN_VALUE;
		return Flux.range(0, PARTS)
			.filter(part -> !this.rebuilt.get(part))
			.concatMap(part -> this.rebuilding.rebuild(sources, slicesOf(part), stale)
				.then(Mono.<Void>fromRunnable(() -> finished(part))), 1)
			.then(Mono.defer(() -> become(State.MEMBER)))
			.then();
	}

	private static List<Integer> slicesOf(int part) {
		return IntStream.range(part * PART, (part + 1) * PART).boxed().toList();
	}

	private void finished(int part) {
		this.rebuilt.set(part);
		this.partsDone = this.rebuilt.cardinality();
		doubt("%s; %d of %d parts are rebuilt".formatted(text(this.own.state()), this.partsDone, PARTS));
	}

	/** Only for a member: the end of a life counts, not that of a quarantine. */
	private Mono<Void> noteAlive() {
		long now = this.time.nanos();
		if (!this.own.isMember() || this.isUndecidedAbsence || this.doubt != null
				|| (now - this.notedNanos < this.settings.interval().toNanos() && this.aliveMillis != 0)) {
			return Mono.empty();
		}
		this.notedNanos = now;
		long millis = this.time.millis();
		this.aliveMillis = millis;
		return this.record.record(ALIVE, ByteBuffer.allocate(Long.BYTES).putLong(millis).array());
	}

	/** From any thread. */
	public RejoinProgress progress() {
		String why = this.doubt;
		State state = this.own.state();
		return new RejoinProgress(state.name().toLowerCase(Locale.ROOT), (why != null) ? why : "",
				state.isToBeRebuilt() ? PARTS : 0, state.isToBeRebuilt() ? this.partsDone : 0);
	}

}
