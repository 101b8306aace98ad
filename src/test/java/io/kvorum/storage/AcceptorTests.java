package io.kvorum.storage;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers stand for versions; 0 is absent. */
class AcceptorTests {

	/** The greatest version: enough for each order of held, promise, version and base. */
	private static final int MOST = 5;

	@ParameterizedTest
	@CsvSource({
			// held, promise, version
			"0, 0, 1, TAKEN", "2, 0, 1, HELD", "2, 0, 2, HELD", "2, 0, 3, TAKEN", "1, 3, 2, REFUSED", "1, 3, 1, HELD",
			"1, 3, 3, TAKEN", "1, 3, 4, TAKEN", "4, 3, 2, REFUSED", "4, 2, 3, HELD", "0, 3, 2, REFUSED" })
	void store(int held, int promise, int version, Verdict expected) {
		assertThat(acceptor(held, promise).store(version(version))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "0, 0, 1, TAKEN", "2, 0, 1, HELD", "2, 0, 2, HELD", "1, 3, 2, REFUSED", "1, 3, 3, TAKEN",
			"4, 3, 2, HELD" })
	void repair(int held, int promise, int version, Verdict expected) {
		assertThat(acceptor(held, promise).repair(version(version))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "0, 0, 1, TAKEN", "1, 0, 1, TAKEN", "2, 0, 1, REFUSED", "1, 2, 2, TAKEN", "1, 3, 2, REFUSED",
			"1, 2, 3, TAKEN" })
	void prepare(int held, int promise, int ballot, Verdict expected) {
		assertThat(acceptor(held, promise).prepare(version(ballot))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({
			// held, promise, version, base
			"0, 0, 1, 0, TAKEN", "1, 3, 3, 1, TAKEN", "1, 3, 3, 0, REFUSED", "0, 3, 3, 1, TAKEN", "1, 4, 3, 1, REFUSED",
			"3, 3, 3, 1, HELD", "3, 4, 3, 1, HELD", "4, 3, 3, 1, HELD", "4, 4, 3, 1, REFUSED", "2, 3, 3, 1, REFUSED",
			"2, 0, 3, 2, TAKEN" })
	void accept(int held, int promise, int version, int base, Verdict expected) {
		assertThat(acceptor(held, promise).accept(version(version), version(base))).isEqualTo(expected);
	}

	@Test
	void anEqualVersionIsAlwaysAcknowledged() {
		states().forEach(state -> {
			assertThat(state.store(state.held())).isEqualTo(Verdict.HELD);
			assertThat(state.repair(state.held())).isEqualTo(Verdict.HELD);
			versions().forEach(base -> assertThat(state.accept(state.held(), base)).isEqualTo(Verdict.HELD));
		});
	}

	@Test
	void nothingElseIsAcknowledgedOrTakenBelowAPromise() {
		states().forEach(state -> versions().filter(state.promise()::isNewerThan)
			.filter(version -> !version.equals(state.held()))
			.forEach(version -> {
				assertThat(state.store(version)).isEqualTo(Verdict.REFUSED);
				assertThat(state.prepare(version)).isEqualTo(Verdict.REFUSED);
				assertThat(state.repair(version)).isNotEqualTo(Verdict.TAKEN);
				versions().forEach(base -> assertThat(state.accept(version, base)).isEqualTo(Verdict.REFUSED));
			}));
	}

	@Test
	void withoutAPromiseTheNewerOneWins() {
		states().filter(state -> state.promise().equals(Version.ABSENT))
			.forEach(state -> versions().forEach(version -> {
				Verdict expected = version.isNewerThan(state.held()) ? Verdict.TAKEN : Verdict.HELD;
				assertThat(state.store(version)).isEqualTo(expected);
				assertThat(state.repair(version)).isEqualTo(expected);
			}));
	}

	@Test
	void whatIsTakenIsNewerAndARefusalNamesSomethingAbove() {
		states().forEach(state -> versions().forEach(version -> {
			assertTakenIfNewer(state, version, state.store(version));
			assertTakenIfNewer(state, version, state.repair(version));
			versions().forEach(base -> assertTakenIfNewer(state, version, state.accept(version, base)));
			if (state.prepare(version) == Verdict.REFUSED) {
				assertThat(state.held().isNewerThan(version) || state.promise().isNewerThan(version)).isTrue();
			}
		}));
	}

	private static void assertTakenIfNewer(Acceptor state, Version version, Verdict verdict) {
		if (verdict == Verdict.TAKEN) {
			assertThat(version.isNewerThan(state.held())).isTrue();
			assertThat(state.promise().isNewerThan(version)).isFalse();
		}
	}

	@Test
	void whateverFollowsAPromiseTheEntryThatWasSeenIsReplacedByNothingBelowIt() {
		// A promise was made on each state. All that may happen then, in every order:
		states().forEach(seen -> versions().filter(ballot -> seen.prepare(ballot) == Verdict.TAKEN).forEach(ballot -> {
			Set<Acceptor> reached = new HashSet<>();
			reach(new Acceptor(seen.held(), ballot), reached);
			assertThat(reached).allSatisfy(state -> {
				assertThat(ballot.isNewerThan(state.promise())).isFalse();
				assertThat(state.held().equals(seen.held()) || !ballot.isNewerThan(state.held())).isTrue();
			});
		}));
	}

	private static void reach(Acceptor state, Set<Acceptor> reached) {
		if (!reached.add(state)) {
			return;
		}
		versions().forEach(version -> {
			if (state.store(version) == Verdict.TAKEN || state.repair(version) == Verdict.TAKEN) {
				reach(new Acceptor(version, state.promise()), reached);
			}
			if (state.prepare(version) == Verdict.TAKEN) {
				reach(new Acceptor(state.held(), version), reached);
			}
			if (versions().anyMatch(base -> state.accept(version, base) == Verdict.TAKEN)) {
				reach(new Acceptor(version, version), reached);
			}
		});
	}

	private static Stream<Acceptor> states() {
		return IntStream.rangeClosed(0, MOST)
			.boxed()
			.flatMap(held -> IntStream.rangeClosed(0, MOST).mapToObj(promise -> acceptor(held, promise)));
	}

	private static Stream<Version> versions() {
		return IntStream.rangeClosed(1, MOST).mapToObj(AcceptorTests::version);
	}

	private static Acceptor acceptor(int held, int promise) {
		return new Acceptor(version(held), version(promise));
	}

	private static Version version(int number) {
		return (number == 0) ? Version.ABSENT : new Version((long) number << Version.COUNTER_BITS, 1);
	}

}
