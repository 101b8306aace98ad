package io.kvorum.replication;

import org.jspecify.annotations.Nullable;

/**
 * Whether the replica of this node may be believed when it says what it holds, or does
 * not hold: not while it lacks what it once acknowledged.
 */
@FunctionalInterface
public interface VotingRight {

	/** Of a node that has no peers that could tell otherwise. */
	VotingRight TRUSTED = () -> null;

	/** Why it may not be believed; null where it may. */
	@Nullable String withheldBecause();

}
