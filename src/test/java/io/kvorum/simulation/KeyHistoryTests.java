package io.kvorum.simulation;

import java.time.Duration;
import java.util.List;

import io.kvorum.kv.Key;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.simulation.KeyHistory.Told;
import io.kvorum.testing.Generator;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KeyHistoryTests {

	private static final Key KEY = Generator.key("key");

	@Test
	void theEtagOfAConditionalWriteIsGreaterThanAllThatWereToldBeforeIt() {
		assertThat(KeyHistory.notGrown(KEY, List.of(get(7, 0, 1), put(8, 2, 3), put(9, 4, 5)))).isEmpty();
		assertThat(KeyHistory.notGrown(KEY, List.of(get(8, 0, 1), put(7, 2, 3)))).hasSize(1);
		assertThat(KeyHistory.notGrown(KEY, List.of(put(8, 0, 1), put(8, 2, 3)))).hasSize(1);
		assertThat(KeyHistory.notGrown(KEY, List.of(put(7, 2, 3), put(8, 0, 1)))).as("in any order").hasSize(1);
	}

	@Test
	void nothingIsSaidOfEtagsOfWritesSideBySideWithoutConditionsAndOfUnknownEnd() {
		assertThat(KeyHistory.notGrown(KEY, List.of(put(8, 0, 3), put(7, 2, 5)))).isEmpty();
		assertThat(KeyHistory.notGrown(KEY, List.of(put(8, 0, 1), told(Kind.PUT, Outcome.DONE, null, 7L, 2, 3))))
			.isEmpty();
		assertThat(KeyHistory.notGrown(KEY,
				List.of(put(8, 0, 1), told(Kind.PUT, Outcome.UNKNOWN, Condition.PRESENT, null, 2, 3))))
			.isEmpty();
	}

	@Test
	void anAcknowledgedWriteIsLostWhereOnlySomethingOlderIsLeft() {
		List<Told> written = List.of(put(7, 0, 1), put(8, 2, 3));
		assertThat(KeyHistory.lost(KEY, written, new Version(8, 1))).isNull();
		assertThat(KeyHistory.lost(KEY, written, new Version(9, 1))).as("of a write of unknown end").isNull();
		assertThat(KeyHistory.lost(KEY, written, new Version(7, 1))).startsWith(KeyHistory.LOST);
		assertThat(KeyHistory.lost(KEY, written, null)).startsWith(KeyHistory.LOST);
	}

	@Test
	void nothingMayBeLeftOfWhatWasOrMayHaveBeenDeletedOrExpires() {
		Told delete = told(Kind.DELETE, Outcome.DONE, null, 9L, 2, 3);
		assertThat(KeyHistory.lost(KEY, List.of(put(8, 0, 1), delete), null)).isNull();
		assertThat(KeyHistory.lost(KEY, List.of(delete, put(10, 4, 5)), null)).startsWith(KeyHistory.LOST);
		assertThat(
				KeyHistory.lost(KEY, List.of(put(8, 0, 1), told(Kind.DELETE, Outcome.UNKNOWN, null, null, 2, 3)), null))
			.isNull();
		Told expiring = new Told(put(8, 0, 1).operation(), new Version(8, 1), new Ttl(Duration.ofSeconds(1)));
		assertThat(KeyHistory.lost(KEY, List.of(expiring), null)).isNull();
		assertThat(KeyHistory.lost(KEY, List.of(), null)).isNull();
	}

	private static Told put(long version, long from, long to) {
		return told(Kind.PUT, Outcome.DONE, Condition.PRESENT, version, from, to);
	}

	private static Told get(long version, long from, long to) {
		return told(Kind.GET, Outcome.DONE, null, version, from, to);
	}

	private static Told told(Kind kind, Outcome outcome, @Nullable Condition condition, @Nullable Long version,
			long from, long to) {
		return new Told(new Operation("client", kind, 1, outcome, from, to).provided(condition),
				(version != null) ? new Version(version, 1) : null, null);
	}

}
