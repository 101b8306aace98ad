package io.kvorum.testing.history;

/**
 * One operation of a client on a key, as the client saw it.
 *
 * @param value of a put the value, which no other put of the key writes; of a get what it
 * found; {@link #ABSENT} is no value
 * @param invokedAt in nanoseconds since the history began
 * @param endedAt when the client had its answer or gave up
 */
public record Operation(String client, Kind kind, int value, Outcome outcome, long invokedAt, long endedAt) {

	public static final int ABSENT = 0;

	public Operation {
		if (kind == Kind.PUT && value == ABSENT) {
			throw new IllegalArgumentException("a put writes a value");
		}
		if (endedAt < invokedAt) {
			throw new IllegalArgumentException("an operation ends after it began");
		}
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
			case PUT -> "put " + this.value;
			case DELETE -> "delete";
			case GET -> "get";
		};
		return call + switch (this.outcome) {
			case DONE -> (this.kind == Kind.GET) ? " -> " + ((this.value == ABSENT) ? "absent" : this.value) : " -> ok";
			case UNKNOWN -> " -> unknown";
			case NOT_APPLIED -> " -> not applied";
		};
	}

	/** What a client asked for. */
	public enum Kind {

		PUT, DELETE, GET

	}

	/** What a client was told. */
	public enum Outcome {

		/** It happened, between invocation and end. */
		DONE,

		/** A write may have happened, may happen later, or never. */
		UNKNOWN,

		/** A write did not happen, and never will. */
		NOT_APPLIED

	}

}
