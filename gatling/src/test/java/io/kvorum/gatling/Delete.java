package io.kvorum.gatling;

import static io.gatling.javaapi.core.CoreDsl.exitHereIfFailed;
import static io.gatling.javaapi.core.CoreDsl.scenario;

/** Puts a key of its own, deletes it, and finds it gone. */
public class Delete extends KvorumSimulation {

	public Delete() {
		super(Delete::workload);
	}

	static Workload workload(Settings settings) {
		settings.requireReadsToSeeWrites("Delete");
		Entities entities = new Entities(settings);
		return Workload.of(scenario("Delete").feed(KeySet.fresh("delete"))
			.exec(entities.put("delete: put"))
			.exec(exitHereIfFailed())
			.exec(entities.delete("delete: delete"))
			.exec(exitHereIfFailed())
			.exec(entities.getAbsent("delete: get, absent")));
	}

}
