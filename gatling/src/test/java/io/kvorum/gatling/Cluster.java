package io.kvorum.gatling;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.exitHereIfFailed;
import static io.gatling.javaapi.core.CoreDsl.feed;
import static io.gatling.javaapi.core.CoreDsl.scenario;

/**
 * Reads at another node than it wrote to: after each acknowledged insert, overwrite and
 * delete the next node must answer with exactly that. With one node they are all the
 * same.
 */
public class Cluster extends KvorumSimulation {

	public Cluster() {
		super(Cluster::workload);
	}

	static Workload workload(Settings settings) {
		settings.requireReadsToSeeWrites("Cluster");
		Entities entities = new Entities(settings);
		Entities first = entities.at("first");
		Entities second = entities.at("second");
		Entities third = entities.at("third");
		return Workload.of(scenario("Cluster").exec(feed(turns(settings.nodes())), feed(KeySet.fresh("cluster")))
			.exec(first.put("cluster: put"))
			.exec(exitHereIfFailed())
			.exec(second.getWritten("cluster: get elsewhere"))
			.exec(exec(session -> session.set("generation", session.getLong("generation") + 1)))
			.exec(second.put("cluster: overwrite elsewhere"))
			.exec(exitHereIfFailed())
			.exec(third.getWritten("cluster: get the newer elsewhere"))
			.exec(third.delete("cluster: delete elsewhere"))
			.exec(exitHereIfFailed())
			.exec(first.getAbsent("cluster: get, absent")));
	}

	private static Iterator<Map<String, Object>> turns(List<String> nodes) {
		AtomicInteger turn = new AtomicInteger();
		int n = nodes.size();
		return Stream.generate(() -> turn.getAndUpdate(last -> (last + 1) % n))
			.map(at -> Map.<String, Object>of("first", nodes.get(at), "second", nodes.get((at + 1) % n), "third",
					nodes.get((at + 2) % n)))
			.iterator();
	}

}
