package io.kvorum.observability;

import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.SteeredConvergence;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.jackson.EndpointJsonMapper;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The answers as JSON, by the mapper that Actuator's endpoints have. */
class ConvergenceEndpointTests {

	private static final Member B = SteeredConvergence.B;

	private static final Member C = SteeredConvergence.C;

	private final SteeredConvergence node = new SteeredConvergence();

	private final ConvergenceEndpoint endpoint = new ConvergenceEndpoint(this.node.convergence());

	private static void assertJson(ConvergenceState answer, String expected) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(JacksonEndpointAutoConfiguration.class))
			.run(context -> {
				JsonMapper mapper = context.getBean(EndpointJsonMapper.class).get();
				JsonNode told = mapper.readTree(mapper.writeValueAsString(answer));
				assertThat(told).isEqualTo(mapper.readTree(expected));
			});
	}

	@Test
	void aNodeThatHasConverged() {
		this.node.repairs.put(C, new RepairProgress(C, false, 3, 3, SteeredTime.START_MILLIS,
				SteeredTime.START_MILLIS + 5, SteeredTime.START_MILLIS - 1, ""));

		assertJson(this.endpoint.state(), """
				{
				  "converged": true,
				  "membership": { "state": "member", "partsToDo": 0, "partsDone": 0 },
				  "slicesInNeed": 0,
				  "misplacedPartitions": 0,
				  "peers": {
				    "http://b:7000": {
				      "there": true,
				      "hints": { "waiting": 0, "bytes": 0 },
				      "repair": {
				        "active": false, "slicesToDo": 4096, "slicesDone": 4096,
				        "started": "2027-01-15T07:59:00Z", "finished": "2027-01-15T07:59:10Z",
				        "oldestRepair": "2027-01-15T07:59:00Z"
				      }
				    },
				    "http://c:7000": {
				      "there": true,
				      "hints": { "waiting": 0, "bytes": 0 },
				      "repair": {
				        "active": false, "slicesToDo": 3, "slicesDone": 3,
				        "started": "2027-01-15T08:00:00Z", "finished": "2027-01-15T08:00:00.005Z",
				        "oldestRepair": "2027-01-15T07:59:59.999Z"
				      }
				    }
				  }
				}
				""");
	}

	@Test
	void aNodeThatIsBehindInEveryWay() {
		this.node.quarantine = new QuarantineProgress("absent", "it was away", 64, 3);
		this.node.equal = false;
		this.node.slicesInNeed = 4099;
		this.node.misplaced = 2;
		this.node.there = Set.of(B.address());
		this.node.repairs.put(B,
				new RepairProgress(B, true, 4096, 12, SteeredTime.START_MILLIS, 0, RepairLog.NEVER, ""));
		this.node.repairs.put(C, new RepairProgress(C, false, 0, 0, 0, 0, RepairLog.NEVER, "http://c:7000: away"));
		this.node.hints.put(C, new Waiting(5, 50, SteeredTime.START_MILLIS));

		assertJson(this.endpoint.state(), """
				{
				  "converged": false,
				  "membership": { "state": "absent", "doubt": "it was away", "partsToDo": 64, "partsDone": 3 },
				  "slicesInNeed": 4099,
				  "misplacedPartitions": 2,
				  "peers": {
				    "http://b:7000": {
				      "there": true,
				      "hints": { "waiting": 0, "bytes": 0 },
				      "repair": {
				        "active": true, "slicesToDo": 4096, "slicesDone": 12, "started": "2027-01-15T08:00:00Z"
				      }
				    },
				    "http://c:7000": {
				      "there": false,
				      "hints": { "waiting": 5, "bytes": 50, "oldest": "2027-01-15T08:00:00Z" },
				      "repair": { "active": false, "slicesToDo": 0, "slicesDone": 0, "trouble": "http://c:7000: away" }
				    }
				  }
				}
				""");
	}

	@Test
	void aNodeAlone() {
		assertJson(new ConvergenceEndpoint(Convergence.alone()).repair(), """
				{
				  "converged": true,
				  "membership": { "state": "alone", "partsToDo": 0, "partsDone": 0 },
				  "slicesInNeed": 0,
				  "misplacedPartitions": 0,
				  "peers": {}
				}
				""");
	}

	@Test
	void repairsAreRequestedByAWriteAndByNothingElse() {
		this.endpoint.state();
		assertThat(this.node.requests).isZero();

		assertThat(this.endpoint.repair()).isEqualTo(this.endpoint.state());
		assertThat(this.node.requests).isEqualTo(1);
	}

}
