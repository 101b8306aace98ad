package io.kvorum.quorum;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TallyTests {

	private static final int MOST_REPLICAS = 5;

	private static final int RANDOM_CASES = 2_000;

	private static final Failed FAILED = Failed.notDone(Reason.OVERLOADED, "full");

	@Test
	void whateverIsRepliedInWhateverOrderTheDecisionComesWhenItIsCertainAndStays() {
		int cases = 0;
		for (int replicas = 1; replicas <= MOST_REPLICAS; replicas++) {
			for (int required = 1; required <= replicas; required++) {
				cases += verifyAllThatMayFollow(Tally.awaiting(required, replicas), 0, 0);
			}
		}
		assertThat(cases).isGreaterThan(10_000);
	}

	/**
	 * Walks through every order of every reply of those that have not replied yet.
	 * @return how many tallies it has seen
	 */
	private static int verifyAllThatMayFollow(Tally tally, int successes, int failures) {
		int outstanding = tally.replicas() - successes - failures;
		boolean isCertain = successes >= tally.required();
		boolean isPossible = successes + outstanding >= tally.required();
		Decision expected = isCertain ? Decision.REACHED : isPossible ? Decision.PENDING : Decision.UNREACHABLE;
		assertThat(tally.decision())
			.as("%s+%s of %s, %s required", successes, failures, tally.replicas(), tally.required())
			.isEqualTo(expected);
		assertThat(tally.isDecided()).isEqualTo(expected != Decision.PENDING);
		assertThat(tally.succeeded()).isEqualTo(successes);
		assertThat(tally.failed()).isEqualTo(failures);
		int seen = 1;
		for (int position = 0; position < tally.replicas(); position++) {
			if (tally.reply(position) == null) {
				Tally more = tally.add(position, Acknowledged.INSTANCE);
				Tally less = tally.add(position, FAILED);
				if (tally.isDecided()) {
					assertThat(more.decision()).isEqualTo(tally.decision());
					assertThat(less.decision()).isEqualTo(tally.decision());
				}
				seen += verifyAllThatMayFollow(more, successes + 1, failures);
				seen += verifyAllThatMayFollow(less, successes, failures + 1);
			}
			else {
				verifyCountedOnce(tally, position);
			}
		}
		return seen;
	}

	private static void verifyCountedOnce(Tally tally, int position) {
		for (Reply again : List.of(Acknowledged.INSTANCE, FAILED, Held.nothing())) {
			Tally after = tally.add(position, again);
			assertThat(after.reply(position)).isSameAs(tally.reply(position));
			assertThat(after.succeeded()).isEqualTo(tally.succeeded());
			assertThat(after.failed()).isEqualTo(tally.failed());
		}
	}

	@Test
	void aReplyChangesNoTallyThatSomebodyElseHolds() {
		Tally before = Tally.awaiting(1, 2);
		Tally after = before.add(1, Acknowledged.INSTANCE);

		assertThat(before.reply(1)).isNull();
		assertThat(before.isDecided()).isFalse();
		assertThat(after.isDecided()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "0, 3", "4, 3", "1, 0", "-1, 1" })
	void whatCanNeverSucceedIsNotCounted(int required, int replicas) {
		assertThatIllegalArgumentException().isThrownBy(() -> Tally.awaiting(required, replicas));
	}

	@SeededTest
	void whatReplicasHoldIsJudgedAsByANaiveTwin(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < RANDOM_CASES; i++) {
			int replicas = 1 + random.below(MOST_REPLICAS);
			int required = 1 + random.below(replicas);
			List<@Nullable Reply> replies = new ArrayList<>();
			IntStream.range(0, replicas).forEach(_ -> replies.add(reply(random)));
			verifyAgainstTwin(required, replies, random.closeVersion());
		}
	}

	private static @Nullable Reply reply(Generator random) {
		return switch (random.below(6)) {
			case 0 -> null;
			case 1 -> FAILED;
			case 2 -> Held.nothing();
			case 3 -> new Held(random.closeVersion(), null);
			default -> Held.of(random.entry(random.closeVersion()));
		};
	}

	private static void verifyAgainstTwin(int required, List<@Nullable Reply> replies, Version version) {
		Tally tally = Tally.awaiting(required, replies.size());
		for (int position = 0; position < replies.size(); position++) {
			Reply reply = replies.get(position);
			tally = (reply != null) ? tally.add(position, reply) : tally;
		}
		List<Held> held = replies.stream().filter(Held.class::isInstance).map(Held.class::cast).toList();
		Version newest = held.stream().map(Held::version).max(Comparator.naturalOrder()).orElse(Version.ABSENT);
		boolean isEntryKnown = held.stream().anyMatch(one -> one.version().equals(newest) && one.entry() != null);

		assertThat(tally.newest().version()).isEqualTo(newest);
		assertThat(tally.newest().entry() != null).isEqualTo(isEntryKnown);
		assertThat(tally.newest().lacksEntry()).isEqualTo(!isEntryKnown && !newest.equals(Version.ABSENT));
		List<Integer> holders = new ArrayList<>();
		List<Integer> behind = new ArrayList<>();
		for (int position = 0; position < replies.size(); position++) {
			if (replies.get(position) instanceof Held one) {
				(version.isNewerThan(one.version()) ? behind : holders).add(position);
			}
		}
		assertThat(tally.behind(version)).isEqualTo(behind);
		assertThat(tally.isHeldByEnough(version)).isEqualTo(holders.size() >= required);
		Tally store = tally.acknowledging(version, Quorum.of(required, replies.size()));
		for (int position = 0; position < replies.size(); position++) {
			boolean isHolder = holders.contains(position);
			assertThat(tally.holds(position, version)).isEqualTo(isHolder);
			assertThat(store.reply(position)).isEqualTo(isHolder ? Acknowledged.INSTANCE : null);
		}
		assertThat(store.required()).isEqualTo(required);
		assertThat(store.replicas()).isEqualTo(replies.size());
	}

	@Test
	void everyReasonHasACodeOfItsOwnAndAnUnknownCodeIsAnInternalError() {
		assertThat(Reason.values()).allSatisfy(reason -> assertThat(Reason.ofCode(reason.code())).isEqualTo(reason));
		assertThat(List.of(-1L, 0L, 16L, Long.MAX_VALUE, 1L << 32 | 1))
			.allSatisfy(code -> assertThat(Reason.ofCode(Objects.requireNonNull(code))).isEqualTo(Reason.INTERNAL));
	}

}
