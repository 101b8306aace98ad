package io.kvorum.api;

import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who wants to know how a request goes: whoever traces requests, its client, or
 * nobody, which is what costs nothing.
 */
final class Followers {

	private final RequestTraces traces;

	private final TimeSource time;

	Followers(RequestTraces traces, TimeSource time) {
		this.traces = traces;
		this.time = time;
	}

	/** The same exchange, where nobody follows it. */
	Exchange follow(Exchange exchange, String route) {
		RequestTrace trace = this.traces.begin(exchange, route);
		ServerTiming timing = ServerTiming.isAskedFor(exchange) ? new ServerTiming(this.time) : null;
		return (trace != null || timing != null) ? new FollowedExchange(exchange, trace, timing) : exchange;
	}

}
