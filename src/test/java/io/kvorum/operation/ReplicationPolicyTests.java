package io.kvorum.operation;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.ReplicationPolicy.Consistency;
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

	private static ReplicationPolicy policy(int nodes, int factor) {
		return new ReplicationPolicy(nodes, factor);
	}

}
