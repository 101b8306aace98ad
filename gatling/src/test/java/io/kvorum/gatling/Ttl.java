package io.kvorum.gatling;

import java.time.Duration;

import io.gatling.javaapi.core.Session;

import static io.gatling.javaapi.core.CoreDsl.exitHereIfFailed;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.status;

/** Puts a value that expires, sees it, waits, and finds it gone. */
public class Ttl extends KvorumSimulation {

	private static final Duration TTL = Duration.ofSeconds(4);

	/** Margin for clocks of nodes that differ. */
	private static final Duration MARGIN = Duration.ofSeconds(1);

	public Ttl() {
		super(Ttl::workload);
	}

	static Workload workload(Settings settings) {
		settings.requireReadsToSeeWrites("Ttl");
		Entities entities = new Entities(settings);
		return Workload.of(scenario("Ttl").feed(KeySet.fresh("ttl"))
			.exec(session -> session.set("sent", System.nanoTime()))
			.exec(entities.put("ttl: put").queryParam("ttl", TTL.toSeconds() + "s"))
			.exec(exitHereIfFailed())
			.exec(entities.getWritten("ttl: get, not expired", status().validate("200", Ttl::unlessTooSlow)))
			.exec(pause(TTL.plus(MARGIN)))
			.exec(entities.getAbsent("ttl: get, expired")));
	}

	/**
	 * Accepts that the value is absent where the PUT and the GET took so long that it may
	 * have expired.
	 */
	private static Integer unlessTooSlow(Integer status, Session session) {
		Duration elapsed = Duration.ofNanos(System.nanoTime() - session.getLong("sent"));
		boolean mayHaveExpired = elapsed.plus(MARGIN).compareTo(TTL) > 0;
		if (status == 404 && mayHaveExpired) {
			return status;
		}
		return Answers.status(200, status);
	}

}
