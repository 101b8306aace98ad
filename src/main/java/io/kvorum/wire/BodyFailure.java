package io.kvorum.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;

/**
 * Travels instead of a body's next part, and fails the reader of the body. A
 * {@link WireExchange} recognises it. reactor-netty's {@code receive()} takes the bytes
 * out of it, which throws: it cancels its source and errors, also for a later subscriber.
 * <p>
 * Rejected: an exception fired along the pipeline. It reaches the reader a second time
 * when its response is sent, and is logged as a dropped error with its stack. If the body
 * has no reader yet, it is logged as uncaught and never answered.
 */
final class BodyFailure extends DefaultByteBufHolder {

	private final RequestBodyException failure;

	BodyFailure(RequestBodyException failure) {
		super(Unpooled.EMPTY_BUFFER);
		this.failure = failure;
	}

	RequestBodyException cause() {
		return this.failure;
	}

	@Override
	public ByteBuf content() {
		throw this.failure;
	}

}
