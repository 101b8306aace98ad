package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Knowledge of the other members: their introductions since this node started, and the
 * disk of each that this node remembers. Members that claim the identity of another node
 * are refused.
 * <p>
 * Thread-safe.
 */
final class KnownPeers {

	private static final Logger logger = LoggerFactory.getLogger(KnownPeers.class);

	/** The time after which it is recorded anew that a member is alive. */
	private static final Duration SEEN_WITHIN = Duration.ofMinutes(1);

	/** The record of a node whose disk does not count any more. */
	private static final byte[] FORGOTTEN = new byte[0];

	private final NodeRecord record;

	private volatile Nodes nodes;

	private volatile Predicate<Member> isThere = _ -> false;

	KnownPeers(Topology topology, Member self, NodeRecord record) {
		this.nodes = new Nodes(topology, self, new ConcurrentHashMap<>());
		this.record = record;
	}

	/** The nodes of a topology, and what is known of them. */
	private record Nodes(Topology topology, Member self, Map<Member, Peer> peers) {

		/** What is known of a node, which the caller may know from another topology. */
		Peer peer(Member member) {
			Member now = this.topology.current(member);
			return this.peers.computeIfAbsent((now != null) ? now : member, _ -> new Peer());
		}

	}

	/** Sets the test of which other members are there now. */
	void lookUpWith(Predicate<Member> isThere) {
		this.isThere = isThere;
	}

	/**
	 * Changes the nodes; what is known of those that stay remains. A node that is being
	 * added is a new one, even if another one had its address before.
	 */
	void become(Topology next, Member self) {
		Map<Member, Peer> kept = new ConcurrentHashMap<>();
		peers().forEach((member, peer) -> {
			Member now = next.current(member);
			if (now != null && stays(now, next)) {
				kept.put(now, peer);
			}
		});
		this.nodes = new Nodes(next, self, kept);
	}

	/**
	 * Forgets the disks of nodes that do not stay, before this node takes a topology.
	 * What one held of an earlier change is needed no more, nor is it what is added.
	 */
	Mono<Void> forget(Topology next) {
		return Flux.fromStream(() -> Stream.concat(peers().keySet().stream(), next.members().stream()))
			.filter(member -> !stays(member, next) && diskOf(member) != null)
			.concatMap(member -> this.record.record(nameOf(member), FORGOTTEN))
			.then();
	}

	private static boolean stays(Member member, Topology next) {
		return next.parts().getFirst().has(member);
	}

	private Peer peer(Member member) {
		return this.nodes.peer(member);
	}

	private Map<Member, Peer> peers() {
		return this.nodes.peers;
	}

	/**
	 * The last introduction of another member, even if that is away now. Null until this
	 * node has received one and remembers the disk in it.
	 */
	@Nullable Introduction introductionOf(Member other) {
		return peer(other).last;
	}

	/** The last introductions of some members, of those that have sent one. */
	Collection<Introduction> introductions(Predicate<Member> of) {
		return introductions(of, peer -> peer.last);
	}

	/**
	 * The first introductions since this node started. The first one of a member that was
	 * away as well tells when its last life ended.
	 */
	Collection<Introduction> firstIntroductions() {
		return introductions(_ -> true, peer -> peer.first);
	}

	/**
	 * Whether another member is running since before this node has started: it has told
	 * first that this node had known of its start, and has not restarted since.
	 */
	boolean wasBefore(Member other) {
		return peer(other).wasBefore;
	}

	private Collection<Introduction> introductions(Predicate<Member> of, Function<Peer, @Nullable Introduction> which) {
		return peers().entrySet()
			.stream()
			.filter(peer -> of.test(peer.getKey()))
			.flatMap(peer -> Stream.ofNullable(which.apply(peer.getValue())))
			.toList();
	}

	/**
	 * Introduces this node to another member.
	 * @param number this node's index, or its tag
	 * @param aliveMillis the last instant on disk at which this node was alive. With a
	 * later one this disk could look stale if the node stopped right now.
	 * @param isOfThisLife whether that is an instant of this life
	 * @param identity the identity of the other member's disk; 0 if it is not known
	 */
	Introduction introductionTo(Member other, int number, Membership own, long aliveMillis, boolean isOfThisLife,
			long identity) {
		long seenAliveMillis = peer(other).seenAliveMillis(isOfThisLife);
		Disk known = diskOf(other);
		Disk disk = (known != null) ? known : Disk.since(0, 0);
		long rememberedMillis = (disk.identity == identity) ? disk.latestMillis : disk.sinceMillis;
		return new Introduction(number, this.record.identity(), own, aliveMillis, disk.identity, rememberedMillis,
				seenAliveMillis);
	}

	/** The identity of the disk in the last introduction of a member; 0 without one. */
	long identityOf(Member other) {
		Introduction said = introductionOf(other);
		return (said != null) ? said.identity() : 0;
	}

	/**
	 * Takes an introduction, but does not count it as received: see {@link #remember}.
	 * @return whether it is the first one since this node started
	 */
	boolean take(Member other, Introduction introduction) {
		return peer(other).take(introduction);
	}

	/** Notes that another member knows that this node has started. */
	void knowsOfStart(Member other) {
		peer(other).knowsOfStart = true;
	}

	/**
	 * Whether another member saw this node alive before this life. If this node was the
	 * first to introduce itself, the member may repeat an instant of this life.
	 * @param startedMillis when this life began
	 */
	boolean sawEarlierLife(Member other, Introduction introduction, long startedMillis) {
		return !peer(other).introducedFirst || introduction.lastSeenMillis() < startedMillis;
	}

	/**
	 * Remembers the disk in an introduction if it is a later disk of a member, or if the
	 * rule asks for it, and when a member was alive with its disk. The introduction then
	 * counts as received.
	 */
	Mono<Void> remember(Member other, Introduction introduction, AdmissionRule rule) {
		return rememberDisk(other, introduction, rule).then(Mono.fromRunnable(() -> peer(other).last = introduction));
	}

	private Mono<Void> rememberDisk(Member other, Introduction introduction, AdmissionRule rule) {
		Disk known = diskOf(other);
		long identity = introduction.identity();
		Membership membership = introduction.membership();
		if (membership.isMember() && membership.admittedMillis() > ((known != null) ? known.sinceMillis : 0)) {
			return record(other, Disk.since(identity, membership.admittedMillis()));
		}
		if (membership.isMember() && known != null && known.identity == identity
				&& introduction.aliveMillis() - known.latestMillis >= SEEN_WITHIN.toMillis()) {
			// A full disk is no reason to refuse the introduction.
			return record(other, new Disk(identity, known.sinceMillis, introduction.aliveMillis())).onErrorComplete();
		}
		return (known == null && rule.remembersNonMember(introduction)) ? record(other, Disk.since(identity, 0))
				: Mono.empty();
	}

	private @Nullable Disk diskOf(Member other) {
		byte[] recorded = this.record.recorded(nameOf(other));
		return (recorded != null && recorded.length > 0) ? Disk.of(recorded) : null;
	}

	private Mono<Void> record(Member other, Disk disk) {
		return this.record.record(nameOf(other), disk.toBytes());
	}

	private static String nameOf(Member other) {
		return "disk of " + other.address();
	}

	/**
	 * Refuses another member if it introduces itself with the identity of this node, or
	 * of one that is there: one of the two has a copy of the other's directory.
	 * @return whether the introduction is refused
	 */
	boolean refuse(Member other, Introduction introduction) {
		Peer peer = peer(other);
		Member twin = twinOf(other, introduction);
		if (twin != null && !twin.equals(peer.twin)) {
			logger.error("{}. Stop the one that has the copy, and start it with an empty directory",
					describeTwins(other, twin));
		}
		peer.twin = twin;
		return twin != null;
	}

	private @Nullable Member twinOf(Member other, Introduction introduction) {
		if (introduction.identity() == this.record.identity()) {
			return this.nodes.self;
		}
		for (Map.Entry<Member, Peer> known : peers().entrySet()) {
			Member member = known.getKey();
			if (known.getValue().hasIdentity(introduction.identity()) && !member.equals(other)
					&& this.isThere.test(member)) {
				return member;
			}
		}
		return null;
	}

	/** Whether the last introduction of another member was refused. */
	boolean refuses(Member other) {
		return peer(other).twin != null;
	}

	/** Why members that are there are refused. */
	List<String> refused() {
		return peers().entrySet()
			.stream()
			.filter(known -> this.isThere.test(known.getKey()))
			.flatMap(known -> Stream.ofNullable(known.getValue().twin).map(twin -> describeTwins(known.getKey(), twin)))
			.toList();
	}

	private static String describeTwins(Member other, Member twin) {
		return "%s has the identity of %s: one of them has a copy of the other one's directory"
			.formatted(other.address(), twin.address());
	}

	/** Whether a member that is there claims the identity of this node. */
	boolean hasTwin() {
		return peers().entrySet()
			.stream()
			.anyMatch(known -> this.nodes.self.equals(known.getValue().twin) && this.isThere.test(known.getKey()));
	}

	/**
	 * A disk of another member.
	 *
	 * @param sinceMillis when the node became a member with it, by its own clock; 0 if it
	 * has not
	 * @param latestMillis about the last instant at which it was seen as a member with
	 * it, by its own clock
	 */
	private record Disk(long identity, long sinceMillis, long latestMillis) {

		static Disk since(long identity, long millis) {
			return new Disk(identity, millis, millis);
		}

		byte[] toBytes() {
			return ByteBuffer.allocate(3 * Long.BYTES)
				.putLong(this.identity)
				.putLong(this.sinceMillis)
				.putLong(this.latestMillis)
				.array();
		}

		/** Reads a record. Those of older versions end before the last instant. */
		static Disk of(byte[] recorded) {
			ByteBuffer in = ByteBuffer.wrap(recorded);
			Disk disk = since(in.getLong(), in.getLong());
			return in.hasRemaining() ? new Disk(disk.identity, disk.sinceMillis, in.getLong()) : disk;
		}

	}

	/**
	 * Knowledge of one member since this node started. What introductions say of the last
	 * life is read and written under its lock.
	 */
	private static final class Peer {

		private volatile @Nullable Introduction first;

		/** Whether it is running since before this node has started. */
		private volatile boolean wasBefore;

		/** The last introduction whose disk is remembered. */
		private volatile @Nullable Introduction last;

		/**
		 * Whether this node introduced itself with an instant of this life before the
		 * peer did.
		 */
		private volatile boolean introducedFirst;

		/** Whether the peer is certain to know that this node has started. */
		private volatile boolean knowsOfStart;

		/**
		 * The instant to repeat to a peer that has received nothing from this node since
		 * its own start: the end of its last life, whatever its disk says. Null if the
		 * peer has received something.
		 */
		private @Nullable Long seenBeforeMillis;

		/** The node whose identity the peer claims. */
		private volatile @Nullable Member twin;

		synchronized boolean take(Introduction introduction) {
			Introduction before = this.last;
			if (introduction.hasReceived()) {
				this.seenBeforeMillis = null;
			}
			else if (before != null && this.seenBeforeMillis == null) {
				this.seenBeforeMillis = before.aliveMillis();
			}
			boolean isFirst = this.first == null;
			if (isFirst) {
				this.first = introduction;
			}
			this.wasBefore = (isFirst || this.wasBefore) && !introduction.mayHaveRestarted();
			return isFirst;
		}

		/**
		 * The instant to repeat to the peer, see {@link Introduction#seenAliveMillis()}.
		 */
		synchronized long seenAliveMillis(boolean tellsOfThisLife) {
			Introduction said = (this.last != null) ? this.last : this.first;
			if (said == null) {
				this.introducedFirst |= tellsOfThisLife;
				return 0;
			}
			// Never 0, which stands for nothing received.
			long seen = Math.max(1, (this.seenBeforeMillis != null) ? this.seenBeforeMillis : said.aliveMillis());
			return this.knowsOfStart ? seen : -seen;
		}

		boolean hasIdentity(long identity) {
			Introduction said = this.last;
			return said != null && said.identity() == identity;
		}

	}

}
