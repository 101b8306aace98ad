package io.kvorum.testing.history;

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
 */
public record Operation(String client, Kind kind, int value, Outcome outcome, long invokedAt, long endedAt,
		long mayExpireAt, long expiredAt) {

	public static final int ABSENT = 0;

	public static final long NEVER = Long.MAX_VALUE;

	/** One that does not expire. */
	public Operation(String client, Kind kind, int value, Outcome outcome, long invokedAt, long endedAt) {
		this(client, kind, value, outcome, invokedAt, endedAt, NEVER, NEVER);
	}

	public Operation {
		if (kind == Kind.PUT && value == ABSENT) {
			throw new IllegalArgumentException("a put writes a value");
		}
		if (endedAt < invokedAt) {
			throw new IllegalArgumentException("an operation ends after it began");
		}
	}

	/** The same, with what else a client was told of how it ended. */
	public Operation ending(Outcome other) {
		return new Operation(this.client, this.kind, this.value, other, this.invokedAt, this.endedAt, this.mayExpireAt,
				this.expiredAt);
	}

	/** The same of a put whose value may be gone, and is gone, from some instants on. */
	public Operation expiring(long mayExpireAt, long expiredAt) {
		return new Operation(this.client, this.kind, this.value, this.outcome, this.invokedAt, this.endedAt,
				mayExpireAt, expiredAt);
	}

	/** Whether a get that found nothing may have found this put expired. */
	boolean mayHaveExpiredFor(Operation get) {
		return get.kind == Kind.GET && get.value == ABSENT && this.mayExpireAt <= get.endedAt;
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
