package io.kvorum.client;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;
import reactor.util.context.ContextView;

/**
 * Whether a request has been sent, or will never be: what no list of exceptions can tell
 * for sure. Handed down in the context of Reactor, to where reactor-netty is about to
 * send.
 */
final class Sending {

	private enum State {

		NEW, BEGUN, ABANDONED

	}

	private final AtomicReference<State> state = new AtomicReference<>(State.NEW);

	/** Whether all connections to the node were in use when the request began. */
	private final boolean isCrowded;

	private final LongSupplier nanoTime;

	/** Since when the node, and not this client, is what the request waits for. */
	private volatile long sinceNanos;

	/** The event loop of the connection; null before there is one. */
	private volatile @Nullable Executor eventLoop;

	Sending(boolean isCrowded, LongSupplier nanoTime) {
		this.isCrowded = isCrowded;
		this.nanoTime = nanoTime;
		this.sinceNanos = nanoTime.getAsLong();
	}

	/**
	 * A request is about to be sent.
	 * @throws CancellationException if it was said before that it is not
	 * @throws ContextLostException if nothing tells which request it is
	 */
	static void begins(ContextView context, Connection connection) {
		Sending sending = context.getOrDefault(Sending.class, null);
		if (sending == null) {
			throw new ContextLostException();
		}
		sending.eventLoop = connection.channel().eventLoop();
		if (!sending.begin()) {
			throw new CancellationException("the request was given up before it was sent");
		}
	}

	/**
	 * A request has lost the context of Reactor. Nothing of it is sent: a write that was
	 * sent would count as one that was not.
	 */
	static final class ContextLostException extends IllegalStateException {

		private static final long serialVersionUID = 1;

		ContextLostException() {
			super("nothing was sent, as the request has lost the context of Reactor: "
					+ "a filter of its WebClient must return what is made of next.exchange(…) by operators, "
					+ "and neither subscribe to it nor turn it into a future");
		}

	}

	/**
	 * Cancels a request where its answer arrives. Elsewhere reactor-netty 1.3 asks for
	 * the end of the connection, which may belong to another request by then.
	 */
	void cancel(Runnable cancellation) {
		Executor connected = this.eventLoop;
		try {
			((connected != null) ? connected : (Executor) Runnable::run).execute(cancellation);
		}
		catch (RejectedExecutionException ex) {
			// The event loops have ended, and with them all connections.
			cancellation.run();
		}
	}

	/** Whether the request waits for one of this client's connections. */
	boolean isHeldUpHere() {
		return this.isCrowded && this.state.get() != State.BEGUN;
	}

	/** Whether the node has had this time to answer. */
	boolean hasWaited(Duration time) {
		return !isHeldUpHere() && this.nanoTime.getAsLong() - this.sinceNanos >= time.toNanos();
	}

	/** The request is about to be sent; returns whether it may be. */
	boolean begin() {
		if (this.isCrowded) {
			this.sinceNanos = this.nanoTime.getAsLong();
		}
		return this.state.compareAndSet(State.NEW, State.BEGUN) || this.state.get() == State.BEGUN;
	}

	/**
	 * The request is given up.
	 * @return whether nothing of it was sent, nor will be
	 */
	boolean abandon() {
		return this.state.compareAndSet(State.NEW, State.ABANDONED) || this.state.get() == State.ABANDONED;
	}

}
