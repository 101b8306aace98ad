package io.kvorum.replication;

import io.kvorum.kv.Version;
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

	/**
	 * The version below which the replica acknowledges no write: it may have lost the
	 * promise to refuse it. {@link Version#ABSENT} if it has lost none.
	 */
	default Version floor() {
		return Version.ABSENT;
	}

}
