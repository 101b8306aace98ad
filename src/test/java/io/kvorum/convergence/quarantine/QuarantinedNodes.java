package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Nodes that exchange introductions, in time that a test moves; nothing is stored.
 */
final class QuarantinedNodes {

	static final Duration MOST_AWAY = Duration.ofDays(9);

	static final Duration FOUNDING_TIME = Duration.ofSeconds(3);

	static final Duration SETTLING_TIME = Duration.ofSeconds(2);

	/** A step of time: shorter than all that a node waits for. */
	private static final Duration STEP = Duration.ofMillis(10);

	private final Topology topology;

	final SteeredTime time = new SteeredTime();

	private final VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();

	final List<Node> nodes;

	/** Three nodes. */
	QuarantinedNodes() {
		this("http://a:1", "http://b:1", "http://c:1");
	}

	QuarantinedNodes(String... addresses) {
		this(Topology.of(List.of(addresses), addresses.length));
	}

	QuarantinedNodes(Topology topology) {
		this.topology = topology;
		this.nodes = this.topology.members().stream().map(Node::new).toList();
	}

	Node node(int index) {
		return this.nodes.get(index);
	}

	Node node(String address) {
		return this.nodes.stream().filter(node -> node.member.address().equals(address)).findFirst().orElseThrow();
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

		@Nullable NodeState nodeState;

		@Nullable Quarantine quarantine;

		private @Nullable Disposable running;

		/** The members from which it was rebuilt in this life. */
		final List<Member> rebuiltFrom = new ArrayList<>();

		/** Whether a rebuild removed entries that no other node knows. */
		boolean hasLetGo;

		/** The partitions with entries that the others cannot read. */
		SortedSet<Integer> unreadable = Collections.emptySortedSet();

		/** Each so many copies of a part fail; 0 for none. */
		int failsEach;

		private int copied;

		/** The number of times that it copied the promises of others. */
		int promiseCopies;

		/** The number of times that it gave up its hints. */
		int hintRemovals;

		boolean acceptsLoss;

		private boolean isPaused;

		private boolean losesQueries;

		private boolean losesAnswers;

		/** Whether the others see it with another topology. */
		boolean hasOtherTopology;

		/** Whether the others see it with an earlier layout. */
		boolean isBehind;

		/** The number of introductions that it sent, by their receivers. */
		final Map<Node, Integer> introductions = new HashMap<>();

		/** The number of restarts of peers that it noticed. */
		int restartsOfPeers;

		/**
		 * The instant before which it undid what the others do not have; 0 if it did not.
		 */
		long undoneBeforeMillis;

		/** Whether it might vote at any time in this life. */
		boolean hasVoted;

		Node(Member member) {
			this.member = member;
			this.disk = new Disk(1 + member.index());
		}

		/** Gives it the disk of a member, with these instants. */
		Node withDisk(long identity, long admittedMillis, long aliveMillis) {
			this.disk = new Disk(identity);
			return withRecords(new Membership(State.MEMBER, admittedMillis), aliveMillis);
		}

		Node withRecords(Membership membership, long aliveMillis) {
			Now.of(this.disk.record(NodeState.MEMBERSHIP, membership.toBytes()));
			Now.of(this.disk.record(NodeState.ALIVE, ByteBuffer.allocate(Long.BYTES).putLong(aliveMillis).array()));
			return this;
		}

		/** Gives it the disk of a member that has just ended. */
		Node asMember() {
			return withDisk(1 + this.member.index(), 1, QuarantinedNodes.this.time.millis());
		}

		Node remembering(Node other, long identity, long sinceMillis) {
			Now.of(this.disk.record("disk of " + other.member.address(),
					ByteBuffer.allocate(2 * Long.BYTES).putLong(identity).putLong(sinceMillis).array()));
			return this;
		}

		Node start() {
			return start(SystemBoot.SYNCED);
		}

		Node start(SystemBoot boot) {
			return make(boot).run();
		}

		/** Starts it, except that it does not introduce itself to others. */
		Node make(SystemBoot boot) {
			stop();
			QuarantinedNodes nodes = QuarantinedNodes.this;
			NodeState started = new NodeState(nodes.topology, this.member, this.disk,
					(_, _) -> Mono.just(new Answered(new byte[0])), nodes.time, MOST_AWAY, boot);
			started.whenRestarted(() -> this.restartsOfPeers++);
			this.nodeState = started;
			// A full disk: what it is will be recorded later.
			Now.of(started.load().onErrorComplete());
			List<Peer> peers = nodes.nodes.stream()
				.filter(other -> other != this)
				.map(other -> new Peer(this, other))
				.toList();
			this.quarantine = new Quarantine(started, peers,
					(from, _, staleBefore, undoneBefore) -> rebuild(from, staleBefore, undoneBefore),
					(_, _) -> Mono.fromRunnable(() -> this.promiseCopies++),
					() -> Mono.fromRunnable(() -> this.hintRemovals++), nodes.time,
					delay -> Mono.delay(delay, nodes.scheduler), new QuarantineSettings(SETTLING_TIME,
							Duration.ofSeconds(1), Duration.ofSeconds(5), FOUNDING_TIME, this.acceptsLoss));
			return this;
		}

		Node run() {
			Quarantine made = this.quarantine;
			if (made == null) {
				throw new IllegalStateException(this.member + " is not made");
			}
			this.running = made.run().subscribe();
			return this;
		}

		private Mono<SortedSet<Integer>> rebuild(Collection<Member> from, long staleBeforeMillis,
				long undoneBeforeMillis) {
			this.hasLetGo = staleBeforeMillis != Long.MIN_VALUE;
			if (undoneBeforeMillis != Long.MIN_VALUE) {
				this.undoneBeforeMillis = undoneBeforeMillis;
			}
			this.rebuiltFrom.clear();
			this.rebuiltFrom.addAll(from);
			if (this.failsEach > 0 && ++this.copied % this.failsEach == 0) {
				return Mono.error(new IllegalStateException("no answer"));
			}
			return Mono.just(this.unreadable);
		}

		void stop() {
			if (this.running != null) {
				this.running.dispose();
			}
			this.nodeState = null;
			this.hasVoted = false;
		}

		/** Whether another one was running before it has started. */
		boolean wasAfter(Node other) {
			Quarantine own = this.quarantine;
			return own != null && own.wasBefore(other.member);
		}

		/** It receives and sends nothing. */
		void pause() {
			this.isPaused = true;
		}

		void resume() {
			this.isPaused = false;
		}

		/** It receives introductions; its own and its answers are lost. */
		void loseMessages() {
			this.losesQueries = true;
			this.losesAnswers = true;
		}

		void keepMessages() {
			this.losesQueries = false;
			this.losesAnswers = false;
		}

		/** Its own introductions are lost; its answers are not. */
		void loseQueries() {
			this.losesQueries = true;
		}

		/** Its disk is full from now on. */
		void refuseRecords() {
			this.disk.isFull = true;
		}

		/** Its disk has no space for a record of another node. */
		void refuseRecordsOf(Node other) {
			this.disk.refused = "disk of " + other.member.address();
		}

		void takeRecords() {
			this.disk.isFull = false;
			this.disk.refused = "";
		}

		boolean knows(Node other) {
			return nodeState().peers().introductionOf(other.member) != null;
		}

		/** The last instant on its disk at which it was alive. */
		long notedMillis() {
			byte[] alive = this.disk.recorded(NodeState.ALIVE);
			return (alive != null) ? ByteBuffer.wrap(alive).getLong() : 0;
		}

		List<String> refused() {
			return nodeState().peers().refused();
		}

		private void look() {
			this.hasVoted |= this.nodeState != null && this.nodeState.mayVote();
		}

		NodeState nodeState() {
			NodeState started = this.nodeState;
			if (started == null) {
				throw new IllegalStateException(this.member + " is not started");
			}
			return started;
		}

		State state() {
			return nodeState().state();
		}

		boolean mayVote() {
			return nodeState().mayVote();
		}

		Member member() {
			return this.member;
		}

		String withheldBecause() {
			return String.valueOf(nodeState().withheldBecause());
		}

		/** Its introduction to another node. */
		Introduction introductionTo(Node other) {
			return nodeState().introductionTo(other.member, true);
		}

		/** Whether others may be rebuilt from it. */
		boolean answers() {
			return Now.of(nodeState().answer(new PeerQuery(PeerQuery.Kind.SLICES, new byte[0]),
					Deadline.NONE)) instanceof Answered;
		}

	}

	/** The records of a node. */
	static final class Disk extends InMemoryRecord {

		boolean isFull;

		private String refused = "";

		/** Happens once, while a record is written. */
		Runnable meanwhile = () -> {
		};

		Disk(long identity) {
			super(identity);
		}

		@Override
		public Mono<Void> record(String name, byte[] value) {
			return Mono.defer(() -> (this.isFull || name.equals(this.refused)) ? Mono.error(NoSpace.refused(0, 1))
					: super.record(name, value).then(Mono.fromRunnable(this::happen)));
		}

		private void happen() {
			Runnable happening = this.meanwhile;
			this.meanwhile = () -> {
			};
			happening.run();
		}

	}

	/** The replica of another node, there while that runs. */
	private record Peer(Node from, Node to) implements Replica {

		@Override
		public Member member() {
			return this.to.member;
		}

		@Override
		public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
			this.from.introductions.merge(this.to, 1, Integer::sum);
			Reply none = Failed.notDone(Reason.TIMEOUT, "no answer");
			return Mono
				.defer(() -> this.from.losesQueries ? Mono.just(none) : this.to.nodeState().answer(query, deadline))
				.map(reply -> this.to.losesAnswers ? none : reply);
		}

		@Override
		public boolean isOfSameTopology() {
			return !this.to.hasOtherTopology;
		}

		@Override
		public boolean isBehind() {
			return this.to.isBehind;
		}

		@Override
		public long expectedNanos() {
			return (this.to.nodeState != null && !this.to.isPaused && !this.from.isPaused) ? 1 : AWAY;
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
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

	}

}
