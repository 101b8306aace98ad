package io.kvorum.gatling;

import java.util.Set;

import io.gatling.javaapi.core.ScenarioBuilder;

/**
 * What a simulation runs, alone or beside others.
 *
 * @param scenario what a user does
 * @param share of the rate that is asked for
 * @param loaded the keys that have to be there
 */
record Workload(ScenarioBuilder scenario, double share, Set<KeySet> loaded) {

	static Workload of(ScenarioBuilder scenario, KeySet... loaded) {
		return new Workload(scenario, 1, Set.of(loaded));
	}

	Workload atShare(double share) {
		return new Workload(this.scenario, share, this.loaded);
	}

}
