package io.kvorum.convergence.antientropy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PlanTests {

	private static final KeyHash HASH = RendezvousPlacement::hashOf;

	private static final int FACTOR = 3;

	private static final Version OLD = new Version(1L << 16, 1);

	private static final Version NEW = new Version(2L << 16, 1);

	private static final Key KEY = Generator.key("key");

	@Test
	void whatIsEqualOnBothNeedsNothing() {
		Plan plan = plan(List.of(live(OLD, 3)), List.of(live(OLD, 3)), 0, 1);

		assertThat(plan.size()).isZero();
	}

	@Test
	void anExpiredEntryAndItsTombstoneAreEqual() {
		Plan plan = plan(List.of(live(OLD, 3)), List.of(tombstone(OLD, 3)), 0, 1);

		assertThat(plan.size()).isZero();
	}

	@Test
	void whatIsNewerThereIsBroughtHereWhereItBelongs() {
		Plan plan = plan(List.of(live(OLD, 3)), List.of(tombstone(NEW, 3)), 2, 0);

		assertThat(plan).isEqualTo(new Plan(List.of(tombstone(NEW, 3)), List.of(), List.of(), List.of()));
	}

	@Test
	void whatWasOverwrittenWithFewerCopiesIsOverwrittenHereTooThoughItDoesNotBelongHere() {
		Plan plan = plan(List.of(live(OLD, 3)), List.of(live(NEW, 1)), 1, 0);

		assertThat(plan).isEqualTo(new Plan(List.of(live(NEW, 1)), List.of(), List.of(), List.of()));
	}

	@Test
	void aNewerEntryIsGivenToAMemberThatHasAnOlderOne() {
		assertThat(plan(List.of(live(NEW, 3)), List.of(live(OLD, 3)), 0, 2))
			.isEqualTo(new Plan(List.of(), List.of(live(NEW, 3)), List.of(), List.of()));
		assertThat(plan(List.of(live(NEW, 2)), List.of(live(OLD, 3)), 0, 2))
			.isEqualTo(new Plan(List.of(), List.of(live(NEW, 2)), List.of(), List.of()));
	}

	@Test
	void whatIsMissingThereIsGivenAndKnownToBeHereAlone() {
		assertThat(plan(List.of(live(OLD, 3)), List.of(), 0, 2))
			.isEqualTo(new Plan(List.of(), List.of(live(OLD, 3)), List.of(live(OLD, 3)), List.of()));
	}

	@Test
	void whatIsMissingHereIsBroughtWhereItBelongs() {
		assertThat(plan(List.of(), List.of(live(OLD, 2)), 1, 0).pull()).containsExactly(live(OLD, 2));
		assertThat(plan(List.of(), List.of(live(OLD, 1)), 1, 0).size()).isZero();
	}

	@Test
	void anOldTombstoneIsNotGivenToAReplicaWithoutTheKey() {
		assertThat(plan(List.of(tombstone(OLD, 3)), List.of(), 0, 1, EntryHeader::tombstone).size()).isZero();
		assertThat(plan(List.of(), List.of(tombstone(OLD, 3)), 0, 1, EntryHeader::tombstone).size()).isZero();
	}

	@Test
	void anOldTombstoneIsGivenToAMemberThatHasSomethingOlder() {
		assertThat(plan(List.of(tombstone(NEW, 3)), List.of(live(OLD, 3)), 0, 1, EntryHeader::tombstone).push())
			.containsExactly(tombstone(NEW, 3));
		assertThat(plan(List.of(live(OLD, 3)), List.of(tombstone(NEW, 3)), 0, 1, EntryHeader::tombstone).pull())
			.containsExactly(tombstone(NEW, 3));
	}

	@Test
	void whatMayBeUnderWayIsLeftToItsWriteButBroughtHere() {
		assertThat(youngPlan(List.of(live(NEW, 3)), List.of(live(OLD, 3)), 0, 2))
			.isEqualTo(new Plan(List.of(), List.of(), List.of(), List.of(live(NEW, 3))));
		assertThat(youngPlan(List.of(live(NEW, 3)), List.of(), 0, 2))
			.isEqualTo(new Plan(List.of(), List.of(), List.of(), List.of(live(NEW, 3))));
		assertThat(youngPlan(List.of(live(OLD, 3)), List.of(live(NEW, 3)), 0, 2))
			.isEqualTo(new Plan(List.of(live(NEW, 3)), List.of(), List.of(), List.of()));
	}

	@Test
	void whichWritesMayBeUnderWayIsSaidForTheInstantOfTheQuestion() {
		SteeredTime time = new SteeredTime();
		Predicate<EntryHeader> underWay = AntiEntropy.underWay(time, Duration.ofSeconds(1));
		assertThat(underWay).accepts(written(time, 0), written(time, -999), written(time, 500))
			.rejects(written(time, -1_000), written(time, 501));

		time.pass(Duration.ofHours(1));
		assertThat(underWay).accepts(written(time, 0), written(time, -999), written(time, 500))
			.rejects(written(time, -1_000), written(time, 501));
	}

	private static EntryHeader written(TimeSource time, long afterMillis) {
		return live(new Version(Version.lastTimestampOf(time.millis() + afterMillis), 1), 3);
	}

	/** Its write does not bring it there, however often the key is written. */
	@Test
	void whatMayBeUnderWayIsGivenToAMemberWhoseOlderEntryDoesNotBelongThere() {
		assertThat(youngPlan(List.of(live(NEW, 3)), List.of(live(OLD, 3)), 0, 3))
			.isEqualTo(new Plan(List.of(), List.of(live(NEW, 3)), List.of(), List.of()));
		assertThat(youngPlan(List.of(live(OLD, 3)), List.of(live(NEW, 3)), 3, 0))
			.isEqualTo(new Plan(List.of(live(NEW, 3)), List.of(), List.of(), List.of()));
	}

	private static Plan youngPlan(List<EntryHeader> mine, List<EntryHeader> theirs, int myRank, int theirRank) {
		return plan(mine, theirs, myRank, theirRank, header -> header.version().equals(NEW), _ -> false);
	}

	@SeededTest
	void carryingItOutMakesBothEqualInWhatTheyShare(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 200; i++) {
			int myRank = random.below(3);
			int theirRank = (myRank + 1 + random.below(2)) % 3;
			Map<Key, EntryHeader> mine = new TreeMap<>();
			Map<Key, EntryHeader> theirs = new TreeMap<>();
			for (int writes = random.below(30); writes > 0; writes--) {
				EntryHeader header = new EntryHeader(Generator.key("k" + random.below(8)), new Version(writes + 1L, 1),
						1 + random.below(3), random.chance(30));
				if (myRank < copies(header.copies()) && random.chance(60)) {
					mine.merge(header.key(), header, PlanTests::newer);
				}
				if (theirRank < copies(header.copies()) && random.chance(60)) {
					theirs.merge(header.key(), header, PlanTests::newer);
				}
			}
			carryOut(mine, theirs, myRank, theirRank);
			carryOut(theirs, mine, theirRank, myRank);

			assertThat(shared(mine, myRank, theirRank)).as("seed %d, round %d", seed, i)
				.isEqualTo(shared(theirs, myRank, theirRank));
		}
	}

	private static void carryOut(Map<Key, EntryHeader> mine, Map<Key, EntryHeader> theirs, int myRank, int theirRank) {
		Plan plan = plan(List.copyOf(mine.values()), List.copyOf(theirs.values()), myRank, theirRank);
		plan.pull().forEach(header -> mine.merge(header.key(), header, PlanTests::newer));
		plan.push().forEach(header -> theirs.merge(header.key(), header, PlanTests::newer));
	}

	private static Map<Key, EntryHeader> shared(Map<Key, EntryHeader> headers, int oneRank, int otherRank) {
		Map<Key, EntryHeader> shared = new TreeMap<>(headers);
		shared.values().removeIf(header -> Math.max(oneRank, otherRank) >= copies(header.copies()));
		return shared;
	}

	private static EntryHeader newer(EntryHeader one, EntryHeader other) {
		return one.version().isNewerThan(other.version()) ? one : other;
	}

	private static Plan plan(List<EntryHeader> mine, List<EntryHeader> theirs, int myRank, int theirRank) {
		return plan(mine, theirs, myRank, theirRank, _ -> false);
	}

	private static Plan plan(List<EntryHeader> mine, List<EntryHeader> theirs, int myRank, int theirRank,
			Predicate<EntryHeader> isOldTombstone) {
		return plan(mine, theirs, myRank, theirRank, _ -> false, isOldTombstone);
	}

	private static Plan plan(List<EntryHeader> mine, List<EntryHeader> theirs, int myRank, int theirRank,
			Predicate<EntryHeader> isUnderWay, Predicate<EntryHeader> isOldTombstone) {
		Leaf leaf = Leaf.of(0, mine, HASH);
		Leaf received = Messages.readLeaves(Messages.compare(List.of(leaf)).body()).getFirst();
		byte[] answer = Messages.differences(List.of(Difference.between(received, theirs, HASH)), PlanTests::copies);
		Plan plan = Plan.nothing();
		plan.add(mine, Messages.readDifferences(answer, List.of(leaf)).getFirst(), myRank, theirRank, PlanTests::copies,
				isUnderWay, isOldTombstone);
		return plan;
	}

	private static int copies(Copies copies) {
		return copies.orDefault(FACTOR);
	}

	private static EntryHeader live(Version version, int copies) {
		return new EntryHeader(KEY, version, copies, false);
	}

	private static EntryHeader tombstone(Version version, int copies) {
		return new EntryHeader(KEY, version, copies, true);
	}

}
