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
		return this.observations.isNoop() ? work : Mono.deferContextual(outer -> {
			Observed observed = begin(operation, outer.getOrDefault(OBSERVATION, null));
			return work.doOnError(observed::failed)
				.doOnTerminate(observed::ended)
				.doOnCancel(observed::cancelled)
				.contextWrite(inner -> inner.put(OBSERVATION, observed.observation));
		});
	}

	/** The same, observed as an operation until it ends. */
	<R> Flux<R> observedStream(String operation, Flux<R> work) {
		return this.observations.isNoop() ? work : Flux.deferContextual(outer -> {
			Observed observed = begin(operation, outer.getOrDefault(OBSERVATION, null));
			return work.doOnError(observed::failed)
				.doOnTerminate(observed::ended)
				.doOnCancel(observed::cancelled)
				.contextWrite(inner -> inner.put(OBSERVATION, observed.observation));
		});
	}

	private Observed begin(String operation, @Nullable Observation parent) {
		Observation observation = Observation.createNotStarted("kvorum.client", this.observations)
			.contextualName("kvorum " + operation)
			.lowCardinalityKeyValues(KeyValues.of(SYSTEM, KeyValue.of("db.operation.name", operation)));
		return new Observed(((parent != null) ? observation.parentObservation(parent) : observation).start());
	}

	/**
	 * An operation. It ends before its subscriber is told, who so finds the observation
	 * stopped. It may be cancelled after its end.
	 */
	private static final class Observed {

		private final Observation observation;

		private final AtomicBoolean isStopped = new AtomicBoolean();

		private String outcome = "success";

		private Observed(Observation observation) {
			this.observation = observation;
		}

		private void failed(Throwable error) {
			this.observation.error(error);
			this.outcome = (error instanceof KvorumException failure && failure.outcome() == Outcome.UNKNOWN)
					? "unknown" : "failed";
		}

		private void ended() {
			stop(this.outcome);
		}

		private void cancelled() {
			stop("cancelled");
		}

		private void stop(String how) {
			if (this.isStopped.compareAndSet(false, true)) {
				this.observation.lowCardinalityKeyValue("outcome", how).stop();
			}
		}

	}

}
