package io.kvorum.range;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicaSet;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A range over nodes that change between two of its pieces. */
class LiveRangeTests {

	private static final int ENTRIES = 10;

	private static final RangeSettings SETTINGS = new RangeSettings(8, 1 << 20, ScriptedRanges.PAGE_BYTES, 1 << 15,
			Duration.ofSeconds(5));

	private final ScriptedRanges cluster = new ScriptedRanges(3, 3);

	private final List<Part> opened = new ArrayList<>();

	private int changes;

	private int freed;

	LiveRangeTests() {
		this.cluster.fill(ENTRIES);
	}

	/** A part of the range that was opened, from the lower bound on. */
	private record Part(String start, long limit, boolean isUnderWay) {
	}

	private LiveRange open(long limit) {
		return new LiveRange(RangeQuery.of(RangeScope.CLUSTER, KeyRange.all(), limit), this::open, () -> this.changes);
	}

	private LiveRange.Opened open(RangeQuery rest, boolean isUnderWay) {
		this.opened.add(new Part(new String(rest.range().start(), StandardCharsets.UTF_8), rest.limit(), isUnderWay));
		ReplicaSet asked = ReplicaSet.of(this.cluster.replicas.stream().map(ListingReplica::member).toList(), 2,
				this.cluster.replicas.toArray(Replica[]::new));
		return new LiveRange.Opened(this.changes, new RangeRead(rest, asked, 2, 2, (_, _) -> true, _ -> Mono.empty(),
				() -> false, SETTINGS, this.cluster.time, this.cluster, OperationObserver.NONE, () -> this.freed++));
	}

	private static List<Key> keys(int from, int to) {
		return IntStream.range(from, to).mapToObj(ScriptedRanges::key).toList();
	}

	private static List<Key> keysOf(RangePiece piece) {
		return piece.lines().stream().map(Line::key).toList();
	}

	/** Of which a page has few. */
	private void fillFolder(String folder, int count) {
		for (int i = 0; i < count; i++) {
			this.cluster.put("%s%03d".formatted(folder, i), ScriptedRanges.value(ScriptedRanges.OLD, 300), 0, 1, 2);
		}
	}

	private LiveRange folding(long limit) {
		return new LiveRange(new RangeQuery(RangeScope.CLUSTER, KeyRange.all(), limit, true,
				new KeyFolding(new byte[0], new byte[] { '/' })), this::open, () -> this.changes);
	}

	@Test
	void theRestOfALongFolderIsNotRead() {
		fillFolder("a/", 200);
		fillFolder("b/", 200);
		LiveRange range = folding(Long.MAX_VALUE);
		List<Key> expected = new ArrayList<>(List.of(Generator.key("a/"), Generator.key("b/")));
		expected.addAll(keys(0, ENTRIES));

		assertThat(ScriptedRanges.keys(range)).isEqualTo(expected);
		range.close();

		assertThat(this.opened).extracting(Part::start).containsExactly("", "a0", "b0");
		assertThat(this.freed).isEqualTo(3);
		assertThat(ends()).singleElement().asString().startsWith("COMPLETE CLUSTER");
		assertThat(scans()).isLessThan(3 * 30);
	}

	@Test
	void aReplicaThatDoesNotAnswerIsWaitedForOnceAndNotForEachFolder() {
		fillFolder("a/", 200);
		fillFolder("b/", 200);
		ListingReplica silent = this.cluster.replicas.get(2);
		silent.hold();
		LiveRange range = folding(Long.MAX_VALUE);
		CompletableFuture<RangePiece> first = ScriptedRanges.next(range);
		assertThat(first).isNotDone();
		silent.open().forEach(call -> call.fail(Reason.TIMEOUT));

		assertThat(ScriptedRanges.done(first).lines()).extracting(Line::key).containsExactly(Generator.key("a/"));
		List<Key> rest = new ArrayList<>(List.of(Generator.key("b/")));
		rest.addAll(keys(0, ENTRIES));
		assertThat(ScriptedRanges.keys(range)).isEqualTo(rest);
		assertThat(this.opened).hasSize(3);
		range.close();
	}

	@Test
	void aLargeValueInAFolderIsNotRead() {
		this.cluster.put("a/large", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);

		assertThat(ScriptedRanges.keys(folding(1))).containsExactly(Generator.key("a/"));
		assertThat(this.cluster.replicas).allMatch(replica -> replica.reads() == 0);
	}

	private long scans() {
		return this.cluster.replicas.stream().mapToLong(ListingReplica::scans).sum();
	}

	@Test
	void aFolderIsOneLineForTheLimitAndTheNextKeyIsBehindIt() {
		fillFolder("a/", 200);
		LiveRange range = folding(1);
		RangePiece piece = ScriptedRanges.piece(range);
		List<Line> lines = new ArrayList<>(piece.lines());
		while (!piece.last()) {
			piece = ScriptedRanges.piece(range);
			lines.addAll(piece.lines());
		}
		range.close();

		assertThat(lines).containsExactly(new Folder(Generator.key("a/")));
		assertThat(piece.next()).isEqualTo(ScriptedRanges.key(0));
		assertThat(ends()).singleElement().asString().startsWith("COMPLETE CLUSTER");
	}

	/** The end of the range, as it was told. */
	private List<String> ends() {
		return this.cluster.events.stream().filter(event -> event.contains(" after ")).toList();
	}

	@Test
	void withoutAChangeTheSameReadGoesOn() {
		LiveRange range = open(Long.MAX_VALUE);

		assertThat(ScriptedRanges.keys(range)).isEqualTo(keys(0, ENTRIES));
		assertThat(this.opened).containsExactly(new Part("", Long.MAX_VALUE, false));
		assertThat(this.freed).isZero();
	}

	@Test
	void afterAChangeTheNextPieceBeginsBehindTheLastKeyWithWhatRemainsOfTheLimit() {
		LiveRange range = open(8);
		int first = ScriptedRanges.piece(range).lines().size();
		assertThat(first).isBetween(1, 6);
		this.changes++;

		RangePiece second = ScriptedRanges.piece(range);
		assertThat(keysOf(second)).startsWith(ScriptedRanges.key(first));
		assertThat(this.opened).containsExactly(new Part("", 8, false),
				new Part("key %05d\0".formatted(first - 1), 8L - first, true));
		assertThat(this.freed).as("the read on the nodes from before").isEqualTo(1);

		assertThat(ScriptedRanges.keys(range)).isEqualTo(keys(first + second.lines().size(), 8));
		assertThat(this.opened).hasSize(2);
	}

	@Test
	void aChangeBeforeTheFirstPieceOpensTheWholeRangeAgain() {
		LiveRange range = open(ENTRIES);
		this.changes += 2;

		assertThat(ScriptedRanges.keys(range)).isEqualTo(keys(0, ENTRIES));
		assertThat(this.opened).containsExactly(new Part("", ENTRIES, false), new Part("", ENTRIES, true));
	}

	@Test
	void atTheLimitAChangeAddsNothingButTheNextKey() {
		int first = ScriptedRanges.piece(open(Long.MAX_VALUE)).lines().size();
		LiveRange range = open(first);
		assertThat(ScriptedRanges.piece(range)).matches(piece -> piece.lines().size() == first && !piece.last());
		this.changes++;

		assertThat(ScriptedRanges.piece(range)).isEqualTo(new RangePiece(List.of(), true, ScriptedRanges.key(first)));
	}

	@Test
	void aPieceThatIsUnderWayIsStillOfTheNodesFromBefore() {
		LiveRange range = open(Long.MAX_VALUE);
		this.cluster.replicas.forEach(ListingReplica::hold);
		CompletableFuture<RangePiece> first = ScriptedRanges.next(range);
		this.changes++;
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);

		int returned = ScriptedRanges.done(first).lines().size();
		assertThat(this.opened).hasSize(1);
		assertThat(ScriptedRanges.keys(range)).isEqualTo(keys(returned, ENTRIES));
		assertThat(this.opened).hasSize(2);
	}

	@Test
	void aCloseClosesTheOpenReadAndAfterItNothingIsOpened() {
		LiveRange range = open(Long.MAX_VALUE);
		ScriptedRanges.piece(range);
		this.changes++;
		ScriptedRanges.piece(range);
		range.close();
		range.close();
		assertThat(this.freed).isEqualTo(2);
		assertThat(ends()).containsExactly("CANCELLED CLUSTER after 0 ms");

		this.changes++;
		assertThat(ScriptedRanges.next(range)).isNotDone();
		assertThat(this.opened).hasSize(2);
	}

	@Test
	void toMetersItIsOneRangeHoweverOftenTheNodesChange() {
		LiveRange range = open(Long.MAX_VALUE);
		ScriptedRanges.piece(range);
		for (int i = 0; i < 2; i++) {
			this.cluster.pass(Duration.ofMillis(50));
			this.changes++;
			ScriptedRanges.piece(range);
		}
		ScriptedRanges.keys(range);
		range.close();

		assertThat(ends()).containsExactly("COMPLETE CLUSTER after 100 ms");
	}

	@Test
	void whatFailsAfterAChangeIsBrokenIfTheClientHasAPiece() {
		LiveRange range = open(Long.MAX_VALUE);
		ScriptedRanges.piece(range);
		this.changes++;
		this.cluster.replicas.forEach(replica -> replica.fail(Reason.AWAY));

		assertThat(ScriptedRanges.next(range)).isCompletedExceptionally();
		range.close();
		assertThat(ends()).containsExactly("BROKEN CLUSTER after 0 ms");
	}

	/** All that was on three nodes is on others by now. */
	@Test
	void theRestIsReadFromTheNodesAsTheyAreNow() {
		RangeCursor range = this.cluster.open();
		List<Key> read = new ArrayList<>(keysOf(ScriptedRanges.piece(range)));
		become("http://node-7", "http://node-8", "http://node-9");
		this.cluster.replicas.forEach(replica -> replica.entries.clear());

		read.addAll(ScriptedRanges.keys(range));
		range.close();
		assertThat(read).isEqualTo(keys(0, ENTRIES));
		assertThat(this.cluster.events.stream().filter(event -> !event.startsWith("told")))
			.containsExactly("began CLUSTER", "COMPLETE CLUSTER after 0 ms");
	}

	/** Many pages without a visible entry are one piece. */
	@Test
	void aPieceThatGoesOnAndOnEndsWhenTheNodesChange() {
		for (int i = 0; i < 500; i++) {
			this.cluster.put("deleted %05d".formatted(i), new Tombstone(ScriptedRanges.OLD, Copies.DEFAULT), 0, 1, 2);
		}
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor range = this.cluster.open();
		CompletableFuture<RangePiece> first = ScriptedRanges.next(range);
		answerAll(5);
		assertThat(first).isNotDone();
		become("http://node-7", "http://node-8", "http://node-9");
		this.cluster.replicas.forEach(replica -> replica.entries.clear());
		answerAll(500);

		assertThat(ScriptedRanges.done(first)).isEqualTo(new RangePiece(List.of(), false, null));
		assertThat(ScriptedRanges.keys(range)).isEqualTo(keys(0, ENTRIES));
	}

	private void answerAll(int times) {
		for (int i = 0; i < times; i++) {
			this.cluster.replicas.forEach(ListingReplica::answerAll);
		}
	}

	@Test
	void aRangeUnderWayGoesOnThoughTheNodesThatCameTakeMoreMemoryThanThereIs() {
		ScriptedRanges full = new ScriptedRanges(3, 3, new RangeSettings(2, SETTINGS.bytesOf(3), SETTINGS.pageBytes(),
				SETTINGS.maxValueBytes(), SETTINGS.pageTimeout()));
		full.fill(ENTRIES);
		RangeCursor range = full.open();
		ScriptedRanges.piece(range);
		Topology five = Topology.of(IntStream.range(0, 5).mapToObj(i -> "http://node-" + i).toList(), 3);
		become(full, five);
		assertThat(ScriptedRanges.keys(range)).isNotEmpty();

		assertThatExceptionOfType(OperationFailedException.class).as("a new one").isThrownBy(full::open);
		range.close();
		Topology three = Topology.of(List.of("http://node-0", "http://node-1", "http://node-2"), 3);
		become(full, three);
		RangeCursor next = full.open();
		assertThatExceptionOfType(OperationFailedException.class).as("all was given back, and once")
			.isThrownBy(full::open);
		next.close();
	}

	private void become(String... addresses) {
		become(this.cluster, Topology.of(List.of(addresses), 3));
	}

	private static void become(ScriptedRanges cluster, Topology next) {
		cluster.ranges.become(next, new RendezvousPlacement(next), next.members().getFirst(), holding(next));
	}

	/** Replicas of all members that hold all entries. */
	private static List<ListingReplica> holding(Topology topology) {
		List<ListingReplica> replicas = topology.members().stream().map(ListingReplica::new).toList();
		for (int i = 0; i < ENTRIES; i++) {
			for (ListingReplica replica : replicas) {
				replica.put(ScriptedRanges.key(i), ScriptedRanges.value(ScriptedRanges.OLD, 300));
			}
		}
		return replicas;
	}

}
