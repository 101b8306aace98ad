package io.kvorum.quorum;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers stand for versions. */
class FateTests {

	/** More than an entry remembers. */
	private static final int MOST_STEPS = 7;

	/** What comes next of a key. */
	private enum Step {

		/** A write without a condition, without a ballot. */
		PLAIN,

		/** A write with a condition, under a ballot. */
		CONDITIONAL,

		/** The newest entry, proposed again. */
		AGAIN,

		/** The write that is looked for, under a ballot. */
		MINE,

		/** The write that is looked for, sent and not chosen. */
		MINE_LOST

	}

	private final Map<Fate, Integer> seen = new EnumMap<>(Fate.class);

	@Test
	void whateverCameBeforeAndAfterAFateIsTrueAndKnownAsFarAsTheAncestorsTell() {
		follow(null, 1, false, 0, new ArrayList<>(), 0);

		assertThat(this.seen).containsOnlyKeys(Fate.values());
	}

	/**
	 * Walks through all that may be chosen of a key.
	 * @param isMine whether the write was chosen
	 * @param since how many different writes were chosen since, or since it was lost;
	 * more than are remembered after one without lineage
	 */
	private void follow(@Nullable Entry newest, int version, boolean isMine, int since, List<Version> sent, int steps) {
		if (!sent.isEmpty()) {
			verify(newest, isMine, since, sent);
		}
		if (steps == MOST_STEPS) {
			return;
		}
		for (Step step : Step.values()) {
			boolean isAgain = step == Step.AGAIN;
			boolean sends = step == Step.MINE || step == Step.MINE_LOST;
			if ((isAgain && newest == null) || (sends && (isMine || sent.size() == 2))) {
				continue;
			}
			List<Version> sentThen = new ArrayList<>(sent);
			if (sends) {
				sentThen.add(version(version));
			}
			Version identity = sentThen.isEmpty() ? version(version) : sentThen.getFirst();
			Entry next = switch (step) {
				case PLAIN -> new Tombstone(version(version), 3);
				case CONDITIONAL -> new Tombstone(version(version), 3).under(version(version),
						Lineage.of(version(version), true, newest));
				case AGAIN -> again(newest, version);
				case MINE -> new Tombstone(identity, 3).under(version(version), Lineage.of(identity, true, newest));
				case MINE_LOST -> newest;
			};
			int sinceThen = switch (step) {
				case PLAIN -> since + Lineage.MAX_ANCESTORS + 1;
				case CONDITIONAL -> since + 1;
				case AGAIN -> since + (isOfPlain(newest) ? Lineage.MAX_ANCESTORS : (since == 0) ? 1 : 0);
				case MINE -> 0;
				case MINE_LOST -> sent.isEmpty() ? 0 : since;
			};
			follow(next, version + 1, isMine || step == Step.MINE, sinceThen, sentThen, steps + 1);
		}
	}

	/** Whether nothing is remembered below an entry that is proposed again. */
	private static boolean isOfPlain(@Nullable Entry newest) {
		Lineage lineage = (newest != null) ? newest.lineage() : null;
		return lineage == null || !lineage.isConditional();
	}

	private static Entry again(@Nullable Entry newest, int version) {
		if (newest == null) {
			throw new AssertionError("nothing is there");
		}
		return newest.again(version(version));
	}

	private void verify(@Nullable Entry newest, boolean isMine, int since, List<Version> sent) {
		Fate fate = Fate.of(newest, sent.getFirst(), sent);
		this.seen.merge(fate, 1, Integer::sum);
		if (fate != Fate.UNCLEAR) {
			assertThat(fate == Fate.MINE).as("%s of %s", newest, sent).isEqualTo(isMine);
		}
		if (since < Lineage.MAX_ANCESTORS) {
			assertThat(fate).as("%s of %s", newest, sent).isNotEqualTo(Fate.UNCLEAR);
		}
		Fate unconditional = Fate.ofUnconditional(newest, sent.getFirst(), sent);
		assertThat(unconditional == fate || (fate == Fate.UNCLEAR && unconditional == Fate.MINE)).isTrue();
	}

	@Test
	void whereNothingIsNothingWasChosen() {
		assertThat(Fate.of(null, version(1), List.of(version(1)))).isEqualTo(Fate.NOT_CHOSEN);
	}

	@Test
	void aWriteWithoutAConditionHappenedRightBeforeOneOfALaterVersion() {
		Entry plain = new Tombstone(version(5), 3);
		assertThat(Fate.of(plain, version(2), List.of(version(2)))).isEqualTo(Fate.UNCLEAR);
		assertThat(Fate.ofUnconditional(plain, version(2), List.of(version(2)))).isEqualTo(Fate.MINE);
	}

	@Test
	void aWriteWithoutAConditionHappenedRightBeforeAnotherUnderABallot() {
		Entry base = new Tombstone(version(5), 3);
		Entry other = new Tombstone(version(6), 3).under(version(7), Lineage.of(version(6), false, base));
		assertThat(Fate.ofUnconditional(other, version(2), List.of(version(2)))).isEqualTo(Fate.MINE);
		assertThat(Fate.ofUnconditional(other.again(version(8)), version(2), List.of(version(2)))).isEqualTo(Fate.MINE);
	}

	@Test
	void whereAWriteThatIsOlderWasProposedAgainItIsUnclear() {
		Entry other = new Tombstone(version(1), 3).again(version(5)).again(version(7));
		assertThat(Fate.ofUnconditional(other, version(2), List.of(version(2)))).isEqualTo(Fate.UNCLEAR);
		assertThat(Fate.ofUnconditional(compared(other, 8), version(2), List.of(version(2)))).isEqualTo(Fate.UNCLEAR);
	}

	@Test
	void aWriteWithoutAConditionHappenedRightBeforeALaterOneThatOthersHaveComparedSince() {
		Entry base = new Tombstone(version(5), 3);
		assertThat(Fate.ofUnconditional(base.again(version(7)), version(2), List.of(version(2), version(6))))
			.isEqualTo(Fate.MINE);
		Entry compared = compared(compared(compared(base, 6), 7), 8);
		assertThat(Fate.of(compared, version(2), List.of(version(2)))).isEqualTo(Fate.UNCLEAR);
		assertThat(Fate.ofUnconditional(compared, version(2), List.of(version(2)))).isEqualTo(Fate.MINE);
	}

	@Test
	void behindAFullLineageItIsUnclear() {
		Entry compared = new Tombstone(version(5), 3);
		for (int ballot = 6; ballot < 6 + Lineage.MAX_ANCESTORS; ballot++) {
			compared = compared(compared, ballot);
		}
		assertThat(Fate.ofUnconditional(compared, version(2), List.of(version(2)))).isEqualTo(Fate.UNCLEAR);
	}

	/** A conditional write on top of another entry. */
	private static Entry compared(Entry base, int ballot) {
		return new Tombstone(version(ballot), 3).under(version(ballot), Lineage.of(version(ballot), true, base));
	}

	private static Version version(int number) {
		return new Version((long) number << Version.COUNTER_BITS, 1);
	}

}
