package io.kvorum.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the operations of a client share. */
final class Connections {

	/** Under which an observation is handed down in the context of Reactor. */
	private static final String OBSERVATION = "micrometer.observation";

	private static final KeyValue SYSTEM = KeyValue.of("db.system.name", "kvorum");

	private final Calls calls;

	private final Transport transport;

	private final ObservationRegistry observations;

	private final int maxValueSize;

	private final Duration rangeSilence;

	Connections(Calls calls, Transport transport, ObservationRegistry observations, int maxValueSize,
			Duration rangeSilence) {
		this.calls = calls;
		this.transport = transport;
		this.observations = observations;
		this.maxValueSize = maxValueSize;
		this.rangeSilence = rangeSilence;
	}

	Calls calls() {
		return this.calls;
	}

	Transport transport() {
		return this.transport;
	}

	/** The longest time in which nothing comes of a range. */
	Duration rangeSilence() {
		return this.rangeSilence;
	}

	int maxValueSize() {
		return this.maxValueSize;
	}

	/** The same, observed as an operation. */
	<R> Mono<R> observed(String operation, Mono<R> work) {
		return this.observations.isNoop() ? work : Mono.deferContextual(context -> {
			Observation observation = begin(operation, context.getOrDefault(OBSERVATION, null));
			AtomicBoolean isStopped = new AtomicBoolean();
			return work.doOnError(observation::error)
				.doOnTerminate(() -> end(observation, isStopped, false))
				.doOnCancel(() -> end(observation, isStopped, true))
				.contextWrite(inner -> inner.put(OBSERVATION, observation));
		});
	}

	/** The same, observed as an operation until it ends. */
	<R> Flux<R> observedStream(String operation, Flux<R> work) {
		return this.observations.isNoop() ? work : Flux.deferContextual(context -> {
			Observation observation = begin(operation, context.getOrDefault(OBSERVATION, null));
			AtomicBoolean isStopped = new AtomicBoolean();
			return work.doOnError(observation::error)
				.doOnTerminate(() -> end(observation, isStopped, false))
				.doOnCancel(() -> end(observation, isStopped, true))
				.contextWrite(inner -> inner.put(OBSERVATION, observation));
		});
	}

	private Observation begin(String operation, @Nullable Observation parent) {
		Observation observation = Observation.createNotStarted("kvorum.client", this.observations)
			.contextualName("kvorum " + operation)
			.lowCardinalityKeyValues(KeyValues.of(SYSTEM, KeyValue.of("db.operation.name", operation)));
		return ((parent != null) ? observation.parentObservation(parent) : observation).start();
	}

	/** Before the subscriber is told, so that it finds the observation stopped. */
	private static void end(Observation observation, AtomicBoolean isStopped, boolean isCancelled) {
		if (isStopped.compareAndSet(false, true)) {
			String outcome = isCancelled ? "cancelled" : outcome(observation.getContext().getError());
			observation.lowCardinalityKeyValue("outcome", outcome).stop();
		}
	}

	private static String outcome(@Nullable Throwable error) {
		if (error == null) {
			return "success";
		}
		return (error instanceof KvorumException failure && failure.outcome() == Outcome.UNKNOWN) ? "unknown"
				: "failed";
	}

}
