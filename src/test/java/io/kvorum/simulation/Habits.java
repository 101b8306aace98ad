package io.kvorum.simulation;

import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import org.jspecify.annotations.Nullable;

/** What clients ask for beside the usual, and who wants to know what they were told. */
interface Habits {

	/** Nothing, and nobody. */
	Habits USUAL = new Habits() {
	};

	/** The replicas of an operation on a key; null for those that are usual. */
	default @Nullable Replicas asked(Key key, Chance chance) {
		return null;
	}

	/** What an operation is; null for what is usual. */
	default @Nullable Kind kind(Chance chance) {
		return null;
	}

	/** How long a value of a key lives; null for ever. */
	default @Nullable Ttl ttl(Key key, Chance chance) {
		return null;
	}

	/** The version of a write is known where it was acknowledged. */
	default void told(Key key, Operation operation, @Nullable Version version, @Nullable Ttl ttl) {
	}

}
