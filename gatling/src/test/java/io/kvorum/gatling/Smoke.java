package io.kvorum.gatling;

import java.util.List;
import java.util.Map;

/**
 * All workloads at the same time, few users and not for long: do they work, and does the
 * node, or the cluster?
 */
public class Smoke extends KvorumSimulation {

	public Smoke() {
		super(Settings.read(Map.of("rate", "5", "ramp", "2s", "duration", "5s", "keys", "1000")),
				List.of(Put::workload, Get::workload, Delete::workload, Mixed::workload, Zipfian::workload,
						Ranges::workload, Ttl::workload, Cluster::workload));
	}

}
