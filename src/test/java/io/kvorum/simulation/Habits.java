package io.kvorum.simulation;

import java.util.Set;

import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
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

	/** What the next operation on a key is; null for what is usual. */
	default @Nullable Intent next(Key key, Chance chance) {
		return null;
	}

	/** How long a value of a key lives; null for ever. */
	default @Nullable Ttl ttl(Key key, Chance chance) {
		return null;
	}

	/** Whether one write may be in the way of another, so that its end may be unknown. */
	default boolean writesOnConditions() {
		return false;
	}

	/** The ETag is known where a write was acknowledged, or a value was told of. */
	default void told(Key key, Operation operation, @Nullable Version etag, @Nullable Ttl ttl) {
	}

	/**
	 * What a client asks for.
	 *
	 * @param condition null for none
	 * @param etag of the value that the condition names; null if it names none
	 */
	record Intent(Kind kind, @Nullable Condition condition, @Nullable Version etag) {

		static Intent to(Kind kind) {
			return new Intent(kind, null, null);
		}

		static Intent to(Kind kind, Condition condition) {
			return new Intent(kind, condition, null);
		}

		/** The condition as the product has it. */
		io.kvorum.operation.Condition toCondition() {
			if (this.condition == null) {
				return io.kvorum.operation.Condition.NONE;
			}
			if (this.etag != null) {
				return new io.kvorum.operation.Condition(new Tags(false, Set.of(this.etag)), null);
			}
			return this.condition.equals(Condition.ABSENT) ? new io.kvorum.operation.Condition(null, Tags.ANY)
					: new io.kvorum.operation.Condition(Tags.ANY, null);
		}

		@Override
		public String toString() {
			return (this.condition != null) ? this.kind + " if " + this.condition : this.kind.toString();
		}

	}

}
