package io.kvorum.wire;

import java.util.function.Consumer;
import java.util.function.Supplier;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import reactor.core.publisher.MonoSink;

/**
 * The reading of a body.
 *
 * @param part gets each part of the body, lent for the call
 * @param whole makes the result after the last part
 * @param sink gets the result, or the failure
 */
record BodyReading<T>(Consumer<ByteBuf> part, Supplier<T> whole, MonoSink<T> sink) {

	/** Adds a part; returns whether more are wanted. */
	boolean add(HttpContent content) {
		T result;
		try {
			this.part.accept(content.content());
			if (!(content instanceof LastHttpContent)) {
				return true;
			}
			result = this.whole.get();
		}
		catch (RuntimeException ex) {
			this.sink.error(ex);
			return false;
		}
		this.sink.success(result);
		return false;
	}

	void fail(RequestBodyException failure) {
		this.sink.error(failure);
	}

}
