package io.kvorum.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;

/**
 * Travels in the place of a body's next part. A {@link WireExchange} knows it; anybody
 * else fails who takes the bytes out of it: reactor-netty's {@code receive()}, which then
 * cancels its source and errors, once and also when it is subscribed to later.
 * <p>
 * An exception fired along the pipeline reaches the reader too, but a second time when
 * its response has been sent, which is logged as a dropped error with its stack; and
 * where the body has no reader yet, it is logged as uncaught and never answered.
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
