package io.kvorum.replication;

import org.jspecify.annotations.Nullable;

/**
 * The right of this node's replica to answer reads and scans. It is withheld while the
 * replica lacks what it once acknowledged.
 */
@FunctionalInterface
public interface VotingRight {

	/** Never withholds the right, on a node without peers. */
	VotingRight TRUSTED = () -> null;

	/** The reason for which the right is withheld; null if the replica has it. */
	@Nullable String withheldBecause();

}
