package io.kvorum.testing.history;

import org.jspecify.annotations.Nullable;

/**
 * One operation of a client on a key, as the client saw it.
 *
 * @param value of a put the value, which no other put of the key writes; of a get what it
 * found; {@link #ABSENT} is no value
 * @param invokedAt in nanoseconds since the history began
 * @param endedAt when the client had its answer or gave up
 * @param mayExpireAt from when on a get may find that a put has expired; between then and
 * {@code expiredAt} one get may find its value and the next nothing, and the other way
 * @param expiredAt from when on no get finds its value
 * @param condition what must hold of the key for a write to happen; null for nothing
 * @param current what a write whose condition was not met was told that the key held
 */
public record Operation(String client, Kind kind, int value, Outcome outcome, long invokedAt, long endedAt,
		long mayExpireAt, long expiredAt, @Nullable Condition condition, int current) {

	public static final int ABSENT = 0;

	public static final long NEVER = Long.MAX_VALUE;

	/** One that does not expire and has no condition. */
	public Operation(String client, Kind kind, int value, Outcome outcome, long invokedAt, long endedAt) {
		this(client, kind, value, outcome, invokedAt, endedAt, NEVER, NEVER, null, ABSENT);
	}

	public Operation {
		if (kind == Kind.PUT && value == ABSENT) {
			throw new IllegalArgumentException("a put writes a value");
		}
		if (endedAt < invokedAt) {
			throw new IllegalArgumentException("an operation ends after it began");
		}
		if (condition != null && kind == Kind.GET) {
			throw new IllegalArgumentException("a get has no condition");
		}
		if (condition == null && outcome == Outcome.NOT_MET) {
			throw new IllegalArgumentException("what has no condition does not fail by it");
		}
	}

	/** The same, with what else a client was told of how it ended. */
	public Operation ending(Outcome other) {
		return new Operation(this.client, this.kind, this.value, other, this.invokedAt, this.endedAt, this.mayExpireAt,
				this.expiredAt, this.condition, this.current);
	}

	/** The same at another time. */
	Operation at(long invokedAt, long endedAt) {
		return new Operation(this.client, this.kind, this.value, this.outcome, invokedAt, endedAt, this.mayExpireAt,
				this.expiredAt, this.condition, this.current);
	}

	/** The same write with a condition, or with none. */
	public Operation provided(@Nullable Condition condition) {
		return new Operation(this.client, this.kind, this.value, this.outcome, this.invokedAt, this.endedAt,
				this.mayExpireAt, this.expiredAt, condition, this.current);
	}

	/** The same write, whose condition was not met, as the key held this. */
	public Operation unmet(int current) {
		return new Operation(this.client, this.kind, this.value, Outcome.NOT_MET, this.invokedAt, this.endedAt,
				this.mayExpireAt, this.expiredAt, this.condition, current);
	}

	/** The same of a put whose value may be gone, and is gone, from some instants on. */
	public Operation expiring(long mayExpireAt, long expiredAt) {
		return new Operation(this.client, this.kind, this.value, this.outcome, this.invokedAt, this.endedAt,
				mayExpireAt, expiredAt, this.condition, this.current);
	}

	/** Whether the client was told what came of it. */
	boolean isAnswered() {
		return this.outcome == Outcome.DONE || this.outcome == Outcome.NOT_MET;
	}

	/**
	 * The value that the key held by the answer, and still had; null if that is not told.
	 */
	@Nullable Integer found() {
		return switch (this.outcome) {
			case DONE -> (this.kind == Kind.GET) ? Integer.valueOf(this.value)
					: (this.condition != null) ? this.condition.value : null;
			case NOT_MET -> this.current;
			case UNKNOWN, NOT_APPLIED -> null;
		};
	}

	boolean isWrite() {
		return this.kind != Kind.GET;
	}

	@Override
	public String toString() {
		return "%12.3f .. %12.3f ms  %-8s %s".formatted(this.invokedAt / 1e6, this.endedAt / 1e6, this.client, text());
	}

	private String text() {
		String call = switch (this.kind) {
			case PUT -> "put " + this.value + ((this.expiredAt == NEVER) ? ""
					: " until %.0f .. %.0f ms".formatted(this.mayExpireAt / 1e6, this.expiredAt / 1e6));
			case DELETE -> "delete";
			case GET -> "get";
		} + ((this.condition != null) ? " if " + this.condition : "");
		return call + switch (this.outcome) {
			case DONE -> (this.kind == Kind.GET) ? " -> " + text(this.value) : " -> ok";
			case NOT_MET -> " -> not met by " + text(this.current);
			case UNKNOWN -> " -> unknown";
			case NOT_APPLIED -> " -> not applied";
		};
	}

	private static String text(int value) {
		return (value == ABSENT) ? "absent" : String.valueOf(value);
	}

	/** What a client asked for. */
	public enum Kind {

		PUT, DELETE, GET

	}

	/** What a client was told. */
	public enum Outcome {

		/** It happened, between invocation and end. */
		DONE,

		/** The condition of a write did not hold, between invocation and end. */
		NOT_MET,

		/** A write may have happened, may happen later, or never. */
		UNKNOWN,

		/** A write did not happen, and never will. */
		NOT_APPLIED

	}

	/**
	 * What must hold of a key for a write of it.
	 *
	 * @param value the value that it must hold; null for {@link #PRESENT} and
	 * {@link #ABSENT}
	 */
	public record Condition(@Nullable Integer value, String text) {

		/** It holds no value. */
		public static final Condition ABSENT = new Condition(null, "absent");

		/** It holds a value, whichever that is. */
		public static final Condition PRESENT = new Condition(null, "present");

		/** It holds this value. */
		public static Condition holds(int value) {
			return new Condition(value, String.valueOf(value));
		}

		/** Whether it holds of a key with this value, or none. */
		boolean isMetBy(int held) {
			return (this.value != null) ? this.value == held : equals(PRESENT) == (held != Operation.ABSENT);
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
