package io.kvorum.range;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.range.ListingReplica.Call;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** A range over three replicas of which two must take part. */
class RangeReadTests {

	/** With room for several large values in a piece. */
	private static final RangeSettings ROOMY = new RangeSettings(8, 1 << 24, 1 << 16, 1 << 15, Duration.ofSeconds(5));

	private final ScriptedRanges cluster = new ScriptedRanges(3, 3);

	private ListingReplica replica(int index) {
		return this.cluster.replica(index);
	}

	private static Key key(int i) {
		return ScriptedRanges.key(i);
	}

	private static List<Key> keys(int from, int to) {
		return IntStream.range(from, to).mapToObj(ScriptedRanges::key).toList();
	}

	private static List<Key> keysOf(RangePiece piece) {
		return piece.lines().stream().map(Line::key).toList();
	}

	private static OperationFailedException failure(CompletableFuture<RangePiece> piece) {
		assertThat(piece).isCompletedExceptionally();
		assertThat(piece.exceptionNow()).isInstanceOf(OperationFailedException.class);
		return (OperationFailedException) piece.exceptionNow();
	}

	@Test
	void allThatAnyReplicaHoldsIsToldOnceInOrderWithItsNewestVersion() {
		this.cluster.put("a", Generator.live(ScriptedRanges.OLD, "old"), 0, 1);
		this.cluster.put("a", Generator.live(ScriptedRanges.NEW, "new"), 2);
		this.cluster.put("b", Generator.live(ScriptedRanges.OLD, "of one copy"), 1);
		this.cluster.put("c", Generator.live(ScriptedRanges.OLD, "deleted"), 0, 2);
		this.cluster.put("c", new Tombstone(ScriptedRanges.NEW, 3), 1);
		RangePiece piece = ScriptedRanges.piece(this.cluster.open());

		assertThat(piece)
			.isEqualTo(new RangePiece(
					List.of(new Item(Generator.key("a"), Generator.live(ScriptedRanges.NEW, "new")),
							new Item(Generator.key("b"), Generator.live(ScriptedRanges.OLD, "of one copy"))),
					true, null));
	}

	private static <T extends Entry> T underBallot(T entry) {
		@SuppressWarnings("unchecked")
		T under = (T) entry.under(ScriptedRanges.NEW, Lineage.of(ScriptedRanges.NEW, true, entry));
		return under;
	}

	@Test
	void anEntryUnderABallotThatLessThanAMajorityShowsIsReadByItself() {
		Live old = Generator.live(ScriptedRanges.OLD, "old");
		this.cluster.put("a", old, 0, 1);
		this.cluster.put("a", underBallot(Generator.live(ScriptedRanges.OLD, "may not happen")), 2);
		this.cluster.put("b", old, 0, 1);
		this.cluster.put("b", underBallot(new Tombstone(ScriptedRanges.OLD, 3)), 2);
		this.cluster.put("c", underBallot(Generator.live(ScriptedRanges.OLD, "happened")), 0, 2);
		this.cluster.put("c", old, 1);
		this.cluster.found = Mono.just(old);

		RangePiece piece = ScriptedRanges.piece(this.cluster.open());
		assertThat(piece.lines().subList(0, 2)).extracting(ScriptedRanges::liveOf).containsExactly(old, old);
		assertThat(keysOf(piece)).containsExactly(Generator.key("a"), Generator.key("b"), Generator.key("c"));
		assertThat(this.cluster.read).containsExactly(Generator.key("a"), Generator.key("b"));
		assertThat(piece.last()).isTrue();
	}

	@Test
	void aKeyThatIsReadByItselfAndHasNoValueIsLeftOut() {
		this.cluster.put("a", underBallot(Generator.live(ScriptedRanges.OLD, "may not happen")), 2);

		assertThat(ScriptedRanges.piece(this.cluster.open())).isEqualTo(new RangePiece(List.of(), true, null));
	}

	@Test
	void aRangeBreaksIfAKeyCannotBeReadByItself() {
		this.cluster.put("a", Generator.live(ScriptedRanges.OLD, "before"), 0, 1, 2);
		this.cluster.put("b", underBallot(Generator.live(ScriptedRanges.OLD, "may not happen")), 2);
		this.cluster.found = Mono
			.error(new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "away", 2, 1, false, true, List.of()));
		RangeCursor read = this.cluster.open();

		assertThat(keysOf(ScriptedRanges.piece(read))).containsExactly(Generator.key("a"));
		assertThat(failure(ScriptedRanges.next(read)).getMessage()).isEqualTo("away");
		read.close();
		assertThat(this.cluster.events).last().asString().startsWith("BROKEN");
	}

	@Test
	void aRangeWithoutEntriesIsOnePieceTheLast() {
		RangeCursor read = this.cluster.open();
		assertThat(ScriptedRanges.piece(read)).isEqualTo(new RangePiece(List.of(), true, null));
		this.cluster.pass(Duration.ofMillis(7));
		read.close();

		assertThat(this.cluster.events).containsExactly("began CLUSTER", "told 0", "COMPLETE CLUSTER after 7 ms");
	}

	@Test
	void nothingIsAskedBeforeAPieceIsWantedAndNothingMoreWhenItIsThere() {
		this.cluster.fill(100);
		RangeCursor read = this.cluster.open();
		assertThat(this.cluster.replicas).allMatch(replica -> replica.calls.isEmpty());

		assertThat(ScriptedRanges.piece(read).last()).isFalse();
		// What was told, the page that is being merged, and the next.
		assertThat(this.cluster.replicas).allMatch(replica -> replica.scans() <= 3);
		long asked = replica(0).scans();
		this.cluster.pass(Duration.ofHours(1));
		assertThat(replica(0).scans()).isEqualTo(asked);
	}

	@Test
	void aReplicaIsAskedForOnePageAtATimeAndKeepsNoMoreThanTwoWhileAnotherIsSlow() {
		this.cluster.fill(100);
		replica(2).hold();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(this.cluster.open());

		assertThat(piece).isNotDone();
		assertThat(replica(0).scans()).isEqualTo(2);
		assertThat(replica(1).scans()).isEqualTo(2);
		assertThat(replica(2).scans()).isEqualTo(1);
		replica(2).answerAll();
		assertThat(piece).isDone();
		assertThat(keysOf(ScriptedRanges.done(piece))).first().isEqualTo(key(0));
	}

	@Test
	void aPageIsAskedForWithItsDeadlineAndWithOneItemMoreThanTheLimit() {
		this.cluster.fill(3);
		ScriptedRanges.piece(this.cluster.open(2));
		Call first = replica(0).calls.getFirst();

		assertThat(first.deadline.remainingNanos(this.cluster.time)).isEqualTo(Duration.ofSeconds(5).toNanos());
		assertThat(first.limit).isEqualTo(Page.Limit.of(1024, 3));
	}

	@Test
	void whereTooFewReplicasCanBeReadTheFirstPieceIsAFailureThatNamesThem() {
		this.cluster.fill(10);
		replica(1).fail(Reason.AWAY);
		replica(2).fail(Reason.UNREADABLE);
		RangeCursor read = this.cluster.open();
		OperationFailedException failed = failure(ScriptedRanges.next(read));
		read.close();

		assertThat(failed.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(failed.required()).isEqualTo(2);
		assertThat(failed.acknowledged()).isEqualTo(1);
		assertThat(failed.mayHaveHappened()).isFalse();
		assertThat(failed.mayRetry()).isTrue();
		assertThat(failed.replicas()).extracting("node", "reason")
			.containsExactlyInAnyOrder(tuple("http://node-1", "away"), tuple("http://node-2", "unreadable"));
		assertThat(this.cluster.events).containsExactly("began CLUSTER", "lost", "lost", "FAILED CLUSTER after 0 ms");
	}

	@Test
	void whereTooFewAreLeftLaterTheRangeIsBrokenAndNothingIsToldThatTooFewHaveShown() {
		this.cluster.fill(100);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		replica(1).fail(Reason.DISCONNECTED);
		replica(2).fail(Reason.DISCONNECTED);
		CompletableFuture<RangePiece> next = ScriptedRanges.next(read);
		while (!next.isCompletedExceptionally()) {
			assertThat(ScriptedRanges.done(next).last()).isFalse();
			told.addAll(keysOf(ScriptedRanges.done(next)));
			next = ScriptedRanges.next(read);
		}
		read.close();

		assertThat(told).isEqualTo(keys(0, told.size())).hasSizeLessThan(100);
		assertThat(failure(next).acknowledged()).isEqualTo(1);
		assertThat(this.cluster.events).containsSubsequence("told 3", "lost", "lost", "BROKEN CLUSTER after 0 ms");
	}

	@Test
	void whatWasShownBeforeAPageThatCannotBeReadIsTold() {
		this.cluster.fill(100);
		RangeCursor read = this.cluster.ranges.open(RangeQuery.of(RangeScope.NODE, KeyRange.all(), Long.MAX_VALUE),
				_ -> Mono.empty(), OperationObserver.NONE);
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		int first = told.size();
		replica(0).failScans(Reason.UNREADABLE);
		CompletableFuture<RangePiece> next = ScriptedRanges.next(read);
		while (!next.isCompletedExceptionally()) {
			told.addAll(keysOf(ScriptedRanges.done(next)));
			next = ScriptedRanges.next(read);
		}

		assertThat(told).as("the page that had been read ahead").hasSizeGreaterThan(first);
		assertThat(told).isEqualTo(keys(0, told.size()));
		assertThat(this.cluster.events).containsOnlyOnce("lost");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void theRangeIsWholeWithoutAnyOneOfThree(int without) {
		this.cluster.fill(50);
		replica(without).entries.clear();
		replica(without).fail(Reason.TIMEOUT);

		assertThat(ScriptedRanges.keys(this.cluster.open())).isEqualTo(keys(0, 50));
		assertThat(replica(without).scans()).as("it is not asked again at once").isEqualTo(1);
		assertThat(this.cluster.events).containsOnlyOnce("lost").doesNotContain("back");
	}

	@Test
	void oneThatFailsInTheMiddleIsGoneOnWithoutFromThere() {
		this.cluster.fill(50);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		replica(1).fail(Reason.UNREADABLE);
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).isEqualTo(keys(0, 50));
		assertThat(this.cluster.events).containsOnlyOnce("lost");
	}

	@Test
	void oneThatWasLostTakesPartAgainAfterASecondAndWhatItAloneHoldsBeyondIsTold() {
		this.cluster.fill(50);
		replica(2).put(Generator.key("key 00000 of one"), ScriptedRanges.value(ScriptedRanges.OLD, 1));
		replica(2).put(Generator.key("key 00040 of one"), ScriptedRanges.value(ScriptedRanges.OLD, 1));
		replica(2).fail(Reason.AWAY);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		replica(2).recover();
		this.cluster.pass(Duration.ofMillis(999));
		told.addAll(keysOf(ScriptedRanges.piece(read)));
		assertThat(replica(2).scans()).as("not before a second has passed").isEqualTo(1);
		this.cluster.pass(Duration.ofMillis(1));
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).doesNotContain(Generator.key("key 00000 of one")).contains(Generator.key("key 00040 of one"));
		assertThat(told).containsAll(keys(0, 50)).hasSize(51);
		assertThat(this.cluster.events).containsSubsequence("lost", "back");
	}

	@Test
	void oneThatIsKnownToBeAwayIsNotAskedAgainBeforeItIsThere() {
		this.cluster.fill(50);
		replica(2).isAway();
		RangeCursor read = this.cluster.open();
		ScriptedRanges.piece(read);
		this.cluster.pass(Duration.ofSeconds(10));
		ScriptedRanges.piece(read);
		assertThat(replica(2).scans()).isEqualTo(1);
		replica(2).recover();
		ScriptedRanges.piece(read);

		assertThat(replica(2).scans()).isGreaterThan(1);
		assertThat(this.cluster.events).contains("back");
	}

	@Test
	void oneAfterTheOtherMayBeAwayAsLongAsTwoAreThere() {
		this.cluster.fill(200);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>();
		RangePiece piece = ScriptedRanges.piece(read);
		for (int turn = 0; !piece.last(); turn++) {
			told.addAll(keysOf(piece));
			replica(turn % 3).fail(Reason.AWAY);
			this.cluster.pass(Duration.ofSeconds(1));
			piece = ScriptedRanges.piece(read);
			told.addAll(keysOf(piece));
			replica(turn % 3).recover();
			this.cluster.pass(Duration.ofSeconds(1));
			piece = piece.last() ? piece : ScriptedRanges.piece(read);
		}
		told.addAll(keysOf(piece));

		assertThat(told.stream().distinct()).isEqualTo(keys(0, 200));
		assertThat(this.cluster.events).contains("lost", "back");
	}

	@Test
	void whereTheLastOneThatMustTakePartFailsWhenItIsAskedForMoreTheRangeIsNotWhole() {
		// The first is slow, the second has shown two pages of many, the third is away.
		this.cluster.put("key 00000", ScriptedRanges.value(ScriptedRanges.OLD, 1), 0, 1);
		for (int i = 1; i < 20; i++) {
			replica(1).put(key(i), new Tombstone(ScriptedRanges.OLD, 3));
		}
		replica(1).put(key(20), ScriptedRanges.value(ScriptedRanges.OLD, 1));
		replica(2).fail(Reason.AWAY);
		replica(0).hold();
		RangeCursor read = this.cluster.open(2);
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		assertThat(replica(1).scans()).isEqualTo(2);
		replica(1).fail(Reason.AWAY);
		replica(0).answerAll();

		assertThat(ScriptedRanges.done(piece)).isEqualTo(
				new RangePiece(List.of(new Item(key(0), ScriptedRanges.value(ScriptedRanges.OLD, 1))), false, null));
		assertThat(failure(ScriptedRanges.next(read)).acknowledged()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "empty", "error", "of another kind" })
	void aReplicaWithABugIsGoneOnWithout(String bug) {
		this.cluster.fill(50);
		replica(1).hold();
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		Call call = replica(1).calls.getFirst();
		switch (bug) {
			case "empty" -> call.endWithoutAReply();
			case "error" -> call.breakDown(new IllegalStateException("planted"));
			default -> call.reply(Acknowledged.INSTANCE);
		}
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.done(piece)));
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).isEqualTo(keys(0, 50));
		assertThat(this.cluster.events).containsOnlyOnce("lost");
	}

	@Test
	void aLargeValueIsReadByItselfFromOneThatHoldsItsNewestVersion() {
		this.cluster.fill(2);
		this.cluster.put("key 00001", ScriptedRanges.large(ScriptedRanges.NEW), 1, 2);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>();
		List<Live> values = new ArrayList<>();
		RangePiece piece = ScriptedRanges.piece(read);
		piece.lines().forEach(item -> {
			told.add(item.key());
			values.add(ScriptedRanges.liveOf(item));
		});

		assertThat(piece.last()).isTrue();
		assertThat(told).isEqualTo(keys(0, 2));
		assertThat(values).last().isEqualTo(ScriptedRanges.large(ScriptedRanges.NEW));
		assertThat(replica(0).reads()).isZero();
		assertThat(replica(1).reads() + replica(2).reads()).isEqualTo(1);
	}

	/** Their values are slices of pages, which stay in memory for as long. */
	@Test
	void entriesBeforeALargeValueDoNotWaitForIt() {
		this.cluster.fill(3);
		this.cluster.put("key 00001", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> first = ScriptedRanges.next(read);
		this.cluster.replicas
			.forEach(replica -> replica.open().stream().filter(Call::isScan).toList().forEach(Call::answer));

		assertThat(keysOf(ScriptedRanges.done(first))).isEqualTo(keys(0, 1));
		CompletableFuture<RangePiece> second = ScriptedRanges.next(read);
		assertThat(second).isNotDone();
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.done(second)));
		told.addAll(ScriptedRanges.keys(read));
		assertThat(told).isEqualTo(keys(1, 3));
	}

	@Test
	void whereTheFirstHolderOfALargeValueFailsTheOtherOneIsAskedAndTheFirstIsGoneOnWithout() {
		this.cluster.fill(50);
		this.cluster.put("key 00001", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		Call reading = this.cluster.replicas.stream()
			.flatMap(replica -> replica.open().stream())
			.filter(call -> !call.isScan())
			.findFirst()
			.orElseThrow();
		reading.fail(Reason.UNREADABLE);
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.done(piece)));
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).isEqualTo(keys(0, 50));
		assertThat(this.cluster.replicas.stream().mapToLong(ListingReplica::reads).sum()).isEqualTo(2);
		assertThat(this.cluster.events).containsOnlyOnce("lost");
	}

	@Test
	void whereNoHolderOfALargeValueCanBeReadTheRangeFailsAndTellsNoOlderOne() {
		this.cluster.fill(3);
		this.cluster.put("key 00000", ScriptedRanges.large(ScriptedRanges.NEW), 1, 2);
		replica(1).failReads(Reason.UNREADABLE);
		replica(2).failReads(Reason.TIMEOUT);
		RangeCursor read = this.cluster.open();
		OperationFailedException failed = failure(ScriptedRanges.next(read));
		read.close();

		assertThat(failed.required()).isEqualTo(2);
		assertThat(failed.acknowledged()).isEqualTo(1);
		assertThat(failed.replicas()).extracting("reason").containsExactlyInAnyOrder("unreadable", "timeout");
		assertThat(this.cluster.events).endsWith("FAILED CLUSTER after 0 ms");
	}

	@Test
	void whereTheOnlyHolderOfALargeValueIsLostTheOthersTellWhatTheyHold() {
		this.cluster.fill(3);
		this.cluster.put("key 00001", ScriptedRanges.large(ScriptedRanges.NEW), 1);
		replica(1).failReads(Reason.UNREADABLE);

		assertThat(ScriptedRanges.keys(this.cluster.open())).isEqualTo(keys(0, 3));
	}

	@Test
	void aLargeValueThatIsOlderThanTheOneThatWasShownIsAskedOfTheNextHolder() {
		this.cluster.fill(2);
		this.cluster.put("key 00000", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		replica(0).put(key(0), ScriptedRanges.large(ScriptedRanges.OLD));
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);

		assertThat(ScriptedRanges.liveOf(piece.join().lines().getFirst()))
			.isEqualTo(ScriptedRanges.large(ScriptedRanges.NEW));
	}

	@Test
	void aReplicaThatWasLostAtAnEarlierKeyIsAskedOnceMoreBeforeTheRangeBreaks() {
		this.cluster.fill(50);
		RangeCursor read = this.cluster.open();
		replica(2).fail(Reason.UNREADABLE);
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		told.addAll(keysOf(ScriptedRanges.piece(read)));
		replica(2).recover();
		replica(1).fail(Reason.UNREADABLE);
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).isEqualTo(keys(0, 50));
	}

	@Test
	void whereFewAreWantedPagesGrowAsLongAsNothingIsFound() {
		for (int i = 0; i < 500; i++) {
			this.cluster.put("key %05d".formatted(i), new Tombstone(ScriptedRanges.NEW, 3), 0, 1, 2);
		}
		this.cluster.put("last", Generator.live(ScriptedRanges.OLD, "value"), 0, 1, 2);

		assertThat(ScriptedRanges.keys(this.cluster.open(1))).containsExactly(Generator.key("last"));
		assertThat(replica(0).scans()).isLessThan(30);
	}

	@Test
	void whatBecameOfALargeValueSinceItWasShownIsTold() {
		this.cluster.fill(4);
		for (int i = 0; i < 4; i++) {
			this.cluster.put("key 0000" + i, ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		}
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		Live newer = Generator.live(new Version(11, 1), "newer, and small");
		this.cluster.put("key 00000", newer, 0, 1, 2);
		this.cluster.put("key 00001", new Tombstone(new Version(11, 1), 3), 0, 1, 2);
		this.cluster.put("key 00002", Generator.live(new Version(11, 1), "gone", 1), 0, 1, 2);
		this.cluster.replicas.forEach(replica -> replica.entries.remove(key(3)));
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);

		assertThat(ScriptedRanges.done(piece).lines()).containsExactly(new Item(key(0), newer));
		assertThat(ScriptedRanges.keys(read)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aConditionalWriteThatReplacesALargeValueMeanwhileIsToldOnlyIfItHappens(boolean deletes) {
		Live old = ScriptedRanges.large(ScriptedRanges.NEW);
		this.cluster.put("key 00000", old, 0, 1, 2);
		this.cluster.found = Mono.just(old);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		Version ballot = new Version(11, 1);
		Entry proposed = deletes ? new Tombstone(ballot, 3) : Generator.live(ballot, "proposed");
		replica(0).put(key(0), proposed.under(ballot, Lineage.of(ballot, true, old)));
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);

		assertThat(ScriptedRanges.done(piece).lines()).containsExactly(new Item(key(0), old));
		assertThat(this.cluster.read).containsExactly(key(0));
	}

	@Test
	void aPageOfOneThatIsGivenUpWhileItIsOnItsWayIsNotTakenForWhatComesNext() {
		this.cluster.fill(20);
		this.cluster.put("key 00000", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		// Each shows the large entry, and then a page of what is behind it.
		this.cluster.replicas.forEach(replica -> replica.open().getFirst().answer());
		List<Call> open = this.cluster.replicas.stream().flatMap(replica -> replica.open().stream()).toList();
		Call reading = open.stream().filter(call -> !call.isScan()).findFirst().orElseThrow();
		ListingReplica holder = this.cluster.replicas.stream()
			.filter(replica -> replica.calls.contains(reading))
			.findFirst()
			.orElseThrow();
		holder.open().stream().filter(Call::isScan).toList().forEach(Call::answer);
		Call next = holder.open().stream().filter(Call::isScan).findFirst().orElseThrow();
		reading.fail(Reason.UNREADABLE);

		assertThat(next.isCancelled()).isTrue();
		next.answer();
		assertThat(this.cluster.events).contains("lost").doesNotContain("back");
		this.cluster.replicas.forEach(ListingReplica::answerAtOnce);
		this.cluster.replicas.forEach(ListingReplica::answerAll);
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.done(piece)));
		told.addAll(ScriptedRanges.keys(read));
		assertThat(told).isEqualTo(keys(0, 20));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void whereTheHolderOfALargeValueWasNeededNothingBehindItIsToldByTooFew(int failing) {
		ScriptedRanges roomy = new ScriptedRanges(3, 3, ROOMY);
		roomy.fill(10);
		roomy.put("key 00002", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1);
		roomy.replica(2).fail(Reason.AWAY);
		roomy.replica(failing).failReads(Reason.UNREADABLE);
		RangeCursor read = roomy.open();
		List<Key> told = new ArrayList<>();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		while (!piece.isCompletedExceptionally() && !ScriptedRanges.done(piece).last()) {
			told.addAll(keysOf(ScriptedRanges.done(piece)));
			piece = ScriptedRanges.next(read);
		}
		if (roomy.replica(failing).reads() == 0) {
			told.addAll(keysOf(ScriptedRanges.done(piece)));
			assertThat(told).as("the other one was asked first").isEqualTo(keys(0, 10));
		}
		else {
			assertThat(failure(piece).acknowledged()).isEqualTo(1);
			assertThat(told).isEqualTo(keys(0, told.size())).hasSizeLessThanOrEqualTo(3);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 7, 49 })
	void noMoreIsToldThanTheLimitAndTheFirstKeyBeyondItIsNamed(long limit) {
		this.cluster.fill(50);
		RangeCursor read = this.cluster.open(limit);
		List<Key> told = new ArrayList<>();
		RangePiece piece = ScriptedRanges.piece(read);
		for (; !piece.last(); piece = ScriptedRanges.piece(read)) {
			assertThat(piece.next()).isNull();
			told.addAll(keysOf(piece));
		}
		told.addAll(keysOf(piece));

		assertThat(told).isEqualTo(keys(0, (int) limit));
		assertThat(piece.next()).isEqualTo(key((int) limit));
	}

	@ParameterizedTest
	@ValueSource(longs = { 50, 51, Integer.MAX_VALUE, 1L << 40 })
	void whereTheLimitIsMetExactlyAtTheEndOrNotThereIsNoNextKey(long limit) {
		this.cluster.fill(50);
		RangeCursor read = this.cluster.open(limit);
		int told = 0;
		RangePiece piece = ScriptedRanges.piece(read);
		for (; !piece.last(); piece = ScriptedRanges.piece(read)) {
			told += piece.lines().size();
		}

		assertThat(told + piece.lines().size()).isEqualTo(50);
		assertThat(piece.next()).isNull();
	}

	@Test
	void theNextKeyIsOneThatHasAValueAlsoBehindManyTombstones() {
		this.cluster.put("a", Generator.live(ScriptedRanges.OLD, "value"), 0, 1, 2);
		for (int i = 0; i < 100; i++) {
			this.cluster.put("b%03d".formatted(i), new Tombstone(ScriptedRanges.OLD, 3), i % 3);
		}
		this.cluster.put("c", Generator.live(ScriptedRanges.OLD, "value"), 1);
		RangeCursor read = this.cluster.open(1);
		List<Key> told = new ArrayList<>();
		RangePiece piece = ScriptedRanges.piece(read);
		for (; !piece.last(); piece = ScriptedRanges.piece(read)) {
			told.addAll(keysOf(piece));
		}
		told.addAll(keysOf(piece));

		assertThat(told).containsExactly(Generator.key("a"));
		assertThat(piece.next()).isEqualTo(Generator.key("c"));
	}

	@Test
	void aLargeValueBeyondTheLimitIsNamedAndNotRead() {
		this.cluster.fill(2);
		this.cluster.put("key 00001", ScriptedRanges.large(ScriptedRanges.NEW), 0, 1, 2);
		RangePiece piece = ScriptedRanges.piece(this.cluster.open(1));

		assertThat(piece.next()).isEqualTo(key(1));
		assertThat(this.cluster.replicas).allMatch(replica -> replica.reads() == 0);
	}

	@Test
	void whatExpiresWhileTheRangeIsUnderWayIsNotTold() {
		this.cluster.fill(20);
		this.cluster.put("key 00019", Generator.live(ScriptedRanges.NEW, "expires", this.cluster.time.millis() + 1_000),
				0, 1, 2);
		RangeCursor read = this.cluster.open();
		List<Key> told = new ArrayList<>(keysOf(ScriptedRanges.piece(read)));
		this.cluster.pass(Duration.ofSeconds(1));
		told.addAll(ScriptedRanges.keys(read));

		assertThat(told).isEqualTo(keys(0, 19));
	}

	@Test
	void aCloseCancelsAllThatIsAskedForAndIsCountedOnce() {
		this.cluster.fill(50);
		this.cluster.replicas.forEach(ListingReplica::hold);
		RangeCursor read = this.cluster.open();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		assertThat(this.cluster.replicas).allMatch(replica -> replica.open().size() == 1);
		read.close();
		read.close();

		assertThat(this.cluster.replicas).allMatch(replica -> replica.calls.getFirst().isCancelled());
		assertThat(this.cluster.events).containsExactly("began CLUSTER", "CANCELLED CLUSTER after 0 ms");
		assertThat(piece).isNotDone();
	}

	@Test
	void aCloseCancelsTheReadOfALargeValue() {
		this.cluster.put("a", ScriptedRanges.large(ScriptedRanges.NEW), 0);
		RangeCursor read = this.cluster.open();
		replica(0).hold();
		CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
		replica(0).answerAll();
		Call reading = replica(0).open().stream().filter(call -> !call.isScan()).findFirst().orElseThrow();
		read.close();

		assertThat(reading.isCancelled()).isTrue();
		assertThat(piece).isNotDone();
	}

	@Test
	void whoClosesARangeThatHasToldSomethingHasCancelledIt() {
		this.cluster.fill(50);
		RangeCursor read = this.cluster.open();
		ScriptedRanges.piece(read);
		this.cluster.pass(Duration.ofSeconds(3));
		read.close();

		assertThat(this.cluster.events).last().isEqualTo("CANCELLED CLUSTER after 3000 ms");
	}

	@Test
	void theRangeOfANodeIsWhatItHoldsItselfWhateverBecomesOfTheOthers() {
		this.cluster.fill(5);
		this.cluster.put("of others", ScriptedRanges.large(ScriptedRanges.NEW), 1, 2);
		replica(1).fail(Reason.AWAY);
		replica(2).fail(Reason.AWAY);
		RangeCursor read = this.cluster.ranges.open(RangeQuery.of(RangeScope.NODE, KeyRange.all(), Long.MAX_VALUE),
				_ -> Mono.empty(), OperationObserver.NONE);

		assertThat(ScriptedRanges.keys(read)).isEqualTo(keys(0, 5));
		assertThat(replica(1).calls).isEmpty();
		read.close();
		assertThat(this.cluster.events).startsWith("began NODE").endsWith("COMPLETE NODE after 0 ms");
	}

	@Test
	void theRangeOfANodeThatCannotBeReadFails() {
		replica(0).fail(Reason.UNREADABLE);
		RangeCursor read = this.cluster.ranges.open(RangeQuery.of(RangeScope.NODE, KeyRange.all(), Long.MAX_VALUE),
				_ -> Mono.empty(), OperationObserver.NONE);

		assertThat(failure(ScriptedRanges.next(read)).replicas()).extracting("reason").containsExactly("unreadable");
	}

	@SeededTest
	void whateverFailsAndHoweverLateEachAnswerIsTheRangeIsWholeOrFails(long seed) {
		Generator random = new Generator(seed);
		int whole = 0;
		for (int i = 0; i < 300; i++) {
			whole += new Trouble(random, "seed %d, range %d".formatted(seed, i)).run() ? 1 : 0;
		}
		assertThat(whole).isBetween(30, 290);
	}

	/** A range whose replicas answer, fail and come back by chance. */
	private static final class Trouble {

		private final Generator random;

		private final String name;

		private final ScriptedRanges cluster;

		/** The newest of each key, which two of three hold, or all. */
		private final NavigableMap<Key, Entry> model = new TreeMap<>();

		private final List<Line> told = new ArrayList<>();

		private final int failing;

		Trouble(Generator random, String name) {
			this.random = random;
			this.name = name;
			this.cluster = random.chance(50) ? new ScriptedRanges(3, 3) : new ScriptedRanges(3, 3, ROOMY);
			this.failing = random.below(12);
			int keys = random.below(60);
			for (int i = 0; i < keys; i++) {
				fill(ScriptedRanges.key(i));
			}
		}

		private void fill(Key key) {
			Entry newest = entry(ScriptedRanges.NEW);
			Entry older = entry(ScriptedRanges.OLD);
			int without = this.random.below(6);
			for (int index = 0; index < 3; index++) {
				if (index != without) {
					this.cluster.replica(index).put(key, newest);
				}
				else if (this.random.chance(70)) {
					this.cluster.replica(index).put(key, older);
				}
			}
			this.model.put(key, newest);
		}

		private Entry entry(Version version) {
			return switch (this.random.below(8)) {
				case 0 -> new Tombstone(version, 3);
				case 1 -> Generator.live(version, "expired", 1);
				case 2 -> ScriptedRanges.large(version);
				default -> ScriptedRanges.value(version, this.random.below(600));
			};
		}

		/** Whether the range was told to its end. */
		boolean run() {
			RangeCursor read = this.cluster.open();
			this.cluster.replicas.forEach(replica -> holdOrNot(replica));
			RangePiece piece = awaited(read);
			while (piece != null && !piece.last()) {
				this.told.addAll(piece.lines());
				piece = awaited(read);
			}
			if (piece != null) {
				this.told.addAll(piece.lines());
			}
			read.close();
			List<Line> expected = expected();
			if (piece != null) {
				assertThat(this.told).as(this.name).isEqualTo(expected);
			}
			else {
				assertThat(this.told).as(this.name).isEqualTo(expected.subList(0, this.told.size()));
			}
			return piece != null;
		}

		private List<Line> expected() {
			List<Line> expected = new ArrayList<>();
			for (Map.Entry<Key, Entry> each : this.model.entrySet()) {
				if (each.getValue() instanceof Live live && live.isVisibleAt(this.cluster.time.millis())) {
					expected.add(new Item(each.getKey(), live));
				}
			}
			return expected;
		}

		/** Null where it is a failure. */
		private @Nullable RangePiece awaited(RangeCursor read) {
			CompletableFuture<RangePiece> piece = ScriptedRanges.next(read);
			for (int step = 0; !piece.isDone(); step++) {
				assertThat(step).as("%s: somebody is waited for who is not asked", this.name).isLessThan(10_000);
				step();
			}
			return piece.isCompletedExceptionally() ? null : ScriptedRanges.done(piece);
		}

		private void step() {
			ListingReplica replica = this.random.oneOf(this.cluster.replicas);
			List<Call> open = replica.open();
			if (this.random.chance(10)) {
				holdOrNot(replica);
			}
			else if (this.random.chance(10)) {
				replica.recover();
			}
			else if (this.random.chance(this.failing)) {
				changeFor(replica);
			}
			else if (this.random.chance(5)) {
				this.cluster.pass(Duration.ofMillis(400));
			}
			else if (!open.isEmpty()) {
				this.random.oneOf(open).answer();
			}
		}

		private void changeFor(ListingReplica replica) {
			switch (this.random.below(4)) {
				case 0 -> replica.isAway();
				case 1 -> replica.failReads(Reason.UNREADABLE);
				case 2 -> replica.failScans(Reason.TIMEOUT);
				default -> replica.fail(Reason.OVERLOADED);
			}
		}

		private void holdOrNot(ListingReplica replica) {
			if (this.random.chance(60)) {
				replica.hold();
			}
			else {
				replica.answerAtOnce();
			}
		}

	}

}
