package io.kvorum.kv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ReplicasTests {

	@ParameterizedTest
	@CsvSource({ "1, 1", "2, 2", "3, 2", "4, 3", "5, 3", "255, 128" })
	void aMajorityIsMoreThanHalf(int from, int ack) {
		assertThat(Replicas.majorityOf(from)).isEqualTo(new Replicas(ack, from, Copies.DEFAULT));
		assertThat(Replicas.majorityOf(from).isMajority()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "1, 1, true", "1, 2, false", "2, 2, true", "1, 3, false", "2, 3, true", "2, 4, false", "3, 4, true" })
	void halfIsNoMajority(int ack, int from, boolean majority) {
		assertThat(new Replicas(ack, from).isMajority()).isEqualTo(majority);
	}

	@ParameterizedTest
	@CsvSource({ "0, 1", "-1, 1", "2, 1", "0, 0", "1, 256" })
	void ackIsOneToFromAndFromUpTo255(int ack, int from) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Replicas(ack, from))
			.withMessage("1 <= ack <= from <= 255, not %d/%d", ack, from);
	}

	@Test
	void theyArePrintedAsRequestsSpellThem() {
		assertThat(new Replicas(2, 3)).hasToString("2/3");
	}

}
