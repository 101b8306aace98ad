package io.kvorum.client;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;

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

	/**
	 * A request is about to be sent.
	 * @throws CancellationException if it was said before that it is not
	 */
	static void begins(ContextView context) {
		Sending sending = context.getOrDefault(Sending.class, null);
		if (sending != null && !sending.begin()) {
			throw new CancellationException("the request was given up before it was sent");
		}
	}

	private boolean begin() {
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
