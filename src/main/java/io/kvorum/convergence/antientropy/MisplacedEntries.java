package io.kvorum.convergence.antientropy;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.convergence.antientropy.RepairEvents.Direction;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.Pace;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Hands entries that do not belong here to the replicas of their key that lack them, and
 * removes them here once all those replicas have them. Such entries come from changes of
 * the topology, and from writes with fewer copies than the write before. Digests show
 * which partitions have none, without a look at the disk.
 * <p>
 * An entry may have come here to overwrite an older one of its key. It is removed only
 * after a repair with each other member: a member that still had the older entry would
 * bring it back.
 */
final class MisplacedEntries {

	/** Partitions that are handed on at a time. */
	private static final int PARTITIONS = 16;

	/** Entries of each of these that are. */
	private static final int AT_ONCE = 4;

	/** The large entries that are handed on in one round. */
	private static final int MOST_LARGE = 10_000;

	/**
	 * The time after which entries that may not be removed yet are handed on. Behind a
	 * change of the topology their owners have them, and are asked only once.
	 */
	static final Duration DELAY = Duration.ofSeconds(30);

	private static final long NEVER = Long.MAX_VALUE;

	private final Replica local;

	private final List<? extends Replica> replicas;

	private final PartitionIndex index;

	private final RendezvousPlacement placement;

	private final RepairLog log;

	private final TimeSource time;

	private final RepairSettings settings;

	private final Pace pace;

	private final KeySettling settling;

	private final RepairEvents events;

	/** The misplaced entries seen in each slice. */
	private final Map<Integer, Seen> seen = new HashMap<>();

	/**
	 * Large entries that this round leaves for its end; more of them wait for the next.
	 */
	private final Set<Item> large = new LinkedHashSet<>();

	private volatile int remaining;

	MisplacedEntries(Replica local, List<? extends Replica> replicas, PartitionIndex index,
			RendezvousPlacement placement, RepairLog log, TimeSource time, RepairSettings settings, Pace pace,
			KeySettling settling, RepairEvents events) {
		this.local = local;
		this.replicas = replicas;
		this.index = index;
		this.placement = placement;
		this.log = log;
		this.time = time;
		this.settings = settings;
		this.pace = pace;
		this.settling = settling;
		this.events = events;
	}

	/** The number of partitions with misplaced entries after the last round. */
	int remaining() {
		return this.remaining;
	}

	/**
	 * Hands on what can be handed on, and returns the number of partitions that are left.
	 */
	Mono<Integer> round() {
		return Flux.defer(() -> Flux.fromIterable(look().entrySet()))
			.doFirst(this.large::clear)
			.flatMap(due -> handOn(due.getKey(), due.getValue()), PARTITIONS)
			.thenMany(Flux.defer(() -> Flux.fromIterable(List.copyOf(this.large))))
			// One at a time, as in other repairs: they take memory.
			.concatMap(item -> handOn(item, true).onErrorComplete(StorageException.class), 1)
			.then(Mono.fromSupplier(() -> {
				this.remaining = misplaced().size();
				return this.remaining;
			}));
	}

	/**
	 * The partitions whose entries are handed on in this round, with the digests of these
	 * entries, as more may come at any moment. A partition is handed on some time after
	 * its slice has something new, and again when its entries may be removed.
	 *
	 */
	private Map<Integer, Long> look() {
		List<Integer> misplaced = misplaced();
		Map<Integer, Long> there = new LinkedHashMap<>();
		misplaced.forEach(partition -> there.put(partition, digestOf(partition)));
		Map<Integer, Long> digests = new HashMap<>();
		there.forEach((partition, digest) -> digests.merge(Partitions.sliceOf(partition),
				Digests.mix(partition + digest), (one, other) -> one ^ other));
		this.seen.keySet().retainAll(digests.keySet());
		Set<Integer> due = new HashSet<>();
		digests.forEach((slice, digest) -> {
			Seen before = this.seen.get(slice);
			long now = this.time.millis();
			long since = (before != null && before.digest == digest) ? before.sinceMillis : now;
			// Entries that come all the time do not put it off.
			long handOnAt = (before != null && (before.handOnAtMillis != NEVER || since != now)) ? before.handOnAtMillis
					: now + DELAY.toMillis();
			boolean isDue = handOnAt <= now;
			this.seen.put(slice, new Seen(digest, since, isDue ? NEVER : handOnAt));
			if (isDue || mayRemove(slice)) {
				due.add(slice);
			}

			needUnlessRepairedSinceSeen(slice);
		});
		there.keySet().removeIf(partition -> !due.contains(Partitions.sliceOf(partition)));
		return there;
	}

	private long digestOf(int partition) {
		Digests digests = this.index.digests();
		return digests.of(partition, 1) ^ digests.of(partition, rankOf(partition) + 1);
	}

	/**
	 * Whether a repair with each other member began after the misplaced entries of a
	 * slice were first seen. A repair of the same millisecond may have begun before.
	 */
	private boolean mayRemove(int slice) {
		Seen there = this.seen.get(slice);
		return there != null && this.log.repairedWithAll(slice) > there.sinceMillis;
	}

	/**
	 * Asks for repairs in each round, until the entries may be removed: a repair may have
	 * begun too early, or have failed.
	 */
	private void needUnlessRepairedSinceSeen(int slice) {
		Seen there = this.seen.get(slice);
		if (there != null) {
			this.log.others()
				.stream()
				.filter(member -> this.log.repaired(member, slice) <= there.sinceMillis)
				.forEach(member -> this.log.need(member, slice));
		}
	}

	private List<Integer> misplaced() {
		Digests digests = this.index.digests();
		return digests.slices()
			.flatMap(slice -> IntStream.range(Partitions.firstOf(slice), Partitions.firstOf(slice + 1)))
			// With many nodes the rank of one that is far back takes as long as the order
			// of all.
			.filter(partition -> !digests.isEmpty(partition) && digests.hasUpTo(partition, rankOf(partition)))
			.boxed()
			.toList();
	}

	private int rankOf(int partition) {
		return this.placement.rankOf(partition, this.local.member());
	}

	/**
	 * Hands on the misplaced entries of a partition. They may be removed only if they are
	 * those that were seen: later ones have not been repaired with any member.
	 */
	private Mono<Void> handOn(int partition, long seenDigest) {
		int rank = rankOf(partition);
		return this.index.headers(partition, deadline()).flatMap(all -> {
			List<EntryHeader> headers = all.stream()
				.filter(header -> this.placement.copiesOf(header.copies()) <= rank)
				.toList();
			boolean isAsSeen = digestOf(headers) == seenDigest;
			return Flux.fromIterable(headers)
				.flatMap(header -> handOn(new Item(partition, header, isAsSeen), false), AT_ONCE)
				.then();
		}).onErrorComplete(StorageException.class);
	}

	private long digestOf(List<EntryHeader> headers) {
		return headers.stream()
			.mapToLong(header -> Digests.itemOf(this.index.keyHash().of(header.key()), header.version()))
			.reduce(0, (one, other) -> one ^ other);
	}

	private Deadline deadline() {
		return this.settings.deadline(this.time, 0);
	}

	private Mono<Void> handOn(Item item, boolean evenLarge) {
		EntryHeader header = item.header;
		List<Member> owners = this.placement.replicasOf(item.partition, this.placement.copiesOf(header.copies()));
		if (owners.stream().anyMatch(owner -> !replicaOf(owner).isThere())) {
			return Mono.empty();
		}
		return Flux.fromIterable(owners)
			.concatMap(owner -> handOn(owner, item, evenLarge), 1)
			.all(Boolean::booleanValue)
			.flatMap(all -> (all && item.isAsSeen && mayRemove(sliceOf(header)))
					? this.index.remove(header.key(), header.version()) : Mono.just(false))
			.doOnNext(gone -> this.events.letGo(gone ? 1 : 0))
			.then();
	}

	/**
	 * Gives an entry to an owner that has neither it nor a newer one; returns whether the
	 * owner has one of them then. After a change of the topology most owners do.
	 */
	private Mono<Boolean> handOn(Member owner, Item item, boolean evenLarge) {
		return replicaOf(owner).readVersion(item.header.key(), deadline())
			.flatMap(reply -> (reply instanceof Held held && !item.header.version().isNewerThan(held.version()))
					? Mono.just(true) : give(owner, item, evenLarge));
	}

	private Mono<Boolean> give(Member owner, Item item, boolean evenLarge) {
		Key key = item.header.key();
		return this.local.read(key, deadline()).flatMap(reply -> {
			Entry entry = (reply instanceof Held held) ? held.entry() : null;
			// An entry that was overwritten meanwhile is left to the next round.
			if (entry == null || !entry.version().equals(item.header.version())) {
				return Mono.just(false);
			}
			if (!evenLarge && PairRepair.bytesOf(key, entry) > Page.Limit.USUAL_ENTRY_BYTES) {
				if (this.large.size() < MOST_LARGE) {
					this.large.add(item);
				}
				return Mono.just(false);
			}
			return give(owner, key, entry);
		});
	}

	private Mono<Boolean> give(Member owner, Key key, Entry entry) {
		int bytes = PairRepair.bytesOf(key, entry);
		Deadline deadline = this.settings.deadline(this.time, bytes);
		return replicaOf(owner).store(key, entry, Purpose.REPAIR, deadline).flatMap(reply -> {
			boolean taken = reply instanceof Acknowledged;
			this.events.moved(owner, Direction.THERE, taken ? 1 : 0, taken ? bytes : 0);
			return settled(key, reply).then(this.pace.afterBytes(bytes)).thenReturn(taken);
		});
	}

	/**
	 * Settles a key whose promise has kept its entry back. The next round tries again.
	 */
	private Mono<Void> settled(Key key, Reply reply) {
		Refusal refusal = reply.refusal();
		return (refusal == null) ? Mono.empty() : this.settling.settle(key, refusal.promise()).then();
	}

	private int sliceOf(EntryHeader header) {
		return Partitions.sliceOf(Partitions.ofHash(this.index.keyHash().of(header.key())));
	}

	private Replica replicaOf(Member member) {
		return this.replicas.get(member.index());
	}

	/**
	 * A misplaced entry, and whether those of its partition are the ones that were seen.
	 */
	private record Item(int partition, EntryHeader header, boolean isAsSeen) {
	}

	/**
	 * The misplaced entries of a slice.
	 *
	 * @param digest their digest
	 * @param sinceMillis when they were first seen
	 * @param handOnAtMillis when they are handed on; {@link #NEVER} if they were
	 */
	private record Seen(long digest, long sinceMillis, long handOnAtMillis) {
	}

}
