package io.kvorum.replication;

import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.cluster.Member;
import io.kvorum.coordination.ScriptedReplica;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OperationFailuresTests {

	private final List<ScriptedReplica> all = IntStream.range(0, 3)
		.mapToObj(index -> new ScriptedReplica(new Member(index, "http://node-" + index)))
		.toList();

	private OperationFailedException failure() {
		return OperationFailures.ofAbsentees(ReplicaSet.of(this.all.stream().map(ScriptedReplica::member).toList(), 2,
				this.all.toArray(Replica[]::new)));
	}

	@Test
	void ofAbsenteesNamesThoseThatAreAway() {
		this.all.get(1).isAway();
		this.all.get(2).isAway();

		assertThat(failure().replicas()).hasSize(3);
		assertThat(failure().kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
	}

	@Test
	void withoutAReplyOfAReplicaNoReasonIsGiven() {
		assertThat(failure().kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
	}

}
