package io.kvorum.gatling;

import static io.gatling.javaapi.core.CoreDsl.scenario;

/** Inserts and overwrites. */
public class Put extends KvorumSimulation {

	public Put() {
		super(Put::workload);
	}

	static Workload workload(Settings settings) {
		return Workload
			.of(scenario("Put").feed(KeySet.WRITTEN.uniform(settings)).exec(new Entities(settings).put("put")));
	}

}
