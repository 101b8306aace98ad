package io.kvorum.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import io.kvorum.kv.Replicas;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("The level of Cassandra for the numbers of an operation")
class LevelsTests {

	@ParameterizedTest
	@CsvSource({ "1, 1, QUORUM", "1, 2, ONE", "2, 2, QUORUM", "1, 3, ONE", "2, 3, QUORUM", "3, 3, ALL", "1, 4, ONE",
			"2, 4, TWO", "3, 4, QUORUM", "4, 4, ALL", "1, 5, ONE", "2, 5, TWO", "3, 5, QUORUM", "5, 5, ALL",
			"1, 6, ONE", "2, 6, TWO", "3, 6, THREE", "4, 6, QUORUM", "6, 6, ALL", "3, 9, THREE", "5, 9, QUORUM" })
	@DisplayName("of a plain write or read")
	void numbers(int ack, int from, DefaultConsistencyLevel expected) {
		assertThat(Levels.of(new Replicas(ack, from))).isEqualTo(expected);
		assertThat(Levels.ofRead(new Replicas(ack, from), false)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 6, 7, 12 })
	@DisplayName("each number that the policy allows has a level that waits for exactly so many; the others have none")
	void allowed(int factor) {
		for (int ack = 1; ack <= factor; ack++) {
			Replicas asked = new Replicas(ack, factor);
			if (CassandraConnection.policyOf(factor).allows(ack, factor)) {
				assertThat(waitsFor(Levels.of(asked), factor)).isEqualTo(ack);
			}
			else {
				assertThatIllegalArgumentException().isThrownBy(() -> Levels.of(asked));
			}
		}
	}

	private static int waitsFor(ConsistencyLevel level, int factor) {
		return switch ((DefaultConsistencyLevel) level) {
			case ONE -> 1;
			case TWO -> 2;
			case THREE -> 3;
			case QUORUM -> factor / 2 + 1;
			case ALL -> factor;
			default -> throw new AssertionError(level);
		};
	}

	@ParameterizedTest
	@CsvSource({ "1, 1, SERIAL", "2, 2, SERIAL", "2, 3, SERIAL", "3, 3, ALL", "3, 4, SERIAL", "4, 4, ALL",
			"3, 5, SERIAL", "5, 5, ALL" })
	@DisplayName("of a linearizable read: serial, unless it asks more than a majority")
	void linearizableReads(int ack, int from, DefaultConsistencyLevel expected) {
		assertThat(Levels.ofRead(new Replicas(ack, from), true)).isEqualTo(expected);
	}

	@Test
	@DisplayName("of the commit of a transaction: that of a linearizable operation, else a majority")
	void commits() {
		assertThat(Levels.ofCommit(new Replicas(2, 3), true)).isEqualTo(DefaultConsistencyLevel.QUORUM);
		assertThat(Levels.ofCommit(new Replicas(3, 3), true)).isEqualTo(DefaultConsistencyLevel.ALL);
		assertThat(Levels.ofCommit(new Replicas(1, 3), false)).isEqualTo(DefaultConsistencyLevel.QUORUM);
		assertThat(Levels.ofCommit(new Replicas(2, 3).relax(), false)).isEqualTo(DefaultConsistencyLevel.QUORUM);
	}

}
