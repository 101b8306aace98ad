package io.kvorum.testing.history;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A history that no register gives.
 *
 * @param history the operations on the key, in the order of their invocations
 * @param offending the first answer that cannot be explained with those before it
 */
public record Violation(List<Operation> history, Operation offending, String why) {

	/** How the text of each begins. */
	public static final String NOT_LINEARIZABLE = "Not linearizable";

	@Override
	public String toString() {
		return this.history.stream()
			.map(operation -> (operation.equals(this.offending) ? ">>> " : "    ") + operation)
			.collect(Collectors.joining("\n", NOT_LINEARIZABLE + ": " + this.why + "\n", "\n"));
	}

}
