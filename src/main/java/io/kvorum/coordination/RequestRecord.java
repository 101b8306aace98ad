package io.kvorum.coordination;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.RequestDigest;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster remembers of a write with an idempotency key. It is the value of an
 * internal key; numbers are big-endian.
 *
 * <pre>
 *  0        1       2        18        34
 *  format   state   digest   version   ballots
 * </pre>
 *
 * @param digest of the request
 * @param version the identity of the write. If its condition did not hold, the identity
 * of the value that was there instead; {@link Version#ABSENT} if there was none
 * @param ballots the versions under which the write may have been sent to replicas, up to
 * {@value #MAX_BALLOTS}; none once it is over
 */
record RequestRecord(RequestDigest digest, State state, Version version, List<Version> ballots) {

	/** The most ballots that a record holds; a write that needs more fails. */
	static final int MAX_BALLOTS = 256;

	static final String CONTENT_TYPE = "application/octet-stream";

	private static final byte FORMAT = 1;

	private static final int VERSION_BYTES = 2 * Long.BYTES;

	private static final int BALLOTS = 2 + 2 * VERSION_BYTES;

	RequestRecord {
		ballots = List.copyOf(ballots);
	}

	/** The key of the record of a request. */
	static Key keyOf(IdempotencyKey idempotencyKey) {
		return InternalKeys.ofRequest(idempotencyKey.caller() + '\0' + idempotencyKey.name());
	}

	/** What it is for a repeat of the request. */
	Repeat repeat() {
		return (this.state == State.UNDER_WAY) ? Repeat.RESUMED : Repeat.ANSWERED;
	}

	/** The identity of the value for which a condition did not hold; null if none. */
	@Nullable Version current() {
		return this.version.equals(Version.ABSENT) ? null : this.version;
	}

	Value toValue() {
		ByteBuffer bytes = ByteBuffer.allocate(BALLOTS + this.ballots.size() * VERSION_BYTES);
		bytes.put(FORMAT).put(this.state.code);
		bytes.putLong(this.digest.high()).putLong(this.digest.low());
		put(bytes, this.version);
		this.ballots.forEach(ballot -> put(bytes, ballot));
		return Value.of(bytes.array());
	}

	private static void put(ByteBuffer bytes, Version version) {
		bytes.putLong(version.timestamp()).putLong(version.node());
	}

	/**
	 * Reads a record.
	 * @throws IllegalArgumentException if it has another format
	 */
	static RequestRecord of(Value value) {
		ByteBuffer bytes = ByteBuffer.wrap(value.array(), value.offset(), value.length());
		if (value.length() < BALLOTS || (value.length() - BALLOTS) % VERSION_BYTES != 0) {
			throw new IllegalArgumentException("the record of a request has no length of " + value.length());
		}
		byte format = bytes.get();
		byte code = bytes.get();
		State state = State.of(code);
		if (format != FORMAT || state == null) {
			throw new IllegalArgumentException(
					"the record of a request has format %d and state %d, this release knows format %d".formatted(format,
							code, FORMAT));
		}
		RequestDigest digest = new RequestDigest(bytes.getLong(), bytes.getLong());
		Version version = version(bytes);
		List<Version> ballots = new ArrayList<>();
		while (bytes.hasRemaining()) {
			ballots.add(version(bytes));
		}
		return new RequestRecord(digest, state, version, ballots);
	}

	private static Version version(ByteBuffer bytes) {
		return new Version(bytes.getLong(), bytes.getLong());
	}

	/** How far the write has come. */
	enum State {

		/** It may have happened, or may happen yet. */
		UNDER_WAY(0),

		/** It has happened. */
		APPLIED(1),

		/** Its condition did not hold, and it has not happened. */
		NOT_MET(2);

		private final byte code;

		State(int code) {
			this.code = (byte) code;
		}

		private static @Nullable State of(byte code) {
			for (State state : values()) {
				if (state.code == code) {
					return state;
				}
			}
			return null;
		}

	}

}
