package io.kvorum.convergence.quarantine;

import java.util.List;

/**
 * Whether this node may vote, and if not how far its rebuild is.
 *
 * @param state the label of its state
 * @param withheldBecause why it may not vote; empty if it may
 * @param partsToDo parts of the data to be rebuilt; 0 if there is nothing to rebuild
 * @param partsDone parts that are rebuilt
 * @param refused why peers that are there are refused
 */
public record QuarantineProgress(String state, String withheldBecause, int partsToDo, int partsDone,
		List<String> refused) {

	/** The progress of a node that refuses no peer. */
	public QuarantineProgress(String state, String withheldBecause, int partsToDo, int partsDone) {
		this(state, withheldBecause, partsToDo, partsDone, List.of());
	}

}
