package io.kvorum.observability;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * How far this node has converged, for programs, and a repair of everything on demand.
 * Not exposed unless the configuration says so.
 */
@Endpoint(id = "convergence")
final class ConvergenceEndpoint {

	private final ConvergenceSource source;

	ConvergenceEndpoint(ConvergenceSource source) {
		this.source = source;
	}

	@ReadOperation
	ConvergenceState state() {
		return ConvergenceState.of(this.source);
	}

	/** Does not wait for the repairs: tells where they begin. */
	@WriteOperation
	ConvergenceState repair() {
		this.source.requestRepairs();
		return state();
	}

}
