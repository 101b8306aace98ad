package io.kvorum.transport;

import java.util.Map;
import java.util.stream.Stream;

import io.netty.channel.EventLoop;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** All streams to a peer: one for each event loop, and one for large entries. */
final class PeerLink {

	private final PeerState state;

	private final PeerStream large;

	private final Map<EventLoop, PeerStream> ofLoops;

	private Disposable.Composite running = Disposables.composite();

	PeerLink(PeerState state, PeerStream large, Map<EventLoop, PeerStream> ofLoops) {
		this.state = state;
		this.large = large;
		this.ofLoops = Map.copyOf(ofLoops);
	}

	PeerState state() {
		return this.state;
	}

	PeerStream large() {
		return this.large;
	}

	Map<EventLoop, PeerStream> ofLoops() {
		return this.ofLoops;
	}

	Stream<PeerStream> streams() {
		return Stream.concat(Stream.of(this.large), this.ofLoops.values().stream());
	}

	/** Begins to run with streams that the transport has started. */
	synchronized void started(Disposable.Composite streams) {
		this.running = streams;
	}

	synchronized void stop() {
		this.state.stopping(true);
		this.running.dispose();
	}

}
