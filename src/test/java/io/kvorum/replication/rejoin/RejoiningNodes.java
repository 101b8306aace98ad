package io.kvorum.replication.rejoin;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Replica;
import io.kvorum.replication.rejoin.Membership.State;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Three nodes that meet one another, in time that a test moves; nothing is stored. */
final class RejoiningNodes {

	static final Duration MOST_AWAY = Duration.ofDays(9);

	/** Of whatever waits here: shorter than all that a node waits for. */
	private static final Duration STEP = Duration.ofMillis(10);

	private final Topology topology = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	final SteeredTime time = new SteeredTime();

	private final VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();

	final List<Node> nodes = this.topology.members().stream().map(Node::new).toList();

	Node node(int index) {
		return this.nodes.get(index);
	}

	/** Lets time pass, for all of them. */
	void pass(Duration time) {
		for (long step = 0; step < time.dividedBy(STEP); step++) {
			this.time.pass(STEP);
			this.scheduler.advanceTimeBy(STEP);
			this.nodes.forEach(Node::look);
		}
	}

	/** A node, and what is on its disk. */
	final class Node {

		private final Member member;

		Disk disk;

		@Nullable Roster roster;

		@Nullable Rejoin rejoin;

		private @Nullable Disposable running;

		/** The members from which it was rebuilt in this life. */
		final List<Member> rebuiltFrom = new ArrayList<>();

		boolean acceptsLoss;

		private boolean isPaused;

		private boolean losesAnswers;

		/** Whether it was believed at any time in this life. */
		boolean wasBelieved;

		Node(Member member) {
			this.member = member;
			this.disk = new Disk(1 + member.index());
		}

		/** Gives it a disk with which it became a member then, and was alive last. */
		Node withDisk(long identity, long admittedMillis, long aliveMillis) {
			this.disk = new Disk(identity);
			Now.of(this.disk.record(Roster.MEMBERSHIP, new Membership(State.MEMBER, admittedMillis).toBytes()));
			Now.of(this.disk.record(Roster.ALIVE, ByteBuffer.allocate(Long.BYTES).putLong(aliveMillis).array()));
			return this;
		}

		/** A member since ever, that has just ended. */
		Node asMember() {
			return withDisk(1 + this.member.index(), 1, RejoiningNodes.this.time.millis());
		}

		Node remembering(Node other, long identity, long sinceMillis) {
			Now.of(this.disk.record("disk of " + other.member.address(),
					ByteBuffer.allocate(2 * Long.BYTES).putLong(identity).putLong(sinceMillis).array()));
			return this;
		}

		Node start() {
			return start(Boot.SYNCED);
		}

		Node start(Boot boot) {
			stop();
			RejoiningNodes nodes = RejoiningNodes.this;
			Roster started = new Roster(nodes.topology, this.member, this.disk,
					(_, _) -> Mono.just(new Answered(new byte[0])), nodes.time, MOST_AWAY, boot);
			this.roster = started;
			// A full disk: what it is will be recorded later.
			Now.of(started.load().onErrorComplete());
			List<Peer> peers = nodes.nodes.stream()
				.filter(other -> other != this)
				.map(other -> new Peer(this, other))
				.toList();
			this.rejoin = new Rejoin(started, peers, (from, _, _) -> rebuild(from), nodes.time,
					delay -> Mono.delay(delay, nodes.scheduler), new RejoinSettings(Duration.ofSeconds(2),
							Duration.ofSeconds(1), Duration.ofSeconds(5), this.acceptsLoss));
			this.running = this.rejoin.run().subscribe();
			return this;
		}

		private Mono<SortedSet<Integer>> rebuild(Collection<Member> from) {
			this.rebuiltFrom.clear();
			this.rebuiltFrom.addAll(from);
			return Mono.just(Collections.emptySortedSet());
		}

		void stop() {
			if (this.running != null) {
				this.running.dispose();
			}
			this.roster = null;
			this.wasBelieved = false;
		}

		/** It hears and says nothing. */
		void pause() {
			this.isPaused = true;
		}

		void resume() {
			this.isPaused = false;
		}

		/** It hears others, who get no answer. */
		void loseAnswers() {
			this.losesAnswers = true;
		}

		void keepAnswers() {
			this.losesAnswers = false;
		}

		/** Its disk is full from now on. */
		void refuseRecords() {
			this.disk.isFull = true;
		}

		List<String> refused() {
			return roster().refused();
		}

		private void look() {
			this.wasBelieved |= this.roster != null && this.roster.doubt() == null;
		}

		Roster roster() {
			Roster started = this.roster;
			if (started == null) {
				throw new IllegalStateException(this.member + " is not started");
			}
			return started;
		}

		State state() {
			return roster().state();
		}

		boolean isBelieved() {
			return roster().doubt() == null;
		}

		String doubt() {
			return String.valueOf(roster().doubt());
		}

		/** What it says to another one. */
		Introduction introductionTo(Node other) {
			return roster().introductionTo(other.member);
		}

		/** Whether others may be rebuilt from it. */
		boolean answers() {
			return Now.of(roster().answer(new byte[] { 2 }, Deadline.NONE)) instanceof Answered;
		}

	}

	/** The records of a node. */
	static final class Disk extends InMemoryRecord {

		boolean isFull;

		Disk(long identity) {
			super(identity);
		}

		@Override
		public Mono<Void> record(String name, byte[] value) {
			return Mono.defer(() -> this.isFull ? Mono.error(NoSpace.refused(0, 1)) : super.record(name, value));
		}

	}

	/** The replica of another node, there while that runs. */
	private record Peer(Node from, Node to) implements Replica {

		@Override
		public Member member() {
			return this.to.member;
		}

		@Override
		public Mono<Reply> ask(byte[] question, Deadline deadline) {
			return Mono.defer(() -> this.to.roster().answer(question, deadline))
				.map(reply -> this.to.losesAnswers ? Failed.notDone(Reason.TIMEOUT, "no answer") : reply);
		}

		@Override
		public long expectedNanos() {
			return (this.to.roster != null && !this.to.isPaused && !this.from.isPaused) ? 1 : AWAY;
		}

		@Override
		public Mono<Reply> read(Key key, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> readVersion(Key key, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, boolean repair, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

	}

}
