package io.kvorum.gatling;

import static io.gatling.javaapi.core.CoreDsl.scenario;

/** Reads keys that are there, each as often as the others. */
public class Get extends KvorumSimulation {

	public Get() {
		super(Get::workload);
	}

	static Workload workload(Settings settings) {
		return Workload.of(scenario("Get").feed(KeySet.READ.uniform(settings)).exec(new Entities(settings).get("get")),
				KeySet.READ);
	}

}
