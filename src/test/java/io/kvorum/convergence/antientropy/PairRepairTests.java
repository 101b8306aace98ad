package io.kvorum.convergence.antientropy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Pace;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.ForwardedIndex;
import io.kvorum.testing.ForwardedReplica;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/** Two of three nodes, one of which cannot read its index of some partitions. */
@ExtendWith(OutputCaptureExtension.class)
class PairRepairTests {

	private static final Topology TOPOLOGY = Topology.of(List.of("http://a", "http://b", "http://c"), 3);

	private static final RendezvousPlacement PLACEMENT = new RendezvousPlacement(TOPOLOGY);

	private static final List<Member> MEMBERS = TOPOLOGY.members();

	private static final List<Key> KEYS = IntStream.range(0, 300).mapToObj(i -> Generator.key("key " + i)).toList();

	private static final Version VERSION = new Version(1, 1);

	private static final List<Integer> ALL_SLICES = IntStream.range(0, Partitions.SLICES).boxed().toList();

	private static final RepairSettings SETTINGS = new RepairSettings(Duration.ofHours(1), 1, Long.MAX_VALUE,
			Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(1));

	/** Partitions in the middle of the order. */
	private static final Set<Integer> DAMAGED = KEYS.stream()
		.map(RendezvousPlacement::partitionOf)
		.sorted()
		.skip(100)
		.limit(3)
		.collect(Collectors.toSet());

	private final SteeredTime time = new SteeredTime();

	private final List<InMemoryStorage> stores = Stream.generate(InMemoryStorage::new).limit(3).toList();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	PairRepairTests() {
		this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
	}

	@Test
	void aRebuildBringsWhatIsInOtherPartitionsThanThoseThatAPeerCannotRead() {
		KEYS.forEach(key -> store(1, key));

		SortedSet<Integer> missing = Now.of(antiEntropy(Set.of(), DAMAGED).rebuild(List.of(MEMBERS.get(1)), ALL_SLICES,
				Long.MIN_VALUE, Long.MIN_VALUE));

		assertThat(missing).containsExactlyInAnyOrderElementsOf(DAMAGED);
		assertThat(KEYS.stream().filter(key -> stored(0, key) == null))
			.allMatch(key -> DAMAGED.contains(RendezvousPlacement.partitionOf(key)))
			.hasSize(DAMAGED.size());
	}

	@Test
	void aRebuildIsWholeWhenAnotherSourceHasWhatIsInThosePartitions() {
		KEYS.forEach(key -> {
			store(1, key);
			store(2, key);
		});
		AntiEntropy antiEntropy = antiEntropy(Set.of(), DAMAGED);
		List<Member> sources = List.of(MEMBERS.get(1), MEMBERS.get(2));

		Now.of(antiEntropy.rebuild(sources, ALL_SLICES, Long.MIN_VALUE, Long.MIN_VALUE));
		SortedSet<Integer> missing = Now.of(antiEntropy.rebuild(sources, ALL_SLICES, Long.MIN_VALUE, Long.MIN_VALUE));

		assertThat(missing).isEmpty();
		assertThat(KEYS).allMatch(key -> stored(0, key) != null);
	}

	/** They were restored to an instant before it. */
	@Test
	void aRebuildUndoesWhatAllOthersHaveInAnOlderVersion() {
		Entry newer = new Tombstone(new Version(5L << Version.COUNTER_BITS, 1), 3);
		Entry newest = new Tombstone(new Version(10L << Version.COUNTER_BITS, 1), 3);
		Entry ofOne = new Tombstone(newer.version(), 1);
		List<Key> first = KEYS.stream()
			.filter(key -> PLACEMENT.rankOf(RendezvousPlacement.partitionOf(key), MEMBERS.get(0)) == 0)
			.toList();
		Map<Key, Entry> here = Map.of(first.get(0), newer, first.get(1), newer, first.get(2), newest, first.get(3),
				ofOne, first.get(4), newer);
		here.forEach((key, entry) -> store(0, key, entry));
		first.subList(0, 4).forEach(key -> {
			store(1, key);
			store(2, key);
		});
		store(2, first.get(1), newer);
		AntiEntropy antiEntropy = antiEntropy(Set.of(), Set.of());

		Now.of(antiEntropy.rebuild(MEMBERS.subList(1, 2), ALL_SLICES, Long.MIN_VALUE, 10));
		assertThat(here.keySet()).as("another one may have it")
			.allMatch(key -> Objects.equals(stored(0, key), here.get(key)));
		Now.of(antiEntropy.rebuild(MEMBERS.subList(1, 3), ALL_SLICES, Long.MIN_VALUE, 10));
		assertThat(stored(0, first.get(0))).isNull();
		assertThat(first.subList(1, 5)).as("held by another, too new, meant for this node alone, unknown to others")
			.allMatch(key -> Objects.equals(stored(0, key), here.get(key)));

		Now.of(antiEntropy.rebuild(MEMBERS.subList(1, 3), ALL_SLICES, Long.MIN_VALUE, Long.MIN_VALUE));
		assertThat(stored(0, first.get(0))).extracting(Entry::version).isEqualTo(VERSION);
		assertThat(first.subList(1, 5)).allMatch(key -> Objects.equals(stored(0, key), here.get(key)));
	}

	@Test
	void aRepairLeavesSlicesWithPartitionsThatAPeerCannotReadAndMakesTheOthersEqual() {
		assertThatAllButDamagedAreRepaired(pairRepair(Set.of(), DAMAGED));
	}

	@Test
	void aRepairLeavesSlicesWithPartitionsThatThisNodeCannotReadAndMakesTheOthersEqual() {
		assertThatAllButDamagedAreRepaired(pairRepair(DAMAGED, Set.of()));
	}

	private void assertThatAllButDamagedAreRepaired(PairRepair repair) {
		KEYS.forEach(key -> store(key.hashCode() & 1, key));

		PairRepair.Result result = Objects.requireNonNull(Now.of(repair.repair(ALL_SLICES)));

		assertThat(result.unsettled)
			.containsExactlyInAnyOrderElementsOf(DAMAGED.stream().map(Partitions::sliceOf).collect(Collectors.toSet()));
		assertThat(KEYS.stream().filter(key -> stored(0, key) == null || stored(1, key) == null))
			.allMatch(key -> DAMAGED.contains(RendezvousPlacement.partitionOf(key)))
			.hasSize(DAMAGED.size());
	}

	@Test
	void anEntryThatAPeerCannotReadIsPassedOverAndNoneThatIsGoneBeforeIt() {
		KEYS.forEach(key -> store(1, key));
		List<Key> sorted = KEYS.stream().sorted().toList();
		Set<Key> gone = Set.copyOf(sorted.subList(0, 5));
		Key damaged = sorted.get(5);
		PartitionIndex there = new DamagedEntry(this.stores.get(1), damaged,
				() -> gone.forEach(key -> Now.of(this.stores.get(1).remove(key, VERSION))));

		PairRepair.Result result = Objects
			.requireNonNull(Now.of(pairRepair(this.stores.get(0), replica(1, there)).repair(ALL_SLICES)));

		assertThat(result.unreadable).extracting(EntryHeader::key).containsExactly(damaged);
		assertThat(result.unsettled).containsExactly(Partitions.sliceOf(RendezvousPlacement.partitionOf(damaged)));
		assertThat(KEYS.stream().filter(key -> stored(0, key) == null)).hasSize(gone.size() + 1)
			.allMatch(key -> gone.contains(key) || key.equals(damaged));
	}

	@Test
	void aLargeEntryHasTheTimeThatItsLengthTakes() {
		Entry entry = live(3_000_000);
		List<Key> keys = KEYS.stream().sorted().limit(2).toList();
		Now.of(this.stores.get(1).store(keys.getFirst(), entry, Deadline.NONE));
		Now.of(this.stores.get(0).store(keys.getLast(), entry, Deadline.NONE));
		List<Duration> given = new ArrayList<>();
		PairRepair repair = pairRepair(this.stores.get(0), new ForwardedReplica(replica(1, Set.of())) {

			@Override
			public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
				note(deadline);
				return super.ask(query, deadline);
			}

			@Override
			public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
				note(deadline);
				return super.store(key, entry, purpose, deadline);
			}

			private void note(Deadline deadline) {
				given.add(Duration.ofNanos(deadline.remainingNanos(PairRepairTests.this.time)));
			}

		});

		Now.of(repair.repair(ALL_SLICES));

		assertThat(keys).allMatch(key -> stored(0, key) != null && stored(1, key) != null);
		assertThat(given).filteredOn(time -> time.compareTo(SETTINGS.timeout()) > 0)
			.hasSize(2)
			.allMatch(time -> time.compareTo(SETTINGS.timeout().plusSeconds(3)) >= 0);
	}

	@Test
	void aLargeEntryThatDoesNotComeOrGoInTimeIsPassedOver() {
		Entry entry = live(100_000);
		KEYS.forEach(key -> Now.of(this.stores.get(key.hashCode() & 1).store(key, entry, Deadline.NONE)));
		Set<Key> late = IntStream.range(0, 2)
			.mapToObj(node -> KEYS.stream().filter(key -> (key.hashCode() & 1) == node).findFirst().orElseThrow())
			.collect(Collectors.toSet());

		PairRepair.Result result = Objects
			.requireNonNull(Now.of(pairRepair(this.stores.get(0), withLate(late)).repair(ALL_SLICES)));

		assertThat(result.unreadable).extracting(EntryHeader::key).containsExactlyInAnyOrderElementsOf(late);
		assertThat(result.unsettled).hasSize(2);
		assertThat(KEYS.stream().filter(key -> stored(0, key) == null || stored(1, key) == null)).hasSize(2)
			.allMatch(late::contains);
	}

	@Test
	void aPeerToWhichNoLargeEntryGoesInTimeEndsTheRepair() {
		Entry entry = live(100_000);
		KEYS.forEach(key -> Now.of(this.stores.get(0).store(key, entry, Deadline.NONE)));

		assertThatExceptionOfType(RepairFailedException.class)
			.isThrownBy(() -> Now.of(pairRepair(this.stores.get(0), withLate(Set.copyOf(KEYS))).repair(ALL_SLICES)));
	}

	/** The second node, over a link that is too slow for some entries. */
	private Replica withLate(Set<Key> late) {
		Mono<Reply> timeout = Mono.just(Failed.unknown(Reason.TIMEOUT, "no answer in time"));
		return new ForwardedReplica(replica(1, Set.of())) {

			@Override
			public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
				return late.stream().anyMatch(key -> Arrays.equals(Messages.fetchWhole(key).toBytes(), query.toBytes()))
						? timeout : super.ask(query, deadline);
			}

			@Override
			public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
				return late.contains(key) ? timeout : super.store(key, entry, purpose, deadline);
			}

		};
	}

	@ParameterizedTest
	@EnumSource(Reason.class)
	void onlyWhatDoesNotPassByItselfIsLoggedAndShownAsTrouble(Reason reason, CapturedOutput output) {
		List<LocalReplica> replicas = MEMBERS.stream()
			.map(member -> replica(member.index(), (_, _) -> Mono.just(Failed.notDone(reason, "why"))))
			.toList();
		AntiEntropy antiEntropy = new AntiEntropy(replicas.get(0), replicas, this.stores.get(0), PLACEMENT,
				new RepairLog(TOPOLOGY, MEMBERS.get(0), new InMemoryRecord(1)), _ -> false, VotingRight.TRUSTED,
				this.time, _ -> Mono.never(), SETTINGS, (_, _) -> Mono.empty(), RepairEvents.NONE);
		antiEntropy.run().subscribe().dispose();

		// Unavailable is the store of a node that starts, stops, or ends by its failure.
		boolean passes = Set.of(Reason.UNAVAILABLE, Reason.AWAY, Reason.DISCONNECTED, Reason.REBUILDING)
			.contains(reason);
		assertThat(antiEntropy.progress()).hasSize(2)
			.allMatch(peer -> peer.finishedMillis() > 0)
			.allMatch(peer -> peer.trouble().isEmpty() == passes);
		assertThat(MEMBERS.subList(1, 3)).as("no other reason is why a change passes a node over")
			.allMatch(peer -> antiEntropy.cannotRead(peer) == (reason == Reason.UNREADABLE));
		antiEntropy.compareAnew(MEMBERS.get(1));
		assertThat(antiEntropy.cannotRead(MEMBERS.get(1))).isFalse();
		assertThat(output.toString().contains("was given up and will be tried again")).isEqualTo(!passes);
	}

	/** The log is of the new nodes a moment before the anti-entropy is. */
	@Test
	void theProgressIsToldWhileTheNodeTakesALayout() {
		RepairLog log = new RepairLog(TOPOLOGY, MEMBERS.get(1), new InMemoryRecord(1));
		List<LocalReplica> replicas = MEMBERS.stream().map(member -> replica(member.index(), Set.of())).toList();
		AntiEntropy antiEntropy = new AntiEntropy(replicas.get(1), replicas, this.stores.get(1), PLACEMENT, log,
				_ -> false, VotingRight.TRUSTED, this.time, _ -> Mono.never(), SETTINGS, (_, _) -> Mono.empty(),
				RepairEvents.NONE);
		Topology next = Topology.of(List.of("http://0", "http://b", "http://c", "http://d"), 3);
		log.become(next, next.member("http://b"));
		IntStream.range(0, Partitions.SLICES).forEach(slice -> log.repaired(next.member("http://c"), slice, 9));

		assertThat(antiEntropy.progress())
			.extracting(peer -> peer.member().address(), RepairProgress::oldestRepairMillis)
			.containsExactly(tuple("http://a", RepairLog.NEVER), tuple("http://c", 9L));
		assertThat(antiEntropy.isConverged()).isFalse();
	}

	private PairRepair pairRepair(Set<Integer> damagedHere, Set<Integer> damagedThere) {
		return pairRepair(new DamagedIndex(this.stores.get(0), damagedHere), replica(1, damagedThere));
	}

	private PairRepair pairRepair(PartitionIndex here, Replica there) {
		return new PairRepair(replica(0, Set.of()), there, here, PLACEMENT, this.time, SETTINGS, pace(),
				new PairRepair.Manner(true, _ -> false, _ -> false, _ -> false, _ -> false), (_, _) -> Mono.empty(),
				RepairEvents.NONE);
	}

	/** The index of the first node, with entries that the second one cannot read. */
	private AntiEntropy antiEntropy(Set<Integer> damagedHere, Set<Integer> damagedThere) {
		return new AntiEntropy(replica(0, Set.of()),
				List.of(replica(0, Set.of()), replica(1, damagedThere), replica(2, Set.of())),
				new DamagedIndex(this.stores.get(0), damagedHere), PLACEMENT,
				new RepairLog(TOPOLOGY, MEMBERS.get(0), new InMemoryRecord(1)), _ -> false, VotingRight.TRUSTED,
				this.time, _ -> Mono.never(), SETTINGS, (_, _) -> Mono.empty(), RepairEvents.NONE);
	}

	private Pace pace() {
		return new Pace(Long.MAX_VALUE, this.time, _ -> Mono.never());
	}

	private LocalReplica replica(int node, Set<Integer> damaged) {
		return replica(node, new DamagedIndex(this.stores.get(node), damaged));
	}

	private LocalReplica replica(int node, PartitionIndex index) {
		return replica(node, new Responder(index, this.stores.get(node), PLACEMENT, TOPOLOGY, MEMBERS.get(node)));
	}

	private LocalReplica replica(int node, PeerQueries queries) {
		return new LocalReplica(MEMBERS.get(node), this.stores.get(node), this.clock, this.time, VotingRight.TRUSTED,
				queries, _ -> false);
	}

	private static Entry live(int length) {
		return new Live(VERSION, 3, Live.NEVER, "x/y", Value.of(new byte[length]));
	}

	private void store(int node, Key key, Entry entry) {
		assertThat(Now.of(this.stores.get(node).store(key, entry, Deadline.NONE))).isNotNull();
	}

	private void store(int node, Key key) {
		assertThat(Now.of(this.stores.get(node).store(key, new Tombstone(VERSION, 3), Deadline.NONE))).isNotNull();
	}

	private @Nullable Entry stored(int node, Key key) {
		return Now.of(this.stores.get(node).read(key, Deadline.NONE));
	}

	/** An index that cannot list the entries of some partitions. */
	private static final class DamagedIndex extends ForwardedIndex {

		private final Set<Integer> damaged;

		DamagedIndex(PartitionIndex index, Set<Integer> damaged) {
			super(index);
			this.damaged = damaged;
		}

		@Override
		public Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline) {
			return partitions.stream().anyMatch(this.damaged::contains)
					? Mono.error(new Unreadable(new IOException("block checksum mismatch")))
					: super.headers(partitions, enough, deadline);
		}

	}

	/** An index that cannot read one entry, and finds entries gone when it is to read. */
	private static final class DamagedEntry extends ForwardedIndex {

		private final Key damaged;

		private final Runnable beforeReading;

		DamagedEntry(PartitionIndex index, Key damaged, Runnable beforeReading) {
			super(index);
			this.damaged = damaged;
			this.beforeReading = beforeReading;
		}

		@Override
		public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
			this.beforeReading.run();
			List<Key> before = keys.stream().takeWhile(key -> !key.equals(this.damaged)).toList();
			Mono<Page> page = super.fetch(before, limit, deadline);
			return (before.size() == keys.size()) ? page
					: page.flatMap(it -> (it.length() > 0) ? Mono.just(Page.of(it.toBytes(), false))
							: Mono.error(new Unreadable(new IOException("block checksum mismatch"))));
		}

	}

}
