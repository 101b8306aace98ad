package io.kvorum.simulation;

import java.util.HashMap;
import java.util.Map;

import io.kvorum.kv.Key;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/** A client that writes on conditions, among them that a key is as it was last told. */
final class MixedHabits implements Habits {

	private final Mix mix;

	/** What the client was told last. */
	private final Map<Key, Known> known = new HashMap<>();

	MixedHabits(Mix mix) {
		this.mix = mix;
	}

	@Override
	public Intent next(Key key, Chance chance) {
		int dice = chance.below(this.mix.total());
		if ((dice -= this.mix.gets()) < 0) {
			return Intent.to(Kind.GET);
		}
		if ((dice -= this.mix.puts()) < 0) {
			return Intent.to(Kind.PUT);
		}
		if ((dice -= this.mix.deletes()) < 0) {
			return Intent.to(Kind.DELETE);
		}
		if ((dice -= this.mix.exchanges()) < 0) {
			return asKnown(Kind.PUT, key, chance);
		}
		if ((dice -= this.mix.creations()) < 0) {
			return Intent.to(Kind.PUT, Condition.ABSENT);
		}
		if ((dice - this.mix.removals()) < 0) {
			return asKnown(Kind.DELETE, key, chance);
		}
		return Intent.to(chance.of(0.3) ? Kind.DELETE : Kind.PUT, Condition.PRESENT);
	}

	private Intent asKnown(Kind kind, Key key, Chance chance) {
		return (this.known.containsKey(key) || !chance.of(0.5)) ? replacing(kind, key) : Intent.to(Kind.GET);
	}

	/** Of what the client was told last, a value or none. */
	private Intent replacing(Kind kind, Key key) {
		Known value = this.known.get(key);
		return (value == null) ? Intent.to(Kind.PUT, Condition.ABSENT)
				: new Intent(kind, Condition.holds(value.number), value.etag);
	}

	/** A put that happens unless the key has changed since the client was told of it. */
	Intent exchange(Key key) {
		return replacing(Kind.PUT, key);
	}

	@Override
	public boolean writesOnConditions() {
		return !this.mix.equals(Mix.PLAIN);
	}

	@Override
	public void told(Key key, Operation operation, @Nullable Version etag, @Nullable Ttl ttl) {
		int number = (operation.outcome() == Outcome.NOT_MET) ? operation.current() : operation.value();
		if (operation.outcome() == Outcome.NOT_APPLIED || operation.outcome() == Outcome.UNKNOWN) {
			// It may know what it knew, which most often is so no more.
			return;
		}
		if (number == Operation.ABSENT || etag == null) {
			this.known.remove(key);
		}
		else {
			this.known.put(key, new Known(number, etag));
		}
	}

	private record Known(int number, Version etag) {
	}

}
