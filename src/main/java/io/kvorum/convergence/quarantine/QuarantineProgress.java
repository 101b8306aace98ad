package io.kvorum.convergence.quarantine;

import java.util.List;

/**
 * Whether this node is believed, and if not how far it is.
 *
 * @param state what it is, for people
 * @param doubt why it is not believed; empty if it is
 * @param partsToDo parts of the data to be rebuilt; 0 where there is nothing to do
 * @param partsDone those of them that are
 * @param refused why other nodes that are there are not taken for what they say
 */
public record QuarantineProgress(String state, String doubt, int partsToDo, int partsDone, List<String> refused) {

	/** Of a node that refuses nobody. */
	public QuarantineProgress(String state, String doubt, int partsToDo, int partsDone) {
		this(state, doubt, partsToDo, partsDone, List.of());
	}

}
