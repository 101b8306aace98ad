package io.kvorum.operation;

import java.util.Set;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class ReplicationPolicyTests {

	@ParameterizedTest
	@CsvSource({ "1, 3, 1, 1", "2, 3, 2, 2", "3, 3, 2, 3", "5, 3, 2, 3", "5, 5, 3, 5", "3, 1, 1, 1" })
	void aRequestThatDoesNotSayGetsAMajorityOfTheFactorCappedToTheNodes(int nodes, int factor, int ack, int from) {
		assertThat(policy(nodes, factor).defaults()).isEqualTo(new Replicas(ack, from, Copies.DEFAULT));
	}

	@ParameterizedTest
	@CsvSource({ "1, 1, 1, LINEARIZABLE", "3, 2, 3, LINEARIZABLE", "3, 3, 3, LINEARIZABLE", "3, 1, 3, EVENTUAL",
			"3, 2, 2, EVENTUAL", "3, 1, 1, EVENTUAL", "5, 3, 5, EVENTUAL" })
	void onlyAMajorityOfTheWholeReplicaSetIsLinearizable(int nodes, int ack, int from, Consistency expected) {
		assertThat(policy(nodes, 3).consistencyOf(new Replicas(ack, from))).isEqualTo(expected);
	}

	@Test
	void aRequestForWhichEventualSufficesIsEventual() {
		Replicas relaxed = policy(3, 3).defaults().relax();

		assertThat(policy(3, 3).consistencyOf(relaxed)).isEqualTo(Consistency.EVENTUAL);
		assertThat(relaxed).isNotEqualTo(policy(3, 3).defaults()).hasToString("2/3 eventual");
	}

	@Test
	void theDefaultOfARequestIsThatOfThePresentFactor() {
		ReplicationPolicy five = ReplicationPolicy.fixed(5, Set.of(1, 2, 3, 5));
		Replicas before = policy(3, 3).defaults();

		assertThat(five.consistencyOf(before)).isEqualTo(Consistency.LINEARIZABLE);
		assertThat(five.present(before)).isEqualTo(five.defaults());
		assertThat(five.consistencyOf(before.relax())).isEqualTo(Consistency.EVENTUAL);
		assertThat(five.present(before.relax())).isEqualTo(five.defaults().relax());
		assertThat(five.consistencyOf(new Replicas(2, 3))).isEqualTo(Consistency.EVENTUAL);
		assertThat(five.present(new Replicas(2, 3))).isEqualTo(new Replicas(2, 3));
	}

	@Test
	void aStoreWithoutAChoiceOfReplicasAllowsItsOwnNumbersOnly() {
		ReplicationPolicy five = ReplicationPolicy.fixed(5, Set.of(5, 1, 3, 2));

		assertThat(five.acks()).containsExactly(1, 2, 3, 5);
		assertThat(five.allows(3, 5)).isTrue();
		assertThat(five.allows(4, 5)).isFalse();
		assertThat(five.allows(1, 3)).isFalse();
		assertThat(policy(3, 3).allows(1, 2)).isTrue();
		assertThat(policy(3, 3).allows(1, 4)).isFalse();
		assertThat(policy(3, 3).allows(0, 1)).isFalse();
		assertThat(policy(3, 3).allows(3, 2)).isFalse();
	}

	private static ReplicationPolicy policy(int nodes, int factor) {
		return new ReplicationPolicy(nodes, factor);
	}

}
