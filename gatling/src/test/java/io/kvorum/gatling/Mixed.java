package io.kvorum.gatling;

import static io.gatling.javaapi.core.CoreDsl.percent;
import static io.gatling.javaapi.core.CoreDsl.randomSwitch;
import static io.gatling.javaapi.core.CoreDsl.scenario;

/** Half of the users read, half of them overwrite the same keys. */
public class Mixed extends KvorumSimulation {

	public Mixed() {
		super(Mixed::workload);
	}

	static Workload workload(Settings settings) {
		Entities entities = new Entities(settings);
		return Workload.of(scenario("Mixed").feed(KeySet.WRITTEN.uniform(settings))
			.exec(randomSwitch().on(percent(50).then(entities.get("mixed: get")),
					percent(50).then(entities.put("mixed: put")))),
				KeySet.WRITTEN);
	}

}
