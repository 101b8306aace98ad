package io.kvorum.replication.rejoin;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
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

	private static final String MEMBERSHIP = "membership";

	private static final String ALIVE = "alive";

	private final Topology topology;

	private final Member self;

	private final NodeRecord record;

	/** Answers all other questions. */
	private final Questions questions;

	private final TimeSource time;

	private final Duration mostAway;

	/** What others said last, those that are away now too. */
	private final Map<Member, Introduction> met = new ConcurrentHashMap<>();

	private volatile Membership own = Membership.NEW;

	/** When it was a member the last time. */
	private volatile long aliveMillis;

	private volatile long startedMillis;

	private volatile boolean isAbsenceUndecided;

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

	/** Reads what this node was, with the store open. */
	void load() {
		byte[] recorded = this.record.recorded(MEMBERSHIP);
		// A store of a version that did not record it was that of a member.
		this.own = (recorded != null) ? Membership.of(recorded)
				: this.record.isNew() ? Membership.NEW : new Membership(State.MEMBER, 1);
		byte[] alive = this.record.recorded(ALIVE);
		this.aliveMillis = (alive != null) ? ByteBuffer.wrap(alive).getLong() : 0;
		this.startedMillis = this.time.millis();
		this.isAbsenceUndecided = admission().mayHaveBeenAwayTooLong(this.startedMillis);
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
		return new Introduction(this.self.index(), this.record.identity(), this.own,
				isMember() ? this.time.millis() : this.aliveMillis, in.getLong(), in.getLong());
	}

	private static String nameOf(Member other) {
		return "disk of " + other.address();
	}

	/** Takes what another one says, and remembers its disk if it is a member. */
	Mono<Void> meet(Member other, Introduction told) {
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
		return (why != null) ? Mono.just(Failed.notDone(Reason.REBUILDING, why))
				: this.questions.answer(question, deadline);
	}

	private Mono<Reply> answerIntroduction(byte[] question) {
		Introduction told;
		Member other;
		try {
			told = Introduction.of(question);
			other = this.topology.members().get(told.member());
		}
		catch (RuntimeException ex) {
			return Mono.just(Failed.notDone(Reason.INTERNAL, "introduced to what makes no sense: " + ex.getMessage()));
		}
		return meet(other, told).then(Mono.<Reply>fromSupplier(() -> new Answered(introductionTo(other).toBytes())))
			.onErrorResume(ex -> Mono
				.just(Failed.notDone(Reason.UNAVAILABLE, "it cannot remember who that is: " + ex.getMessage())));
	}

	/**
	 * Records what this node is, if it never was: one with an empty disk that stops
	 * before anything is decided would else be taken for a member by its next start.
	 */
	Mono<Void> remember() {
		return (this.record.recorded(MEMBERSHIP) != null) ? Mono.empty()
				: this.record.record(MEMBERSHIP, this.own.toBytes());
	}

	/** What this node is, by what is known now. */
	Mono<Void> decide() {
		Collection<Introduction> said = this.met.values();
		if (!this.isAbsenceUndecided) {
			return become(admission().decide(said));
		}
		State state = admission().decideAbsence(said);
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
		Membership next = new Membership(state, (state == State.MEMBER) ? this.time.millis() : before.admittedMillis());
		return this.record.record(MEMBERSHIP, next.toBytes()).then(Mono.fromRunnable(() -> {
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

	/** Records that this node is alive and a member. */
	Mono<Void> noteAlive() {
		long millis = this.time.millis();
		this.aliveMillis = millis;
		return this.record.record(ALIVE, ByteBuffer.allocate(Long.BYTES).putLong(millis).array());
	}

}
