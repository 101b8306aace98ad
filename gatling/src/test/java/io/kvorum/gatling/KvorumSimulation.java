package io.kvorum.gatling;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;

import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.rampUsersPerSec;
import static io.gatling.javaapi.http.HttpDsl.http;

/**
 * Loads the keys, then runs workloads at the same time. It fails where requests failed,
 * however long they took.
 */
public abstract class KvorumSimulation extends Simulation {

	private final Settings settings;

	private final List<Workload> workloads;

	KvorumSimulation(Function<Settings, Workload> workload) {
		this(Settings.read(), List.of(workload));
	}

	KvorumSimulation(Settings settings, List<Function<Settings, Workload>> workloads) {
		this.settings = settings;
		this.workloads = workloads.stream().map(workload -> workload.apply(settings)).toList();
		setUp(this.workloads.stream().map(this::arrivals).toList()).protocols(protocol())
			.assertions(global().failedRequests().percent().lte(settings.maxFailed()),
					global().successfulRequests().count().gt(0L));
	}

	@Override
	public void before() {
		Loader loader = new Loader(this.settings);
		this.workloads.stream().flatMap(workload -> workload.loaded().stream()).distinct().forEach(loader::load);
	}

	@Override
	public void after() {
		if (this.settings.maxFailed() > 0) {
			Answers.requireNoneWrong();
		}
	}

	private PopulationBuilder arrivals(Workload workload) {
		double rate = this.settings.rate() * workload.share();
		List<OpenInjectionStep> steps = new ArrayList<>();
		if (this.settings.ramp().isPositive()) {
			steps.add(rampUsersPerSec(0).to(rate).during(this.settings.ramp()));
		}
		steps.add(constantUsersPerSec(rate).during(this.settings.duration()));
		return workload.scenario().injectOpen(steps);
	}

	/**
	 * Lets users share connections, as many as there are requests under way: an arriving
	 * user opens none.
	 */
	private HttpProtocolBuilder protocol() {
		return http.baseUrls(this.settings.nodes())
			.shareConnections()
			// Entities have ETags, by which a caching user would not ask twice.
			.disableCaching()
			.disableFollowRedirect()
			.disableAutoReferer()
			.disableWarmUp()
			.contentTypeHeader("application/octet-stream")
			.userAgentHeader("kvorum-gatling");
	}

}
