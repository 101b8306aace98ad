package io.kvorum.api;

import java.util.Arrays;

import io.kvorum.kv.Value;
import io.kvorum.wire.HttpExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import reactor.core.publisher.Mono;

/**
 * Reads the body of a request into memory, up to a limit, and reserves that memory while
 * it is used.
 */
final class BodyReader {

	/**
	 * The first piece of memory for a body. It grows as bytes arrive, so a client that
	 * announces much and sends nothing holds only this.
	 */
	private static final int FIRST_BYTES = 16 << 10;

	/** The length of a body that comes in chunks. */
	static final int UNDECLARED = -1;

	private static final byte[] NONE = {};

	private final ApiSettings settings;

	private final InFlightBytes inFlight;

	BodyReader(ApiSettings settings, InFlightBytes inFlight) {
		this.settings = settings;
		this.inFlight = inFlight;
	}

	/**
	 * The length that a request declares for its body, to which the network layer holds
	 * it; {@link #UNDECLARED} if there is none.
	 * @throws ProblemException if that is too long: nothing was read
	 */
	int declaredBytes(HttpExchange request) {
		String length = request.header(HttpHeaderNames.CONTENT_LENGTH);
		if (length == null) {
			return UNDECLARED;
		}
		// Digits only: the network layer refuses others.
		long declared = Long.parseLong(length);
		if (declared > this.settings.maxValueBytes()) {
			throw tooLarge();
		}
		return (int) declared;
	}

	/**
	 * Begins to read a body.
	 * @param declared its {@link #declaredBytes}
	 * @return the reading; the caller must call {@link Body#release()} at its end
	 * @throws ProblemException if there is no memory for it: nothing was read
	 */
	Body begin(HttpExchange request, int declared) {
		if (declared == UNDECLARED) {
			return new Body(request, this.settings.maxValueBytes(), 0);
		}
		if (!this.inFlight.hasRoomFor(declared)) {
			throw this.inFlight.exhausted();
		}
		return new Body(request, declared, Math.min(declared, FIRST_BYTES));
	}

	private ProblemException tooLarge() {
		return new ProblemException(Problem.valueTooLarge(this.settings.maxValueBytes()));
	}

	/** The memory of one body, filled from the buffers of one request. */
	final class Body {

		private final HttpExchange request;

		/** The length that was declared, or the longest one. */
		private final int longest;

		private byte[] bytes;

		private int length;

		private int reserved;

		private Body(HttpExchange request, int longest, int first) {
			this.request = request;
			this.longest = longest;
			this.bytes = new byte[first];
			reserve(first);
		}

		/**
		 * Reads the whole body. Fails if the body is too long, if there is no memory for
		 * it, or if it does not arrive whole.
		 */
		Mono<Value> value() {
			return this.request.readBody(this::add, this::toValue);
		}

		private void add(ByteBuf buffer) {
			int count = buffer.readableBytes();
			grow(this.length + count);
			buffer.readBytes(this.bytes, this.length, count);
			this.length += count;
		}

		private void grow(int needed) {
			if (needed <= this.bytes.length) {
				return;
			}
			if (needed > BodyReader.this.settings.maxValueBytes()) {
				throw tooLarge();
			}
			int capacity = Math.max(needed, Math.min(Math.max(2 * this.bytes.length, FIRST_BYTES), this.longest));
			reserve(capacity - this.reserved);
			this.bytes = Arrays.copyOf(this.bytes, capacity);
		}

		private void reserve(int more) {
			InFlightBytes inFlight = BodyReader.this.inFlight;
			if (!inFlight.tryReserve(more, this.reserved + more > InFlightBytes.LARGE_VALUE_BYTES)) {
				throw inFlight.exhausted();
			}
			this.reserved += more;
		}

		/** Hands the bytes over, and keeps none. */
		private Value toValue() {
			byte[] whole = (this.length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, this.length);
			this.bytes = NONE;
			return Value.of(whole);
		}

		/** Gives the memory back. */
		void release() {
			BodyReader.this.inFlight.release(this.reserved);
			this.reserved = 0;
		}

	}

}
