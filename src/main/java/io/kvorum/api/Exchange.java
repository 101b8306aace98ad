package io.kvorum.api;

import java.net.InetAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.replication.OperationEvents;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A request and its answer, whichever way it came: through WebFlux, or straight from the
 * connection. Used by the thread of the connection.
 */
interface Exchange extends RequestHead {

	/** What comes after the question mark, as it was sent. */
	@Nullable String rawQuery();

	/** All headers of the request by this name, in their order. */
	List<String> headers(CharSequence name);

	/** The address of who asks; null where it is not known. */
	@Nullable InetAddress remote();

	/**
	 * Reads the body of the request.
	 * @param part given each part of it, lent for the call
	 * @param whole makes the result when the last part has come
	 */
	<T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole);

	/** Sets the status of the answer, which is 200 before. */
	void status(int status);

	/** The status of the answer. */
	int status();

	/** Sets a header of the answer. */
	void set(CharSequence name, CharSequence value);

	/** Whether the head of the answer is on its way, and no other can be given. */
	boolean isCommitted();

	/**
	 * Sends the answer with these bytes, which are not copied and must not change.
	 * Completes when the connection has them.
	 */
	Mono<Void> send(byte[] array, int offset, int length);

	/** Sends the answer without a body. */
	Mono<Void> end();

	/** Who wants to know what the request has done by replicas. */
	default OperationEvents follower() {
		return OperationEvents.NONE;
	}

	/** The head of the answer is about to leave; {@link #send} and {@link #end} know. */
	default void finishHead() {
	}

	/**
	 * It is over.
	 * @param status the HTTP status; 0 where the client went away before
	 */
	default void answered(int status) {
	}

}
