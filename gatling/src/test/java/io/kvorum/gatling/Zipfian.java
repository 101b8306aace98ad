package io.kvorum.gatling;

import static io.gatling.javaapi.core.CoreDsl.percent;
import static io.gatling.javaapi.core.CoreDsl.randomSwitch;
import static io.gatling.javaapi.core.CoreDsl.scenario;

/** A few keys take most of the requests ({@link Zipf}), and one in twenty overwrites. */
public class Zipfian extends KvorumSimulation {

	public Zipfian() {
		super(Zipfian::workload);
	}

	static Workload workload(Settings settings) {
		Entities entities = new Entities(settings);
		return Workload.of(scenario("Zipfian").feed(KeySet.WRITTEN.zipfian(settings))
			.exec(randomSwitch().on(percent(95).then(entities.get("zipfian: get")),
					percent(5).then(entities.put("zipfian: put")))),
				KeySet.WRITTEN);
	}

}
