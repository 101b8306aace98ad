package io.kvorum.api;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.wire.HttpExchange;
import org.jspecify.annotations.Nullable;

/**
 * The observers of one request: its trace, and {@link ServerTiming} if the client asks
 * for it.
 *
 * @param trace the trace; null if the request is not traced
 * @param observer observes the operation
 */
record RequestObservation(@Nullable RequestTrace trace, OperationObserver observer) {

	private static final RequestObservation NONE = new RequestObservation(null, OperationObserver.NONE);

	/**
	 * Begins the observation of a request that was admitted.
	 * @param route the path of the request, one of few
	 */
	static RequestObservation begin(HttpExchange exchange, String route, RequestTraces traces, TimeSource time) {
		RequestTrace trace = traces.begin(exchange, route);
		ServerTiming timing = ServerTiming.isAskedFor(exchange) ? new ServerTiming(time) : null;
		if (timing != null) {
			exchange.beforeCommit(() -> exchange.set(ServerTiming.HEADER, timing.header()));
		}
		return (trace == null && timing == null) ? NONE
				: new RequestObservation(trace, OperationObserver.both(trace, timing));
	}

	/**
	 * Ends the observation.
	 * @param status the HTTP status; 0 if the client went away before the answer
	 */
	void answered(int status) {
		if (this.trace != null) {
			this.trace.answered(status);
		}
	}

}
