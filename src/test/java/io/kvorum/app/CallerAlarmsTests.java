package io.kvorum.app;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class CallerAlarmsTests {

	/** It keeps state without locks, and repeats operations of the coordinator. */
	@Test
	void anAlarmOfTheThreadOfConvergenceGoesOffThere() {
		EventLoopCallers callers = new EventLoopCallers();
		CallerAlarms alarms = new CallerAlarms(callers);
		try (ConvergenceThread thread = new ConvergenceThread(callers)) {
			StepVerifier
				.create(Mono.defer(() -> alarms.after(Duration.ofMillis(1)))
					.map(_ -> Thread.currentThread().getName())
					.subscribeOn(thread.scheduler()))
				.expectNext("kvorum-convergence")
				.expectComplete()
				.verify(Duration.ofSeconds(30));
		}
	}

}
