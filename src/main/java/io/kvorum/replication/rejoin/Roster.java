package io.kvorum.replication.rejoin;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Questions;
import io.kvorum.replication.Standing;
import io.kvorum.replication.rejoin.Membership.State;
import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * What this node is, what the others said they are, and the disk that each of them had
 * when it was a member. Answers introductions, and other questions while it is believed.
 * <p>
 * Thread-safe: asked by any thread, changed by {@link Rejoin}.
 */
public final class Roster implements Standing, Questions {

	private static final Logger logger = LoggerFactory.getLogger(Roster.class);

	static final String MEMBERSHIP = "membership";

	static final String ALIVE = "alive";

	private final Topology topology;

	private final Member self;

	private final NodeRecord record;

	/** Answers all other questions. */
	private final Questions questions;

	private final TimeSource time;

	private final Duration mostAway;

	/** What others said last, those that are away now too. */
	private final Map<Member, Introduction> met = new ConcurrentHashMap<>();

	/**
	 * What each said first since this node started: of one that was away too, the end of
	 * its last life.
	 */
	private final Map<Member, Introduction> metFirst = new ConcurrentHashMap<>();

	private volatile Membership own = Membership.NEW;

	/** When it was a member the last time. */
	private volatile long aliveMillis;

	private volatile long startedMillis;

	private volatile boolean isAbsenceUndecided;

	private volatile boolean isLoaded;

	private volatile @Nullable String doubt;

	/**
	 * The roster of a node.
	 * @param questions answers all questions but introductions
	 * @param mostAway after a longer absence a node may not be believed
	 */
	public Roster(Topology topology, Member self, NodeRecord record, Questions questions, TimeSource time,
			Duration mostAway) {
		this.topology = topology;
		this.self = self;
		this.record = record;
		this.questions = questions;
		this.time = time;
		this.mostAway = mostAway;
		doubt("it has just started");
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
			this.own = (recorded != null) ? Membership.of(recorded)
					: this.record.isNew() ? Membership.NEW : new Membership(State.MEMBER, 1);
			byte[] alive = this.record.recorded(ALIVE);
			this.aliveMillis = (alive != null) ? ByteBuffer.wrap(alive).getLong() : 0;
			this.startedMillis = this.time.millis();
			this.isAbsenceUndecided = admission().mayHaveBeenAwayTooLong(this.startedMillis);
			this.isLoaded = true;
			return (recorded != null) ? Mono.empty() : this.record.record(MEMBERSHIP, this.own.toBytes());
		});
	}

	boolean isLoaded() {
		return this.isLoaded;
	}

	private Admission admission() {
		return new Admission(this.own, this.record.identity(), this.aliveMillis, this.topology.size() - 1,
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

	@Override
	public @Nullable String doubt() {
		return this.doubt;
	}

	void doubt(String why) {
		this.doubt = this.self.address() + " is not believed: " + why;
	}

	void believe() {
		this.doubt = null;
	}

	/** What another one said last. */
	@Nullable Introduction met(Member other) {
		return this.met.get(other);
	}

	Introduction introductionTo(Member other) {
		byte[] remembered = this.record.recorded(nameOf(other));
		ByteBuffer in = ByteBuffer.wrap((remembered != null) ? remembered : new byte[2 * Long.BYTES]);
		Introduction said = this.met.get(other);
		return new Introduction(this.self.index(), this.record.identity(), this.own,
				(this.doubt == null) ? this.time.millis() : this.aliveMillis, in.getLong(), in.getLong(),
				(said != null) ? said.aliveMillis() : 0);
	}

	private static String nameOf(Member other) {
		return "disk of " + other.address();
	}

	/** Takes what another one says, and remembers its disk if it is a member. */
	Mono<Void> meet(Member other, Introduction told) {
		this.metFirst.putIfAbsent(other, told);
		this.met.put(other, told);
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
		if (question.length > 0 && question[0] == Introduction.KIND) {
			return answerIntroduction(question);
		}
		String why = this.doubt;
		// One that is new here may have acknowledged what others that are rebuilt lack.
		if (why != null && this.own.state() != State.BLANK) {
			return Mono.just(Failed.notDone(Reason.REBUILDING, why));
		}
		return this.questions.answer(question, deadline);
	}

	private Mono<Reply> answerIntroduction(byte[] question) {
		if (!this.isLoaded) {
			return Mono.just(Failed.notDone(Reason.UNAVAILABLE, "it does not know yet what it is"));
		}
		Introduction told;
		Member other;
		try {
			told = Introduction.of(question);
			other = this.topology.members().get(told.member());
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "introduced to what makes no sense: " + ex.getMessage()));
		}
		// With what was known of it before it said this.
		byte[] introduction = introductionTo(other).toBytes();
		return meet(other, told).then(Mono.<Reply>fromSupplier(() -> new Answered(introduction)))
			.onErrorResume(ex -> Mono
				.just(Failed.notDone(Reason.UNAVAILABLE, "it cannot remember who that is: " + ex.getMessage())));
	}

	/** What this node is, by what is known now. */
	Mono<Void> decide() {
		if (!this.isAbsenceUndecided) {
			boolean isOld = this.doubt != null && admission().hasAnOlderCopy(this.metFirst.values());
			State state = isOld ? State.OLD : admission().decide(this.met.values());
			if (state == State.REUNITED && state != this.own.state() && admission().isTooOld(this.met.values())) {
				logger.warn("The backup of this node is older than that of another one by more than tombstones are "
						+ "kept, and so is a third, or there is none of it: what was deleted since may come back");
			}
			return become(state);
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
				if (state.isToBeRebuilt()) {
					doubt(state.text());
					logger.warn("In quarantine: {}. It stores what it is given, and is believed when it has got "
							+ "everything from the others", state.text());
				}
				else {
					logger.info("This node is now known to be in order: {}", state.text());
				}
			}));
	}

	/** Now, or after any disk that somebody remembers, whatever clocks were then. */
	private long admissionMillis() {
		long latest = this.met.values().stream().mapToLong(Introduction::rememberedMillis).max().orElse(0);
		return Math.max(this.time.millis(), latest + 1);
	}

	/** Records that this node is alive and a member. */
	Mono<Void> noteAlive() {
		long millis = this.time.millis();
		this.aliveMillis = millis;
		return this.record.record(ALIVE, ByteBuffer.allocate(Long.BYTES).putLong(millis).array());
	}

}
