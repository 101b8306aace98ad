package io.kvorum.observability;

import java.util.function.BooleanSupplier;

/** Whether a node has converged with its peers, as its health and the meter tell it. */
public final class Converged {

	private final BooleanSupplier state;

	Converged(ConvergenceSource source) {
		this.state = () -> ConvergenceState.of(source).converged();
	}

	public boolean get() {
		return this.state.getAsBoolean();
	}

}
