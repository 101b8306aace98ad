package io.kvorum.observability;

import io.kvorum.convergence.Convergence;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Endpoint that shows how far this node has converged, and requests repairs of
 * everything. Not exposed by default.
 */
@Endpoint(id = "convergence")
final class ConvergenceEndpoint {

	private final Convergence convergence;

	ConvergenceEndpoint(Convergence convergence) {
		this.convergence = convergence;
	}

	@ReadOperation
	ConvergenceState state() {
		return ConvergenceState.of(this.convergence.status());
	}

	/**
	 * Requests repairs with all peers and returns the current state without waiting for
	 * them.
	 */
	@WriteOperation
	ConvergenceState repair() {
		this.convergence.requestRepairs();
		return state();
	}

}
