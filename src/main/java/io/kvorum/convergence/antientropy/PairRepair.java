package io.kvorum.convergence.antientropy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.convergence.antientropy.RepairEvents.Direction;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.Answered;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.Pace;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Makes this replica and another one equal in the entries that both are to hold. Compares
 * in four steps: the digests of the slices, the digests of their partitions, the keys and
 * versions in those, and the entries. Each step looks only at what differed in the one
 * before. No value is read to find a difference.
 * <p>
 * Memory: the keys and versions of {@value #MAX_ITEMS} entries and of one answer, a page
 * of entries, and the values of {@value #STORES_AT_ONCE} stores. Values above
 * {@value Page.Limit#USUAL_ENTRY_BYTES} bytes go one by one.
 * <p>
 * Fails with a {@link RepairFailedException}, or with a {@link StorageException} of the
 * store here.
 */
final class PairRepair {

	/** The most partitions that are compared at a time. */
	private static final int MAX_LEAVES = 1024;

	/** The most entries that are compared at a time; one partition may have more. */
	private static final int MAX_ITEMS = 8192;

	/** The most entries that are fetched at a time. */
	private static final int MAX_FETCHED = 1024;

	private static final int STORES_AT_ONCE = 256;

	/** The large entries in a row that may be late before the peer itself is too slow. */
	private static final int MOST_LATE = 8;

	private final Replica local;

	private final Replica peer;

	private final PartitionIndex index;

	private final RendezvousPlacement placement;

	private final PairView view;

	private final TimeSource time;

	private final RepairSettings settings;

	private final Pace pace;

	private final Manner manner;

	private final KeySettling settling;

	private final RepairEvents events;

	/** The last large entries, in a row, that did not come or go in time. */
	private int late;

	PairRepair(Replica local, Replica peer, PartitionIndex index, RendezvousPlacement placement, TimeSource time,
			RepairSettings settings, Pace pace, Manner manner, KeySettling settling, RepairEvents events) {
		this.local = local;
		this.peer = peer;
		this.index = index;
		this.placement = placement;
		this.view = new PairView(index.digests(), placement, local.member(), peer.member());
		this.time = time;
		this.settings = settings;
		this.pace = pace;
		this.manner = manner;
		this.settling = settling;
		this.events = events;
	}

	/**
	 * The treatment of differences.
	 *
	 * @param gives whether the peer gets what it lacks
	 * @param isUnderWay selects entries so young that their write may be under way
	 * @param isSettled selects tombstones that a replica without the key does not need
	 * @param isStale selects entries that are removed if no other replica knows their key
	 * @param isUndone selects entries that are removed if all other replicas have older
	 * ones
	 */
	record Manner(boolean gives, Predicate<EntryHeader> isUnderWay, Predicate<EntryHeader> isSettled,
			Predicate<EntryHeader> isStale, Predicate<EntryHeader> isUndone) {
	}

	/** The outcome of a repair. */
	final class Result {

		/**
		 * Slices in which a difference was left: its write may be under way, it cannot be
		 * read, a promise kept it back, or the peer gets nothing.
		 */
		final Set<Integer> unsettled = new HashSet<>();

		/** The unsettled slices in which this replica may lack what the peer has. */
		final Set<Integer> lacking = new HashSet<>();

		/**
		 * Entries that were passed over: they cannot be read, there or here, or are too
		 * large to be moved in time.
		 */
		final Set<EntryHeader> unreadable = new HashSet<>();

		/**
		 * Partitions whose entries cannot be listed, there or here, and were passed over.
		 */
		final Set<Integer> unlisted = new HashSet<>();

		/**
		 * Entries that the peer is to hold and does not: stale ones whose key it does not
		 * know, and undone ones of which it has an older version.
		 */
		final Set<EntryHeader> alone = new HashSet<>();

		private int partitionOf(Key key) {
			return Partitions.ofHash(PairRepair.this.index.keyHash().of(key));
		}

		private void leave(Key key) {
			this.unsettled.add(Partitions.sliceOf(partitionOf(key)));
		}

		private void lack(int partition) {
			this.unsettled.add(Partitions.sliceOf(partition));
			this.lacking.add(Partitions.sliceOf(partition));
		}

		private void passOver(EntryHeader header) {
			lack(partitionOf(header.key()));
			this.unreadable.add(header);
		}

		private void passOver(int partition) {
			lack(partition);
			this.unlisted.add(partition);
		}

	}

	/** Selects the slices in which the two replicas differ. */
	Mono<BitSet> differing() {
		return ask(Messages.askSlices(asker())).map(answer -> {
			long[] theirs = readable(() -> Messages.readDigests(answer, Partitions.SLICES));
			long[] mine = this.view.slices();
			BitSet differing = new BitSet(Partitions.SLICES);
			for (int slice = Arrays.mismatch(mine, theirs); slice >= 0 && slice < mine.length; slice++) {
				if (mine[slice] != theirs[slice]) {
					differing.set(slice);
				}
			}
			return differing;
		});
	}

	private Member self() {
		return this.local.member();
	}

	/** Names this node so that a peer that has just taken another layout knows it. */
	private int asker() {
		return this.peer.knowsTags() ? self().tag() : self().index();
	}

	/**
	 * Repairs these slices: copies what is newer on the peer, and gives it what it lacks
	 * if the {@link Manner} says so.
	 */
	Mono<Result> repair(List<Integer> slices) {
		return ask(Messages.askLeaves(asker(), slices)).map(answer -> {
			long[] theirs = readable(() -> Messages.readDigests(answer, slices.size() * Partitions.IN_SLICE));
			long[] mine = Responder.leaves(this.view, slices);
			List<Integer> partitions = new ArrayList<>();
			for (int i = 0; i < mine.length; i++) {
				if (mine[i] != theirs[i]) {
					partitions.add(Partitions.firstOf(slices.get(i / Partitions.IN_SLICE)) + i % Partitions.IN_SLICE);
				}
			}
			return partitions;
		}).flatMap(partitions -> new PartitionsRepair(partitions).run());
	}

	private Mono<byte[]> ask(PeerQuery query) {
		return askFor(query)
			.doOnNext(answer -> this.events.compared(this.peer.member(), (long) query.length() + answer.length));
	}

	private Mono<byte[]> askFor(PeerQuery query) {
		return askFor(query, 0);
	}

	/** Asks for an entry of this length. */
	private Mono<byte[]> askFor(PeerQuery query, int bytes) {
		return this.peer.ask(query, this.settings.deadline(this.time, bytes)).map(reply -> {
			if (!(reply instanceof Answered answered)) {
				throw RepairFailedException.of(this.peer.member(), reply);
			}
			return answered.bytes();
		});
	}

	private Deadline deadline() {
		return this.settings.deadline(this.time, 0);
	}

	/**
	 * Whether a large entry that failed is passed over. If one after the other is late,
	 * the peer is too slow.
	 */
	private boolean passesOverLarge(RepairFailedException error) {
		this.late += error.isLate() ? 1 : 0;
		return error.isUnreadable() || (error.isLate() && this.late < MOST_LATE);
	}

	private <T> T readable(Supplier<T> reading) {
		try {
			return reading.get();
		}
		catch (RuntimeException ex) {
			throw RepairFailedException.of(this.peer.member(), ex);
		}
	}

	/** The repair of partitions that differ, some at a time. */
	private final class PartitionsRepair {

		private final List<Integer> partitions;

		private final Result result = new Result();

		private int done;

		/**
		 * The most partitions to compare at a time: one while a partition that cannot be
		 * listed is searched for.
		 */
		private int atOnce = MAX_LEAVES;

		PartitionsRepair(List<Integer> partitions) {
			this.partitions = partitions;
		}

		Mono<Result> run() {
			return Mono.defer(this::some).repeat(() -> this.done < this.partitions.size()).then(Mono.just(this.result));
		}

		private Mono<Void> some() {
			if (this.done == this.partitions.size()) {
				return Mono.empty();
			}
			int count = Math.min(this.atOnce, this.partitions.size() - this.done);
			return PairRepair.this.index
				.headers(this.partitions.subList(this.done, this.done + count), MAX_ITEMS, deadline())
				.flatMap(this::compare)
				.onErrorResume(PartitionsRepair::isUnreadable, _ -> Mono.fromSupplier(() -> passOver(count)))
				.flatMap(this::carryOut);
		}

		/**
		 * Passes over a partition that was asked for alone. If there were more, asks for
		 * one at a time from now on: one that cannot be listed fails the query for all.
		 */
		private Plan passOver(int asked) {
			this.atOnce = 1;
			if (asked == 1) {
				this.result.passOver(this.partitions.get(this.done));
				this.done++;
			}
			return Plan.nothing();
		}

		private static boolean isUnreadable(Throwable error) {
			return error instanceof StorageException.Unreadable
					|| (error instanceof RepairFailedException failure && failure.isUnreadable());
		}

		private Mono<Plan> compare(List<List<EntryHeader>> mine) {
			List<Leaf> leaves = new ArrayList<>();
			for (int i = 0; i < mine.size(); i++) {
				leaves.add(Leaf.of(this.partitions.get(this.done + i), mine.get(i), PairRepair.this.index.keyHash()));
			}
			return ask(Messages.compare(leaves)).map(answer -> {
				List<Difference> differences = readable(() -> Messages.readDifferences(answer, leaves));
				if (differences.isEmpty()) {
					throw RepairFailedException.of(PairRepair.this.peer.member(),
							new IllegalArgumentException("nothing of what it was asked"));
				}
				Plan plan = Plan.nothing();
				for (int i = 0; i < differences.size(); i++) {
					int partition = leaves.get(i).partition;
					plan.add(mine.get(i), differences.get(i), rankOf(partition, self()),
							rankOf(partition, PairRepair.this.peer.member()), PairRepair.this.placement::copiesOf,
							PairRepair.this.manner.isUnderWay(), PairRepair.this.manner.isSettled());
				}
				this.done += differences.size();
				this.atOnce = Math.min(2 * this.atOnce, MAX_LEAVES);
				return plan;
			});
		}

		private int rankOf(int partition, Member member) {
			return PairRepair.this.placement.rankOf(partition, member);
		}

		private void noteAlone(Plan plan) {
			Set<EntryHeader> unknown = new HashSet<>(plan.alone());
			plan.push()
				.stream()
				.filter(header -> unknown.contains(header) ? PairRepair.this.manner.isStale().test(header)
						: PairRepair.this.manner.isUndone().test(header) && belongsThere(header))
				.forEach(this.result.alone::add);
		}

		private boolean belongsThere(EntryHeader header) {
			int rank = rankOf(this.result.partitionOf(header.key()), PairRepair.this.peer.member());
			return rank < PairRepair.this.placement.copiesOf(header.copies());
		}

		private Mono<Void> carryOut(Plan plan) {
			plan.left().forEach(header -> this.result.leave(header.key()));
			noteAlone(plan);
			PairRepair.this.events.differing(PairRepair.this.peer.member(), plan.size());
			return pull(plan.pull(), this.result).then(Mono.defer(() -> {
				if (PairRepair.this.manner.gives()) {
					return push(plan.push(), this.result);
				}
				plan.push().forEach(header -> this.result.leave(header.key()));
				return Mono.empty();
			}));
		}

	}

	private Mono<Void> pull(List<EntryHeader> headers, Result result) {
		return new Fetching(headers, result).run();
	}

	/** Copies entries from the peer, a page at a time. */
	private final class Fetching {

		private final SortedMap<Key, EntryHeader> wanted = new TreeMap<>();

		private final List<Key> keys;

		private final Result result;

		private int done;

		/**
		 * The most entries to fetch at a time: one while an entry that cannot be read is
		 * searched for.
		 */
		private int atOnce = MAX_FETCHED;

		Fetching(List<EntryHeader> headers, Result result) {
			headers.forEach(header -> this.wanted.put(header.key(), header));
			this.keys = List.copyOf(this.wanted.keySet());
			this.result = result;
		}

		Mono<Void> run() {
			return Mono.defer(this::some).repeat(() -> this.done < this.keys.size()).then();
		}

		private Mono<Void> some() {
			if (this.done == this.keys.size()) {
				return Mono.empty();
			}
			List<Key> some = this.keys.subList(this.done, Math.min(this.done + this.atOnce, this.keys.size()));
			return askFor(Messages.fetch(some)).flatMap(answer -> {
				Page page = readable(
						() -> Messages.readPage(answer, PairRepair.this.placement.copiesOf(Copies.DEFAULT)));
				this.atOnce = Math.min(2 * this.atOnce, MAX_FETCHED);
				return store(page, some).then(PairRepair.this.pace.afterBytes(page.length()));
			}).onErrorResume(RepairFailedException.class, error -> failed(some, error));
		}

		/**
		 * Passes over an entry that was asked for alone and cannot be read. If there were
		 * more, asks for one at a time from now on. An answer with entries ends before an
		 * unreadable one, but the first entries may be gone.
		 */
		private Mono<Void> failed(List<Key> asked, RepairFailedException error) {
			if (error.isUnreadable()) {
				this.atOnce = 1;
				if (asked.size() > 1) {
					return Mono.empty();
				}
				this.done++;
			}
			return passOverUnreadable(asked.getFirst(), error);
		}

		/**
		 * Passes over an entry that cannot be read, there or here, so that others go on.
		 */
		private Mono<Void> passOverUnreadable(Key key, RepairFailedException error) {
			return error.isUnreadable() ? passOver(key, error) : Mono.error(error);
		}

		private Mono<Void> passOver(Key key, RepairFailedException error) {
			EntryHeader header = this.wanted.get(key);
			if (header == null) {
				return Mono.error(error);
			}
			this.result.passOver(header);
			return Mono.empty();
		}

		private Mono<Void> store(Page page, List<Key> asked) {
			List<Large> large = new ArrayList<>();
			List<Received> received = new ArrayList<>();
			Page.Cursor cursor = page.cursor();
			Key last = null;
			while (cursor.advance()) {
				last = Key.of(cursor.keyBytes());
				if (cursor.isLarge()) {
					large.add(new Large(last, cursor.entryLength()));
				}
				else {
					received.add(new Received(last, cursor.entry()));
				}
			}
			this.done += (page.isLast() || last == null) ? asked.size() : 1 + place(last, asked);
			return Flux.fromIterable(received)
				.flatMap(item -> keep(item.key, item.entry), STORES_AT_ONCE)
				.then(Mono.fromRunnable(() -> PairRepair.this.events.moved(PairRepair.this.peer.member(),
						Direction.HERE, received.size(), page.length())))
				.then(Flux.fromIterable(large).concatMap(this::fetchLarge, 1).then());
		}

		/**
		 * The place of a key in the query; the last place if the query does not have it.
		 */
		private int place(Key key, List<Key> asked) {
			int place = Collections.binarySearch(asked, key);
			return (place >= 0) ? place : asked.size() - 1;
		}

		private Mono<Void> fetchLarge(Large large) {
			return askFor(Messages.fetchWhole(large.key), large.length).flatMap(answer -> {
				PairRepair.this.late = 0;
				Page page = readable(
						() -> Messages.readPage(answer, PairRepair.this.placement.copiesOf(Copies.DEFAULT)));
				Page.Cursor cursor = page.cursor();
				if (!cursor.advance()) {
					return Mono.empty();
				}
				return keep(large.key, cursor.entry())
					.then(Mono.fromRunnable(() -> PairRepair.this.events.moved(PairRepair.this.peer.member(),
							Direction.HERE, 1, page.length())))
					.then(PairRepair.this.pace.afterBytes(page.length()));
			})
				.onErrorResume(RepairFailedException.class,
						error -> passesOverLarge(error) ? passOver(large.key, error) : Mono.error(error));
		}

		private Mono<Void> keep(Key key, Entry entry) {
			EntryHeader header = this.wanted.get(key);
			boolean isUnderWay = header != null && PairRepair.this.manner.isUnderWay().test(header);
			return PairRepair.this.local.store(key, entry, Purpose.REPAIR, deadline())
				.flatMap(reply -> acknowledged(PairRepair.this.local, key, reply, isUnderWay, this.result))
				.onErrorResume(RepairFailedException.class, error -> passOverUnreadable(key, error));
		}

	}

	private record Received(Key key, Entry entry) {
	}

	/** A large entry of the peer. */
	private record Large(Key key, int length) {
	}

	static int bytesOf(Key key, Entry entry) {
		return key.bytes().length + ((entry instanceof Live live) ? live.value().length() : 0);
	}

	/**
	 * Completes if an entry was stored. If a promise has kept it back, leaves it and
	 * settles its key: the next repair finds both replicas equal. A write that may be
	 * under way is not disturbed.
	 */
	private Mono<Void> acknowledged(Replica replica, Key key, Reply reply, boolean isUnderWay, Result result) {
		if (reply instanceof Acknowledged) {
			return Mono.empty();
		}
		Refusal refusal = reply.refusal();
		if (refusal == null) {
			return Mono.error(RepairFailedException.of(replica.member(), reply));
		}
		result.lack(result.partitionOf(key));
		return isUnderWay ? Mono.empty() : this.settling.settle(key, refusal.promise()).then();
	}

	private Mono<Void> push(List<EntryHeader> headers, Result result) {
		List<EntryHeader> large = new ArrayList<>();
		headers.sort(Comparator.comparing(EntryHeader::key));
		return Flux.fromIterable(headers)
			.flatMap(header -> give(header, large, result), STORES_AT_ONCE)
			.then(Flux
				.defer(() -> Flux.fromIterable(List.copyOf(large)).concatMap(header -> give(header, null, result), 1))
				.then());
	}

	private Mono<Void> give(EntryHeader header, @Nullable List<EntryHeader> large, Result result) {
		return giveNow(header, large, result).onErrorResume(RepairFailedException.class, error -> {
			boolean passesOver = (large != null) ? error.isUnreadable() : passesOverLarge(error);
			if (passesOver) {
				result.passOver(header);
			}
			return passesOver ? Mono.empty() : Mono.error(error);
		});
	}

	/**
	 * Gives the peer the entry that is here now.
	 * @param large takes the header of a large entry, which is given later; null to give
	 * an entry of any length
	 */
	private Mono<Void> giveNow(EntryHeader header, @Nullable List<EntryHeader> large, Result result) {
		return this.local.read(header.key(), deadline()).flatMap(reply -> {
			if (!(reply instanceof Held held)) {
				throw RepairFailedException.of(self(), reply);
			}
			Entry entry = held.entry();
			if (entry == null) {
				return Mono.empty();
			}
			int bytes = bytesOf(header.key(), entry);
			if (large != null && bytes > Page.Limit.USUAL_ENTRY_BYTES) {
				large.add(header);
				return Mono.empty();
			}
			return this.peer.store(header.key(), entry, Purpose.REPAIR, this.settings.deadline(this.time, bytes))
				.flatMap(stored -> acknowledged(this.peer, header.key(), stored, this.manner.isUnderWay().test(header),
						result))
				.then(Mono.fromRunnable(() -> {
					this.late = 0;
					this.events.moved(this.peer.member(), Direction.THERE, 1, bytes);
				}))
				.then(this.pace.afterBytes(bytes));
		});
	}

}
