package io.kvorum.quorum;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally.Decision;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Operations that need so many of one group of replicas, and so many of another. */
class QuorumTests {

	private static final int REPLICAS = 4;

	private static final Failed FAILED = Failed.notDone(Reason.OVERLOADED, "full");

	/** Every two groups of four replicas, and whatever each of the four replies. */
	@Test
	void itIsReachedAsSoonAsBothGroupsAreAndOutOfReachAsSoonAsOneIs() {
		for (int groups = 0; groups < 1 << (2 * REPLICAS); groups++) {
			int first = groups & 15;
			int second = groups >> REPLICAS;
			// No replica is asked that is of none.
			if (first != 0 && second != 0 && (first | second) == 15) {
				for (int required = 1; required <= REPLICAS; required++) {
					verifyAllReplies(first, Math.min(required, 2), second, required);
				}
			}
		}
	}

	private static void verifyAllReplies(int first, int ofFirst, int second, int ofSecond) {
		Quorum quorum = Quorum.of(ofFirst, REPLICAS, in(first)).and(Quorum.of(ofSecond, REPLICAS, in(second)));
		for (int succeeded = 0; succeeded < 16; succeeded++) {
			for (int failed = 0; failed < 16; failed++) {
				if ((succeeded & failed) == 0) {
					Decision one = decide(first, ofFirst, succeeded, failed);
					Decision other = decide(second, ofSecond, succeeded, failed);
					Decision expected = (one == Decision.UNREACHABLE || other == Decision.UNREACHABLE)
							? Decision.UNREACHABLE : (one == Decision.REACHED && other == Decision.REACHED)
									? Decision.REACHED : Decision.PENDING;
					assertThat(tally(quorum, succeeded, failed).decision())
						.as("%d of %s and %d of %s, %s succeeded, %s failed", ofFirst, Integer.toBinaryString(first),
								ofSecond, Integer.toBinaryString(second), Integer.toBinaryString(succeeded),
								Integer.toBinaryString(failed))
						.isEqualTo(expected);
					int mayAnswer = ~failed;
					assertThat(quorum.isPossibleFor(in(mayAnswer))).isEqualTo(expected != Decision.UNREACHABLE);
				}
			}
		}
	}

	/** The definition. A group that has fewer replicas needs all of them. */
	private static Decision decide(int group, int required, int succeeded, int failed) {
		int needed = Math.min(required, Integer.bitCount(group));
		return (Integer.bitCount(group & succeeded) >= needed) ? Decision.REACHED
				: (Integer.bitCount(group & ~failed) >= needed) ? Decision.PENDING : Decision.UNREACHABLE;
	}

	private static IntPredicate in(int group) {
		return position -> (group >> position & 1) == 1;
	}

	private static Tally tally(Quorum quorum, int succeeded, int failed) {
		Tally tally = Tally.awaiting(quorum);
		for (int position = 0; position < REPLICAS; position++) {
			if (in(succeeded).test(position)) {
				tally = tally.add(position, Acknowledged.INSTANCE);
			}
			else if (in(failed).test(position)) {
				tally = tally.add(position, FAILED);
			}
		}
		return tally;
	}

	/** A client is told how far it was from success where it was farthest. */
	@Test
	void theGroupThatLacksMoreIsTold() {
		Quorum quorum = Quorum.of(2, REPLICAS, in(0b0111)).and(Quorum.of(2, REPLICAS, in(0b1110)));
		Tally tally = tally(quorum, 0b0011, 0);

		assertThat(tally.succeeded()).isEqualTo(1);
		assertThat(tally.required()).isEqualTo(2);
		assertThat(tally.decision()).isEqualTo(Decision.PENDING);
	}

	/** A replica of either group may be the one that is missing. */
	@Test
	void ofTwoGroupsAllReplicasAreAsked() {
		Quorum quorum = Quorum.of(2, REPLICAS, in(0b0111)).and(Quorum.of(2, REPLICAS, in(0b1110)));

		assertThat(Tally.awaiting(quorum).needed()).isEqualTo(REPLICAS);
		assertThat(Tally.awaiting(Quorum.of(2, REPLICAS)).needed()).isEqualTo(2);
	}

	@Test
	void aVersionThatOneGroupLacksIsStoredAgain() {
		Version version = new Version(1_000, 1);
		Quorum quorum = Quorum.of(2, REPLICAS, in(0b0111)).and(Quorum.of(2, REPLICAS, in(0b1100)));
		Tally read = Tally.awaiting(quorum);
		for (int position : List.of(0, 1, 2)) {
			read = read.add(position, new Held(version, null));
		}

		assertThat(read.isHeldByEnough(version)).isFalse();
		assertThat(read.add(3, new Held(version, null)).isHeldByEnough(version)).isTrue();
		Tally store = read.acknowledging(version, quorum);
		assertThat(IntStream.range(0, REPLICAS).filter(position -> store.reply(position) == null)).containsExactly(3);
	}

	@Test
	void aReplicaThatIsToHoldNoCopyIsNotAsked() {
		Tally store = Tally.awaiting(Quorum.of(1, REPLICAS))
			.acknowledging(new Version(1_000, 1), Quorum.of(1, REPLICAS, in(0b0001)));

		assertThat(store.reply(0)).isNull();
		assertThat(IntStream.range(1, REPLICAS)).allMatch(position -> store.reply(position) instanceof Failed);
	}

	@Test
	void onlyTwoQuorumsOfTheSameReplicasAreOne() {
		Quorum one = Quorum.of(1, 3);

		assertThatIllegalArgumentException().isThrownBy(() -> one.and(Quorum.of(1, 4)));
		assertThatIllegalArgumentException().isThrownBy(() -> one.and(Quorum.of(2, 3)).and(one));
	}

}
