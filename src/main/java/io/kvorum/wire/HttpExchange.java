package io.kvorum.wire;

import java.net.InetAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * An HTTP request and its answer, whether it arrived through WebFlux or straight from the
 * connection. Used on the event loop of the connection.
 */
public interface HttpExchange extends RequestHead {

	/** The part after the question mark, not decoded; null if there is none. */
	@Nullable String rawQuery();

	/** All headers of the request with this name, in their order. */
	List<String> headers(CharSequence name);

	/** The address of the client; null if it is not known. */
	@Nullable InetAddress remote();

	/**
	 * Reads the body of the request, once.
	 * @param part takes each part of the body, which is valid during the call
	 * @param whole makes the result after the last part
	 * @return the result; fails with {@link RequestBodyException}, and with what
	 * {@code part} and {@code whole} throw
	 */
	<T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole);

	/** Sets the status of the answer; 200 if it is never set. */
	void status(int status);

	/** The status of the answer. */
	int status();

	/** Sets a header of the answer. */
	void set(CharSequence name, CharSequence value);

	/** Runs a task right before the head of the answer is sent; one task at most. */
	void beforeCommit(Runnable task);

	/** Whether the head of the answer is sent, so that no other can be. */
	boolean isCommitted();

	/**
	 * Sends the answer with this body, which must not change. Only a short body is
	 * copied. Nothing is sent before the subscription. Completes when the connection has
	 * taken it.
	 */
	Mono<Void> send(byte[] array, int offset, int length);

	/** Sends the answer without a body. */
	Mono<Void> end();

}
