package io.kvorum.convergence.antientropy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Pace;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.testing.ForwardedIndex;
import io.kvorum.testing.ForwardedReplica;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

import static org.assertj.core.api.Assertions.assertThat;

/** The last node of three, which hands on entries with one copy. */
class MisplacedEntriesTests {

	private static final Topology TOPOLOGY = Topology.of(List.of("http://a", "http://b", "http://c"), 3);

	private static final RendezvousPlacement PLACEMENT = new RendezvousPlacement(TOPOLOGY);

	private static final Key KEY = Generator.key("key");

	private static final int PARTITION = RendezvousPlacement.partitionOf(KEY);

	private static final List<Member> ORDER = PLACEMENT.replicasOf(PARTITION, 3);

	private final SteeredTime time = new SteeredTime();

	private final List<InMemoryStorage> stores = Stream.generate(InMemoryStorage::new).limit(3).toList();

	private final RepairLog log = new RepairLog(TOPOLOGY, ORDER.getLast(), new InMemoryRecord(1));

	private Runnable beforeStubs = () -> {
	};

	/** Stores that are not carried out before the test says so; null to do so at once. */
	private @Nullable List<MonoSink<Boolean>> held;

	/** How many entries were given to others. */
	private int moved;

	private final MisplacedEntries misplaced = misplaced();

	private MisplacedEntries misplaced() {
		HybridLogicalClock clock = new HybridLogicalClock(this.time);
		clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		List<Replica> replicas = TOPOLOGY.members()
			.stream()
			.<Replica>map(member -> new HeldReplica(new LocalReplica(member, this.stores.get(member.index()), clock,
					this.time, VotingRight.TRUSTED, PeerQueries.NONE, _ -> false)))
			.toList();
		RepairSettings settings = new RepairSettings(Duration.ofHours(1), 1, Long.MAX_VALUE, Duration.ofSeconds(1),
				Duration.ofSeconds(1), Duration.ofSeconds(1));
		return new MisplacedEntries(replicas.get(ORDER.getLast().index()), replicas,
				new Index(storeOf(ORDER.getLast())), PLACEMENT, this.log, this.time, settings,
				new Pace(Long.MAX_VALUE, this.time, _ -> Mono.never()), (_, _) -> Mono.empty(), new Counted());
	}

	@Test
	void whatDoesNotBelongHereGoesWhenItsOwnerHasItAndAllHaveBeenComparedSince() {
		store(entry(1, Copies.of(1)));
		assertThat(handOn()).isEqualTo(1);
		assertThat(stored(ORDER.getFirst())).isEqualTo(entry(1, Copies.of(1)));
		compareWithAll();

		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(stored(ORDER.getLast())).isNull();
	}

	@Test
	void entriesThatComeAllTheTimeAreHandedOn() {
		for (int i = 1; i <= 4; i++) {
			store(entry(i, Copies.of(1)));
			assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
			this.time.pass(MisplacedEntries.DELAY.dividedBy(2));
		}
		assertThat(stored(ORDER.getFirst())).isEqualTo(entry(3, Copies.of(1)));
	}

	@Test
	void whatMayGoBeforeItIsHandedOnIsGivenToItsOwnerFirst() {
		store(entry(1, Copies.of(1)));
		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		assertThat(stored(ORDER.getFirst())).isNull();
		compareWithAll();

		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(stored(ORDER.getFirst())).isEqualTo(entry(1, Copies.of(1)));
		assertThat(stored(ORDER.getLast())).isNull();
	}

	@Test
	void whatItsOwnerHasIsNotGivenAgain() {
		store(entry(1, Copies.of(1)));
		assertThat(handOn()).isEqualTo(1);
		assertThat(this.moved).isEqualTo(1);
		compareWithAll();
		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(this.moved).isEqualTo(1);
	}

	@Test
	void whatItsOwnerHasLostIsGivenAgainBeforeItGoes() {
		store(entry(1, Copies.of(1)));
		assertThat(handOn()).isEqualTo(1);
		Now.of(storeOf(ORDER.getFirst()).remove(KEY, new Version(1, 1)));
		assertThat(stored(ORDER.getFirst())).isNull();
		compareWithAll();

		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(this.moved).isEqualTo(2);
		assertThat(stored(ORDER.getFirst())).isEqualTo(entry(1, Copies.of(1)));
	}

	@Test
	void whatItsOwnerHasInANewerVersionIsNotGiven() {
		store(entry(1, Copies.of(1)));
		Entry newer = entry(2, Copies.of(1));
		assertThat(Now.of(storeOf(ORDER.getFirst()).store(KEY, newer, Deadline.NONE))).isNotNull();
		assertThat(handOn()).isEqualTo(1);
		compareWithAll();
		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(this.moved).isZero();
		assertThat(stored(ORDER.getFirst())).isEqualTo(newer);
	}

	@Test
	void whatHasTheDefaultBelongsHere() {
		store(entry(1, Copies.DEFAULT));

		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(stored(ORDER.getFirst())).isNull();
	}

	/** Another member may still have the entry that it has overwritten. */
	@Test
	void whatComesWhileTheRoundLooksStaysUntilAllHaveBeenComparedSince() {
		store(entry(1, Copies.of(1)));
		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		compareWithAll();
		this.beforeStubs = () -> store(entry(2, Copies.of(1)));

		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		assertThat(stored(ORDER.getLast())).isEqualTo(entry(2, Copies.of(1)));
		assertThat(stored(ORDER.getFirst())).isEqualTo(entry(2, Copies.of(1)));

		this.beforeStubs = () -> {
		};
		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		compareWithAll();
		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(stored(ORDER.getLast())).isNull();
	}

	@Test
	void whatWasComparedInTheMillisecondInWhichItWasSeenIsComparedOnceMore() {
		store(entry(1, Copies.of(1)));
		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		for (Member member : this.log.others()) {
			assertThat(this.log.takeNeeds(member).get(Partitions.sliceOf(PARTITION))).isTrue();
			this.log.repaired(member, Partitions.sliceOf(PARTITION), this.time.millis());
		}

		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		assertThat(this.log.others()).allMatch(this.log::isInNeed);
		compareWithAll();
		assertThat(Now.of(this.misplaced.round())).isZero();
		assertThat(this.log.others()).noneMatch(this.log::isInNeed);
	}

	@Test
	void largeEntriesAreHandedOnOneByOneBehindTheOthers() {
		List<Key> keys = IntStream.range(0, 1000)
			.mapToObj(i -> Generator.key("key " + i))
			.filter(key -> PLACEMENT.replicasOf(RendezvousPlacement.partitionOf(key), 3)
				.getLast()
				.equals(ORDER.getLast()))
			.limit(10)
			.toList();
		for (Key key : keys) {
			int length = (keys.indexOf(key) < 5) ? 100_000 : 10;
			Now.of(storeOf(ORDER.getLast()).store(key,
					new Live(new Version(1, 1), 1, Live.NEVER, "x/y", Value.of(new byte[length])), Deadline.NONE));
		}
		assertThat(Now.of(this.misplaced.round())).isEqualTo(10);
		this.time.pass(MisplacedEntries.DELAY);
		List<MonoSink<Boolean>> waiting = new ArrayList<>();
		this.held = waiting;
		this.misplaced.round().subscribe();

		assertThat(waiting).as("small ones").hasSize(5);
		for (int large = 0; large < 5; large++) {
			List<MonoSink<Boolean>> now = List.copyOf(waiting);
			waiting.clear();
			now.forEach(sink -> sink.success(true));
			assertThat(waiting).hasSize(1);
			assertThat(this.moved).isEqualTo(5 + large);
		}
		waiting.getFirst().success(true);
		assertThat(this.moved).isEqualTo(10);
	}

	/** A round that sees what is misplaced, and one that hands it on. */
	private int handOn() {
		assertThat(Now.of(this.misplaced.round())).isEqualTo(1);
		this.time.pass(MisplacedEntries.DELAY);
		return Objects.requireNonNull(Now.of(this.misplaced.round()));
	}

	private void compareWithAll() {
		this.time.pass(Duration.ofSeconds(1));
		this.log.others().forEach(this.log::takeNeeds);
		this.log.others()
			.forEach(member -> this.log.repaired(member, Partitions.sliceOf(PARTITION), this.time.millis()));
		this.time.pass(Duration.ofSeconds(1));
	}

	private static Entry entry(long timestamp, Copies copies) {
		return new Tombstone(new Version(timestamp, 1), copies);
	}

	private void store(Entry entry) {
		assertThat(Now.of(storeOf(ORDER.getLast()).store(KEY, entry, Deadline.NONE))).isNotNull();
	}

	private @Nullable Entry stored(Member member) {
		return Now.of(storeOf(member).read(KEY, Deadline.NONE));
	}

	private InMemoryStorage storeOf(Member member) {
		return this.stores.get(member.index());
	}

	/** A replica that may hold stores back. */
	private final class HeldReplica extends ForwardedReplica {

		HeldReplica(Replica replica) {
			super(replica);
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			List<MonoSink<Boolean>> sinks = MisplacedEntriesTests.this.held;
			Mono<Reply> store = super.store(key, entry, purpose, deadline);
			return (sinks != null) ? Mono.<Boolean>create(sinks::add).flatMap(_ -> store) : store;
		}

	}

	/** Counts the entries that move. */
	private final class Counted implements RepairEvents {

		@Override
		public void moved(Member peer, Direction direction, int entries, long bytes) {
			MisplacedEntriesTests.this.moved += entries;
		}

	}

	/** An index in which something may happen before it lists entries. */
	private final class Index extends ForwardedIndex {

		Index(PartitionIndex index) {
			super(index);
		}

		@Override
		public Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline) {
			MisplacedEntriesTests.this.beforeStubs.run();
			return super.headers(partitions, enough, deadline);
		}

	}

}
